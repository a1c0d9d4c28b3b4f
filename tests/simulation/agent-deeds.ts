import type { Answer } from '@reeve/core';
import { action, checkAction, heartbeat, parseCheckRequest } from '@reeve/core';
import type { Deed, Stage } from './deed.ts';
import { asCaller } from './deed.ts';
import { Broken } from './broken.ts';
import type { Output } from './history.ts';
import { agentName, opName } from './judge.ts';
import { capsOf, tierOf } from './judged-budgets.ts';
import { tools } from './policies.ts';
import type { VirtualGateway } from './virtual-gateway.ts';
import type { KnownAgent } from './world.ts';

const usualCheck = { traceId: '', caller: null, summary: '', inexact: new Set<string>() } as const;

/** What a call of the model costs at most. */
const modelCallMicros = 1_500_000;
/** For how many steps an agent asks again without an answer. Its operation may be forgotten meanwhile. */
const patience = 3000;

/** An agent that was never registered has none. */
function tokenOf({ id, token }: KnownAgent, nth = token): string {
  return nth === 0 ? '' : `credential token ${nth} of ${agentName(id)}`;
}

/** A token that was replaced, or is about to be. */
function earlierToken({ random }: Stage, { token }: KnownAgent): number {
  return Math.max(0, token - 1 - random.int(2));
}

function numberOf(opId: string): number {
  return Number(opId.slice(1, -2));
}

/** What an answer says of budgets. Nothing, if the action costs nothing, was known before, or was refused otherwise. */
function chargeIn({ tier, limit, decision, reason }: Answer, who: string, cost: number): Output | undefined {
  if (tier === 'replay' || cost === 0) return undefined;
  if (limit !== undefined) return { ok: false, refusedBy: tierOf(who, limit.tier) };
  // It was allowed, and has ended before the answer left.
  const isOvertaken = decision === 'deny' && reason === 'operation is terminated';
  return decision === 'deny' && !isOvertaken ? undefined : { ok: true };
}

/** An operation is about the same thing whenever it is asked about. */
function actionOf(nth: number) {
  if (nth % 5 === 0) return action('llm_call', { model: 'm', promptTokens: 1e6, maxOutputTokens: 5e5 });
  return action('tool_call', { tool: tools[nth % tools.length] ?? 'search', json: '' });
}

function check(sim: Stage, { name, gov }: VirtualGateway, agent: KnownAgent, nth = agent.token): Promise<unknown> {
  const { random } = sim;
  // Agents ask again if they got no answer, and sometimes although they did.
  const known = [...agent.running, ...agent.asking.keys()];
  const opId = known.length > 0 && random.chance(0.15) ? random.pick(known) : `t${++agent.ops}:s`;
  const asked = actionOf(numberOf(opId));
  const cost = random.pick(sim.bias.costs);
  const request = parseCheckRequest(
    {
      ...usualCheck,
      agentId: agent.id,
      token: tokenOf(agent, nth),
      traceId: opId.slice(0, -2),
      spanId: 's',
      action: asked,
      estimatedCostMicros: asked.type === 'llm_call' ? null : cost,
      runId: random.chance(0.5) ? `run-${random.int(3)}` : '',
      via: null,
    },
    1e9,
  );
  for (const [earlier, since] of agent.asking) if (since < sim.step - patience) agent.asking.delete(earlier);
  agent.asking.set(opId, sim.step);
  const who = agentName(agent.id);
  const micros = asked.type === 'llm_call' ? modelCallMicros : cost;
  const op = opName(who, opId);
  const charged = sim.history.invoke(name, { model: 'budget', do: 'charge', tiers: capsOf(who), cost: micros, op });
  const answered = sim.history.invoke(name, { model: 'op', do: 'answer', op });
  const heard = sim.judge.tokens.ask(op, nth);
  const checking = checkAction(gov, request).finally(heard);
  checking.catch(() => charged(undefined));
  return checking.then((answer) => {
    agent.asking.delete(opId);
    charged(chargeIn(answer, who, micros));
    if (answer.decision !== 'deny')
      answered({ states: answer.decision === 'allow' ? ['running'] : ['pending', 'paused'] });
    if (answer.decision === 'deny') return;
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

function complete(sim: Stage, { name, execute }: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const agent = world.workingAgent(random);
  const opId = agent.running.length === 0 ? 't0:s' : random.pick(agent.running);
  const actual = random.pick(sim.bias.actuals);
  const nth = random.chance(0.05) ? earlierToken(sim, agent) : agent.token;
  const op = opName(agentName(agent.id), opId);
  const heard = sim.judge.tokens.ask(op, nth);
  const answered = sim.history.invoke(name, { model: 'op', do: 'answer', op });
  const completing = execute({
    kind: 'complete_action',
    agentId: agent.id,
    token: tokenOf(agent, nth),
    opId,
    actualCostMicros: actual,
    outcome: random.pick(['succeeded', 'failed', 'cancelled']),
    detail: '',
  });
  return completing.finally(heard).then(({ state }) => {
    answered({ states: [state] });
    if (!sim.judge.has(agent.id, opId, 'completing', 'terminated', 'running', 'pending')) {
      throw new Broken(`${opId} was completed, and the log does not have it`);
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
  const before = agent.token;
  const nth = ++agent.registrations;
  return asCaller(sim, gateway, key, (by) => {
    agent.token = nth;
    return gateway.execute({
      kind: 'register_agent',
      by,
      agentId: agent.id,
      token: tokenOf(agent, nth),
      name: agent.id.agentId,
      framework: '',
      version: String(nth),
      parent: undefined,
      metadata: {},
      toolNames: [],
    });
  }).catch((error: unknown) => {
    if (agent.token === nth) agent.token = before;
    throw error;
  });
}

function leave(sim: Stage, { execute }: VirtualGateway): Promise<unknown> {
  const agent = sim.world.agent(sim.random);
  return execute({ kind: 'deregister_agent', agentId: agent.id, token: tokenOf(agent), reason: '' });
}

function acknowledge(sim: Stage, { gov, execute }: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const agent = world.agent(random);
  const { lastSequence } = gov.control.outbox(agent.id);
  if (lastSequence === 0) return Promise.resolve();
  return execute({
    kind: 'acknowledge_control',
    agentId: agent.id,
    token: tokenOf(agent),
    sequence: Math.max(1, lastSequence - random.int(3)),
    outcome: random.pick(['received', 'effective', 'effective', 'failed']),
    detail: '',
  });
}

/** What agents do. */
export const agentDeeds: readonly Deed[] = [
  { name: 'check', weight: 30, act: (sim, gateway) => check(sim, gateway, sim.world.agent(sim.random)) },
  {
    name: 'check by a replaced token',
    weight: 1,
    act: (sim, gateway) => {
      const agent = sim.world.agent(sim.random);
      return check(sim, gateway, agent, earlierToken(sim, agent));
    },
  },
  { name: 'complete', weight: 18, act: complete },
  { name: 'register', weight: 5, act: (sim, gateway) => register(sim, gateway) },
  { name: 'leave', weight: 0.4, act: leave },
  { name: 'acknowledge', weight: 2, act: acknowledge },
  {
    name: 'heartbeat',
    weight: 2,
    act: (sim, { gov }) => {
      const agent = sim.world.agent(sim.random);
      heartbeat(gov, agent.id, tokenOf(agent));
      return Promise.resolve();
    },
  },
];
