import type { Agent, Reeve } from '@reeve/sdk';
import { connect } from '@reeve/sdk';
import type { Stage } from './demo-agent.ts';
import { pause, perform } from './demo-agent.ts';
import type { Role } from './demo-cast.ts';
import { cast, impostor } from './demo-cast.ts';

/** Lets all agents work until the signal. The agents of each org use the key of that org. */
export async function play(address: string, keyOf: ReadonlyMap<string, string>, signal: AbortSignal): Promise<void> {
  const clients = new Map([...keyOf].map(([org, apiKey]) => [org, connect({ address, apiKey })]));
  const reeveOf = (org: string): Reeve => {
    const reeve = clients.get(org);
    if (reeve === undefined) throw new Error(`no client for ${org}`);
    return reeve;
  };
  const chance = Math.random;
  try {
    // Parents first: a child names its parent when it registers.
    const parts = cast.map((role) => ({ role, stage: { reeve: reeveOf(role.orgId), signal, chance } }));
    const playing: Promise<void>[] = [];
    for (const { role, stage } of parts) {
      const agent = await enter(role, stage);
      for (let worker = 0; worker < role.concurrency; worker++) playing.push(keepWorking(agent, role, stage, worker));
    }
    playing.push(impersonate({ reeve: reeveOf(impostor.itself.orgId), signal, chance }));
    await Promise.all(playing);
  } finally {
    for (const reeve of clients.values()) reeve.close();
  }
}

function enter({ orgId, teamId, agentId, name, framework, parent }: Role, { reeve }: Stage): Promise<Agent> {
  return reeve.register({
    orgId,
    teamId,
    agentId,
    name,
    framework,
    version: '1.0',
    metadata: { demo: 'true' },
    ...(parent === undefined ? {} : { parent }),
    // Only the demo writes to the terminal.
    onConnection: () => undefined,
  });
}

/** Does one task after another, a few per run. */
async function keepWorking(agent: Agent, role: Role, stage: Stage, worker: number): Promise<void> {
  const { signal, chance } = stage;
  for (let done = worker; !signal.aborted; done++) {
    const task = role.tasks[done % role.tasks.length];
    if (task === undefined) return;
    await perform(agent, task, `${role.agentId}-${worker + 1}-${Math.floor(done / 5)}`, signal);
    await pause(role.restSeconds * (0.5 + chance()), signal);
  }
}

/** Every now and then, checks an action under another agent's name with its own token. */
async function impersonate({ reeve, signal }: Stage): Promise<void> {
  const token = `demo-impostor-${crypto.randomUUID()}`;
  const events = { onConnection: () => undefined };
  await reeve.register({ ...impostor.itself, name: 'Impostor', framework: 'unknown', token, ...events });
  const claimed = reeve.attach({ ...impostor.claims, token, shared: true, ...events });
  while (!signal.aborted) {
    await claimed.check({ tool: 'payments.refund', args: { order: 'A-1', amount_usd: 45 } }).catch(() => undefined);
    await pause(20, signal);
  }
}
