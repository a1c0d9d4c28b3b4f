import type { Agent } from '@reeve/sdk';
import { connect } from '@reeve/sdk';
import type { Task } from '../demo-agent.ts';
import { pause, perform } from '../demo-agent.ts';
import type { DemoIssuer } from './demo-issuer.ts';
import { assistant, job, jobTasks, people, scheduler, schedulerTasks } from './identity-cast.ts';

export interface IdentityStage {
  readonly grpc: string;
  /** One key for the agents of each org. */
  readonly keyOf: ReadonlyMap<string, string>;
  readonly issuer: DemoIssuer;
  readonly signal: AbortSignal;
  readonly tell: (line: string) => void;
}

/** How long a token or a delegation lasts. Each round has new ones. */
const lifeSecs = 900;
const roundMs = 600_000;
const restSeconds = 4;
const events = { onConnection: () => undefined };

/**
 * Lets agents work until the signal that act for somebody: an assistant for two people, a delegate for the assistant,
 * and a job of a CI system that has no secret.
 */
export async function playIdentities(stage: IdentityStage): Promise<void> {
  await Promise.all([keepUp(stage, 'assistant', actForPeople), keepUp(stage, 'nightly', workAsJob)]);
}

/** What fails begins anew after a while. */
async function keepUp(stage: IdentityStage, who: string, act: (stage: IdentityStage) => Promise<void>): Promise<void> {
  while (!stage.signal.aborted) {
    try {
      await act(stage);
    } catch (error) {
      if (stage.signal.aborted) return;
      stage.tell(`${who} begins anew: ${error instanceof Error ? error.message : String(error)}`);
      await pause(restSeconds, stage.signal);
    }
  }
}

/** The assistant works for each of its people, and its delegate does for the first of them what it was allowed to. */
async function actForPeople({ grpc, keyOf, issuer, signal }: IdentityStage): Promise<void> {
  using reeve = connect({ address: grpc, apiKey: keyOf.get(assistant.orgId) ?? '' });
  const agent = await reeve.register({ ...assistant, version: '1.0', metadata: { demo: 'true' }, ...events });
  while (!signal.aborted) {
    const until = performance.now() + roundMs;
    const child = await agent.delegate({ ...scheduler, ttl: lifeSecs, ...events });
    const working = people.map(({ claims, tasks }) =>
      work(agent.onBehalfOf(issuer.token(claims, lifeSecs)), tasks, claims.sub, until, signal),
    );
    const [first] = people;
    const token = issuer.token(first.claims, lifeSecs);
    working.push(work(child.onBehalfOf(token), schedulerTasks, first.claims.sub, until, signal));
    await Promise.all(working);
  }
}

/** The gateway registers the job at its first check, by what its token says. */
async function workAsJob({ grpc, issuer, signal }: IdentityStage): Promise<void> {
  using reeve = connect({ address: grpc });
  while (!signal.aborted) {
    const token = issuer.token({ sub: `ci:${job.teamId}:${job.agentId}` }, lifeSecs);
    const agent = reeve.attach({ ...job, token, ...events });
    await work(agent, jobTasks, 'nightly', performance.now() + roundMs, signal);
  }
}

/** One task after another, until the tokens are due to be replaced. */
async function work(agent: Agent, tasks: readonly Task[], run: string, until: number, signal: AbortSignal) {
  for (let done = 0; !signal.aborted && performance.now() < until; done++) {
    const task = tasks[done % tasks.length];
    if (task === undefined) return;
    await perform(agent, task, `${run}-${Math.floor(done / tasks.length)}`, signal);
    await pause(restSeconds, signal);
  }
}
