import type { Principal } from '@reeve/core';
import {
  action,
  checkAction,
  createKey,
  deletePolicy,
  expireApprovals,
  expireUnchecked,
  followClock,
  heartbeat,
  ownWork,
  parseCheckRequest,
  putPolicy,
  ReeveError,
  revokeKey,
  rotateKey,
  saveUses,
  settleSuspensions,
  sweepOps,
  timeOutControls,
} from '@reeve/core';
import type { Judge } from './judge.ts';
import { Broken } from './judge.ts';
import { storedPolicy, tools } from './policies.ts';
import type { Random } from './random.ts';
import type { VirtualGateway } from './virtual-gateway.ts';
import { settings } from './virtual-gateway.ts';
import type { KnownAgent, KnownKey, World } from './world.ts';

/** What deeds draw from, act on and are judged by. */
export interface Stage {
  readonly random: Random;
  readonly world: World;
  readonly judge: Judge;
  readonly step: number;
}

/** Something that somebody does at a gateway. It draws its choices at once, and may end many steps later. */
export interface Deed {
  readonly name: string;
  readonly weight: number;
  readonly act: (sim: Stage, gateway: VirtualGateway) => Promise<unknown>;
}

/** What a caller may be told instead of an answer. Anything else is a fault. */
export function isRefusal(error: unknown): boolean {
  return error instanceof AggregateError ? error.errors.every(isRefusal) : error instanceof ReeveError;
}

/** Calls as HTTP does: nothing is answered by old knowledge. */
async function asCaller<Result>(
  sim: Stage,
  { gov, authenticator }: VirtualGateway,
  key: KnownKey,
  call: (by: Principal) => Promise<Result>,
): Promise<Result> {
  const { step } = sim;
  if (!(await gov.journal.catchUp())) throw new ReeveError('store_unavailable', 'the log cannot be read');
  const by = await authenticator.authenticate(`Bearer ${key.secret}`);
  const result = await call(by);
  if (key.revokedSince !== undefined && key.revokedSince < step) {
    throw new Broken(`the key ${key.id} was served, after its revocation was acknowledged at step ${key.revokedSince}`);
  }
  return result;
}

const usualCheck = { traceId: '', caller: null, summary: '', inexact: new Set<string>() } as const;

function check(sim: Stage, { gov }: VirtualGateway, agent: KnownAgent, token = agent.token): Promise<unknown> {
  const { random } = sim;
  const isAgain = agent.running.length > 0 && random.chance(0.1);
  const opId = isAgain ? random.pick(agent.running) : `t${++agent.ops}:s`;
  const isModel = random.chance(0.2);
  const tool = isAgain ? 'search' : random.pick(tools);
  const cost = random.pick([0, 0.1, 0.2, 1, 2, 12]) * 1e6;
  const request = parseCheckRequest(
    {
      ...usualCheck,
      agentId: agent.id,
      token,
      traceId: opId.slice(0, -2),
      spanId: 's',
      action: isModel
        ? action('llm_call', { model: 'm', promptTokens: 1e6, maxOutputTokens: 5e5 })
        : action('tool_call', { tool, json: '' }),
      estimatedCostMicros: isModel ? null : cost,
      runId: random.chance(0.5) ? `run-${random.int(3)}` : '',
      via: null,
    },
    1e9,
  );
  return checkAction(gov, request).then((answer) => {
    if (answer.decision === 'deny') return;
    if (agent.replaced.includes(token)) throw new Broken(`a replaced token of ${agent.id.agentId} was served`);
    if (!sim.judge.has(agent.id, answer.opId, 'running', 'pending', 'paused', 'completing', 'terminated')) {
      throw new Broken(`${answer.opId} was answered, and the log does not have it`);
    }
    agent.running.push(answer.opId);
    if (agent.running.length > 8) agent.running.shift();
    if (answer.approvalId === '') return;
    agent.asked.push(answer.approvalId);
    if (agent.asked.length > 8) agent.asked.shift();
  });
}

function complete(sim: Stage, { execute }: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const agent = world.workingAgent(random);
  const opId = agent.running.length === 0 ? 't0:s' : random.pick(agent.running);
  const actual = random.pick([null, null, 0, 1e6]);
  return execute({
    kind: 'complete_action',
    agentId: agent.id,
    token: agent.token,
    opId,
    actualCostMicros: actual,
    outcome: random.pick(['succeeded', 'failed', 'cancelled']),
    detail: '',
  }).then((op) => {
    if (!sim.judge.has(agent.id, op.opId, 'completing', 'terminated', 'running', 'pending')) {
      throw new Broken(`${op.opId} was completed, and the log does not have it`);
    }
    const at = agent.running.indexOf(opId);
    if (at >= 0) agent.running.splice(at, 1);
  });
}

