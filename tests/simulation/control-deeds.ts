import type { Principal } from '@reeve/core';
import type { Deed, Stage } from './deed.ts';
import { asCaller, loggedIn } from './deed.ts';
import { labelling, resultRules } from './flow-rules.ts';
import { people } from './people.ts';
import type { VirtualGateway } from './virtual-gateway.ts';
import type { ClearedRun, KnownOp } from './world.ts';

function suspend(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const agent = world.agent(random);
  return asCaller(sim, gateway, world.key(random), (by) =>
    gateway.execute({ kind: 'suspend_agent', by, agent: agent.id, reason: 'an incident' }),
  );
}

function resume(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const agent = world.agent(random);
  return asCaller(sim, gateway, world.key(random), (by) =>
    gateway.execute({ kind: 'resume_agent', by, agent: agent.id, reason: '' }),
  );
}

function controlOne(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const agent = world.workingAgent(random);
  const opId = agent.running.length === 0 ? 't0:s' : random.pick(agent.running);
  const chosen = random.pick(['pause', 'resume', 'resume', 'terminate'] as const);
  return asCaller(sim, gateway, world.key(random), (by) => control(gateway, by, { agent, opId }, chosen));
}

export function control(
  { execute }: VirtualGateway,
  by: Principal,
  { agent: { id }, opId }: KnownOp,
  chosen: 'pause' | 'resume' | 'terminate',
): Promise<unknown> {
  const name = `${id.orgId}/${id.teamId}/${id.agentId}/${opId}`;
  return execute({ kind: 'control_op', by, opId: name, action: chosen, reason: '' });
}

function controlMany(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const { orgId, teamId } = world.agent(random).id;
  const isRun = random.chance(0.6);
  const chosen = random.pick(['pause', 'resume', 'resume', 'resume', 'terminate'] as const);
  const scope = isRun ? { orgId, runId: `run-${random.int(3)}` } : { orgId, teamId };
  return asCaller(sim, gateway, world.key(random), (by) =>
    gateway.execute({
      kind: 'control_scope',
      by,
      action: isRun && chosen === 'terminate' ? 'pause' : chosen,
      scope,
      reason: '',
      dryRun: false,
      idempotencyKey: null,
    }),
  );
}

function suspendScope(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const { orgId, teamId } = world.agent(random).id;
  const isOrg = random.chance(0.3);
  return asCaller(sim, gateway, world.key(random), (by) =>
    gateway.execute({
      kind: 'suspend_scope',
      by,
      orgId,
      teamId: isOrg ? undefined : teamId,
      action: random.chance(0.7) ? 'pause' : 'terminate',
      reason: 'an incident',
    }),
  );
}

function liftScope(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const [held] = gateway.gov.directory.suspensions.inForce();
  if (held === undefined) return Promise.resolve();
  const key = random.chance(0.7) ? world.root : world.key(random);
  return asCaller(sim, gateway, key, (by) => gateway.execute({ kind: 'lift_suspension', by, id: held.id, reason: '' }));
}

function decideApproval(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  if (world.approvals.length === 0) return Promise.resolve();
  const approvalId = random.pick(world.approvals);
  const approves = random.chance(0.7);
  const wants = random.chance(0.3);
  const until = gateway.clock.now() + 20_000;
  const decide = (by: Principal) =>
    approves
      ? gateway.execute({
          kind: 'approve',
          by,
          approvalId,
          reason: '',
          grant: wants ? { reach: 'until', until } : null,
        })
      : gateway.execute({ kind: 'reject', by, approvalId, reason: '' });
  if (random.chance(0.4)) return asCaller(sim, gateway, world.key(random), decide);
  const person = random.pick(people);
  return loggedIn(gateway, person).then(decide);
}

const everyLabel = [...labelling, ...resultRules.flatMap(({ gives = [] }) => gives)].map(({ label }) => label);

/** Mostly one that bears labels here: that is what people see. */
function drawnRun({ random, world }: Stage, { gov }: VirtualGateway): ClearedRun {
  const runs = [...gov.runs.all()].filter(({ place }) => gov.runs.labels.of({ of: 'run', place }).length > 0);
  const { orgId, teamId, agentId } = world.agent(random).id;
  const isSeen = runs.length > 0 && random.chance(0.8);
  const place = isSeen ? random.pick(runs).place : { orgId, teamId, agentId, runId: `run-${random.int(3)}` };
  const isNamed = isSeen ? place.runId !== '' : random.chance(0.5);
  const named = isNamed ? { runId: place.runId } : { agentId: place.agentId };
  return { orgId: place.orgId, teamId: place.teamId, ...named };
}

function clearLabels(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const whose = random.chance(0.4) ? (world.cleared ?? drawnRun(sim, gateway)) : drawnRun(sim, gateway);
  // Some do again what somebody else has done at another gateway.
  world.cleared = whose;
  const labels = random.chance(0.5) ? [random.pick(everyLabel)] : undefined;
  const clear = (by: Principal) => gateway.execute({ kind: 'clear_labels', by, ...whose, labels, reason: '' });
  if (random.chance(0.4)) return asCaller(sim, gateway, world.key(random), clear);
  return loggedIn(gateway, random.pick(people)).then(clear);
}

/** How people stop agents, let them go on, and decide for them. */
export const controlDeeds: readonly Deed[] = [
  { name: 'suspend', weight: 0.5, act: suspend },
  { name: 'resume', weight: 3, act: resume },
  { name: 'control an operation', weight: 3, act: controlOne },
  { name: 'control a scope', weight: 1, act: controlMany },
  { name: 'suspend a scope', weight: 0.1, act: suspendScope },
  { name: 'lift a suspension', weight: 1.5, act: liftScope },
  { name: 'decide an approval', weight: 3, act: decideApproval },
  { name: 'clear labels', weight: 1.5, act: clearLabels },
];
