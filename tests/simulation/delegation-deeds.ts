import { agentKey } from '@reeve/core';
import { shownOf, tokenOf } from './agent-deeds.ts';
import type { Deed, Stage } from './deed.ts';
import { asCaller } from './deed.ts';
import { agentName } from './judged-entry.ts';
import type { Random } from './random.ts';
import type { VirtualGateway } from './virtual-gateway.ts';
import type { KnownAgent } from './world.ts';
import { keepToken } from './world.ts';

/** An agent lets another one act for it, within limits. It may act for others itself. */
function delegateAny(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  if (gateway.ground.release === 'older') return Promise.resolve();
  const child = random.pick(world.delegates);
  const delegator = world.sibling(random, child);
  return delegator === undefined ? Promise.resolve() : delegate(sim, gateway, delegator, child);
}

/** What a delegation covers, and for how long. */
function drawLimits(random: Random) {
  return {
    ttlSecs: random.pick([2, 8, 60, 60, 600]),
    actions: random.pick([[], [], ['tool_call']]),
    tools: random.pick([[], [], ['search', 'fetch', 'write', 'ask'], ['fetch', 'send', 'pay']]),
    maxCostMicros: random.pick([null, 0, 3e6, 12e6, 25e6]),
    maxChecks: random.pick([null, 2, 5, 20]),
  };
}

/** `said`: limits that are not drawn. */
export function delegate(
  sim: Stage,
  { execute }: VirtualGateway,
  delegator: KnownAgent,
  child: KnownAgent,
  said: Partial<ReturnType<typeof drawLimits>> = {},
): Promise<unknown> {
  const token = tokenOf(delegator);
  const what = `${agentName(delegator.id)} delegates to ${agentName(child.id)}`;
  const heard = sim.judge.tokens.ask(what, shownOf(token));
  const delegating = execute({
    kind: 'delegate_agent',
    agentId: delegator.id,
    token,
    childId: child.id.agentId,
    ...drawLimits(sim.random),
    ...said,
    name: '',
  });
  return delegating.finally(heard).then((granted) => keepToken(child, granted.token));
}

/** Whoever delegated ends it, or a person does. */
function revoke(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  if (gateway.ground.release === 'older') return Promise.resolve();
  const child = random.pick(world.delegates);
  const isByPerson = random.chance(0.3);
  const known = gateway.gov.directory.delegations.find(agentKey(child.id));
  if (isByPerson) {
    return asCaller(sim, gateway, world.key(random), (by) =>
      gateway.execute({ kind: 'end_delegation', by, agent: child.id, reason: '' }),
    );
  }
  const delegator = [...world.agents, ...world.delegates].find(({ id }) => {
    return id.agentId === known?.by && id.orgId === child.id.orgId && id.teamId === child.id.teamId;
  });
  if (delegator === undefined) return Promise.resolve();
  const token = tokenOf(delegator);
  const what = `${agentName(delegator.id)} revokes ${agentName(child.id)}`;
  const heard = sim.judge.tokens.ask(what, shownOf(token));
  const request = { agentId: delegator.id, token, childId: child.id.agentId };
  return gateway.execute({ kind: 'revoke_delegation', ...request }).finally(heard);
}

/** How agents let others act for them, and stop that. */
export const delegationDeeds: readonly Deed[] = [
  { name: 'delegate', weight: 4, act: delegateAny },
  { name: 'revoke a delegation', weight: 0.6, act: revoke },
];