export function register(
  sim: Stage,
  gateway: VirtualGateway,
  agent = sim.world.agent(sim.random),
  key = sim.world.key(sim.random),
): Promise<unknown> {
  const { step } = sim;
  const before = agent.token;
  const token = `token ${++agent.registrations} of ${agent.id.orgId}/${agent.id.teamId}/${agent.id.agentId}, registered at step ${step}`;
  // Of two at the same time, nobody outside knows which was the last.
  const isAlone = agent.registering.size === 0;
  const { registrations } = agent;
  agent.registering.set(token, gateway.name);
  return asCaller(sim, gateway, key, (by) => {
    agent.token = token;
    return gateway.execute({
      kind: 'register_agent',
      by,
      agentId: agent.id,
      token,
      name: agent.id.agentId,
      framework: '',
      version: '',
      parent: undefined,
      metadata: {},
      toolNames: [],
    });
  }).then(
    () => {
      agent.registering.delete(token);
      if (before !== '' && isAlone && agent.registrations === registrations) agent.replaced.push(before);
      if (agent.replaced.length > 4) agent.replaced.shift();
    },
    (error: unknown) => {
      agent.registering.delete(token);
      if (agent.token === token) agent.token = before;
      throw error;
    },
  );
}

function leave(sim: Stage, { execute }: VirtualGateway): Promise<unknown> {
  const agent = sim.world.agent(sim.random);
  return execute({ kind: 'deregister_agent', agentId: agent.id, token: agent.token, reason: '' });
}

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
  const { id, running } = world.workingAgent(random);
  const opId = running.length === 0 ? 't0:s' : random.pick(running);
  const chosen = random.pick(['pause', 'resume', 'resume', 'terminate'] as const);
  return asCaller(sim, gateway, world.key(random), (by) =>
    gateway.execute({
      kind: 'control_op',
      by,
      opId: `${id.orgId}/${id.teamId}/${id.agentId}/${opId}`,
      action: chosen,
      reason: '',
    }),
  );
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
  const key = world.key(random);
  const isOrg = random.chance(0.3);
  return asCaller(sim, gateway, key, (by) =>
    gateway.execute({
      kind: 'suspend_scope',
      by,
      orgId,
      teamId: isOrg ? undefined : teamId,
      action: random.chance(0.7) ? 'pause' : 'terminate',
      reason: 'an incident',
    }),
  ).then(({ id }) => {
    world.suspensions.push({ id, by: key });
  });
}

function liftScope(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const [held] = world.suspensions;
  if (held === undefined) return Promise.resolve();
  const key = random.chance(0.7) ? world.root : held.by;
  return asCaller(sim, gateway, key, (by) =>
    gateway.execute({ kind: 'lift_suspension', by, id: held.id, reason: '' }),
  ).then(() => {
    const at = world.suspensions.indexOf(held);
    if (at >= 0) world.suspensions.splice(at, 1);
  });
}

function decideApproval(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const { asked } = world.agent(random);
  if (asked.length === 0) return Promise.resolve();
  const approvalId = random.pick(asked);
  const approves = random.chance(0.7);
  const wants = random.chance(0.3);
  return asCaller(sim, gateway, world.key(random), (by) =>
    approves
      ? gateway.execute({
          kind: 'approve',
          by,
          approvalId,
          reason: '',
          grant: wants ? { reach: 'until', until: gateway.clock.now() + 20_000 } : null,
        })
      : gateway.execute({ kind: 'reject', by, approvalId, reason: '' }),
  );
}

function makeKey(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const { orgId, teamId } = world.agent(random).id;
  const isAdmin = random.chance(0.4);
  const width = random.int(3);
  const bound = { orgId: width > 0 ? orgId : null, teamId: width > 1 ? teamId : null };
  return asCaller(sim, gateway, world.root, (by) =>
    createKey(gateway.access, by, {
      label: 'a key',
      scopes: isAdmin ? ['admin'] : ['read', 'write'],
      ...bound,
      ttlMs: null,
    }),
  ).then(({ key, record }) => {
    world.keys.push({ secret: key, id: record.id, revokedSince: undefined });
    if (world.keys.length > 40) world.keys.splice(1, 1);
  });
}

function endKey(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const key = random.pick(world.keys);
  if (key === world.root) return Promise.resolve();
  const rotates = random.chance(0.3);
  return asCaller<unknown>(sim, gateway, world.key(random), (by) =>
    rotates ? rotateKey(gateway.access, by, key.id) : revokeKey(gateway.access, by, key.id),
  ).then(() => {
    key.revokedSince ??= sim.step;
  });
}

function changePolicy(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const { orgId } = world.agent(random).id;
  const name = random.chance(0.7) ? `${orgId}/rules` : 'rules';
  const denied = tools.filter(() => random.chance(0.2));
  const isDeleted = denied.length === 0;
  return asCaller(sim, gateway, world.key(random), async (by) => {
    if (isDeleted) await deletePolicy(gateway.gov, by, name);
    else await putPolicy(gateway.gov, by, { name, source: storedPolicy(name, denied), note: '' });
  });
}

function acknowledge(sim: Stage, { gov, execute }: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const agent = world.agent(random);
  const { lastSequence } = gov.control.outbox(agent.id);
  if (lastSequence === 0) return Promise.resolve();
  return execute({
    kind: 'acknowledge_control',
    agentId: agent.id,
    token: agent.token,
    sequence: Math.max(1, lastSequence - random.int(3)),
    outcome: random.pick(['received', 'effective', 'effective', 'failed']),
    detail: '',
  });
}

function inTurn(act: (gateway: VirtualGateway) => unknown): Deed['act'] {
  return (_, gateway) => gateway.gov.journal.turn(ownWork, () => act(gateway));
}

/** What agents and people do. */
export const deeds: readonly Deed[] = [
  { name: 'check', weight: 30, act: (sim, gateway) => check(sim, gateway, sim.world.agent(sim.random)) },
  {
    name: 'check by a replaced token',
    weight: 1,
    act: (sim, gateway) => {
      const agent = sim.world.agent(sim.random);
      return check(sim, gateway, agent, agent.replaced.at(-1));
    },
  },
  { name: 'complete', weight: 18, act: complete },
  { name: 'register', weight: 3, act: (sim, gateway) => register(sim, gateway) },
  { name: 'leave', weight: 0.4, act: leave },
  { name: 'suspend', weight: 0.5, act: suspend },
  { name: 'resume', weight: 1.5, act: resume },
  { name: 'control an operation', weight: 3, act: controlOne },
  { name: 'control a scope', weight: 0.6, act: controlMany },
  { name: 'suspend a scope', weight: 0.1, act: suspendScope },
  { name: 'lift a suspension', weight: 1.5, act: liftScope },
  { name: 'decide an approval', weight: 3, act: decideApproval },
  { name: 'make a key', weight: 0.4, act: makeKey },
  { name: 'end a key', weight: 0.3, act: endKey },
  { name: 'change a policy', weight: 0.3, act: changePolicy },
  { name: 'acknowledge', weight: 2, act: acknowledge },
  {
    name: 'heartbeat',
    weight: 2,
    act: (sim, { gov }) => {
      const { id, token } = sim.world.agent(sim.random);
      heartbeat(gov, id, token);
      return Promise.resolve();
    },
  },
  // What gateways do by themselves.
  { name: 'sweep', weight: 0.5, act: inTurn(({ gov }) => sweepOps(gov, 50)) },
  { name: 'save operations', weight: 0.5, act: inTurn(({ checkpoint }) => checkpoint.step(20)) },
  { name: 'save balances', weight: 0.5, act: inTurn(({ gov }) => gov.balances.save(20)) },
  { name: 'save uses', weight: 0.3, act: inTurn(({ gov }) => saveUses(gov, 50)) },
  { name: 'look for silent agents', weight: 0.3, act: inTurn(({ stale }) => stale.step(50)) },
  { name: 'release reservations', weight: 0.3, act: inTurn(({ reaper }) => reaper.step(50)) },
  {
    name: 'time out controls',
    weight: 0.5,
    act: inTurn(({ gov, listening }) => timeOutControls(gov, 50, listening)),
  },
  {
    name: 'expire operations',
    weight: 0.3,
    act: inTurn(({ gov, listening }) => expireUnchecked(gov, settings.pendingTtlMs, 50, listening)),
  },
  { name: 'expire approvals', weight: 0.5, act: (_, { gov }) => expireApprovals(gov, 50) },
  { name: 'settle suspensions', weight: 0.3, act: (_, { gov }) => settleSuspensions(gov) },
  { name: 'follow the clock', weight: 0.2, act: inTurn(({ gov }) => followClock(gov)) },
];
