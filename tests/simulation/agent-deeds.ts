import type { Answer } from '@reeve/core';
import { action, checkAction, heartbeat, parseCheckRequest } from '@reeve/core';
import type { Deed, Stage } from './deed.ts';
import { asCaller } from './deed.ts';
import { Broken } from './broken.ts';
import type { Output } from './history.ts';
import { capsOf, tierOf } from './judged-budgets.ts';
import { agentName, opName } from './judged-entry.ts';
import { argsOf } from './judged-rewrites.ts';
import type { Shown } from './judged-tokens.ts';
import type { SubjectToken } from './people.ts';
import { drawSubject } from './people.ts';
import { tools } from './policies.ts';
import { sha256 } from './random.ts';
import type { VirtualGateway } from './virtual-gateway.ts';
import type { KnownAgent, KnownOp } from './world.ts';
import { keepToken, noteFinished } from './world.ts';

const usualCheck = { traceId: '', caller: null, summary: '', inexact: new Set<string>() } as const;

/** What a call of the model costs at most. */
const modelCallMicros = 1_500_000;
/** For how many steps an agent asks again without an answer. Its operation may be forgotten meanwhile. */
const patience = 3000;

/** The newest token of an agent. One that was never registered has none. */
export function tokenOf({ tokens }: KnownAgent): string {
  return tokens.at(-1) ?? '';
}

/** A token that was replaced or renewed, or is about to be. */
export function earlierToken({ random }: Stage, { tokens }: KnownAgent): string {
  return tokens.at(-2 - random.int(3)) ?? '';
}

/** What the judge learns of somebody who asks. */
export function shownOf(token: string, subject?: SubjectToken): Shown {
  return { hash: sha256(token), ...(subject === undefined ? {} : { user: subject }) };
}

function numberOf(opId: string): number {
  return argsOf(opId).n;
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
function actionOf(opId: string) {
  const nth = numberOf(opId);
  if (nth % 5 === 0) return action('llm_call', { model: 'm', promptTokens: 1e6, maxOutputTokens: 5e5 });
  return action('tool_call', { tool: tools[nth % tools.length] ?? 'search', json: JSON.stringify(argsOf(opId)) });
}

/** The id of a new operation that uses this tool. */
export function nextOpWith(tool: (typeof tools)[number], agent: KnownAgent): string {
  for (agent.ops++; agent.ops % 5 === 0 || tools[agent.ops % tools.length] !== tool; agent.ops++);
  return `t${agent.ops}:s`;
}

/** Who is told that its token is none gets another one, or acts for nobody any more. */
function noteLost({ world }: Stage, agent: KnownAgent, reason: string): void {
  if (!/has expired|mismatch|not registered|missing/.test(reason)) return;
  agent.isLost = true;
  if (world.delegates.includes(agent)) agent.tokens.length = 0;
}

/** What is said in a check, if it is not drawn. */
interface Said {
  readonly opId?: string;
  readonly token?: string;
  readonly runId?: string;
  readonly cost?: number;
}

/** Agents ask again if they got no answer, and sometimes although they did. */
function drawOpId({ random }: Stage, agent: KnownAgent): string {
  const known = [...agent.running, ...agent.asking.keys()];
  return known.length > 0 && random.chance(0.15) ? random.pick(known) : `t${++agent.ops}:s`;
}

export function check(
  sim: Stage,
  { name, gov }: VirtualGateway,
  agent: KnownAgent,
  { token = tokenOf(agent), ...said }: Said = {},
): Promise<unknown> {
  const { random } = sim;
  const opId = said.opId ?? drawOpId(sim, agent);
  const asked = actionOf(opId);
  const cost = said.cost ?? random.pick(sim.bias.costs);
  const subject = drawSubject(random, numberOf(opId), sim.time.now);
  const request = parseCheckRequest(
    {
      ...usualCheck,
      agentId: agent.id,
      token,
      subjectToken: subject?.text ?? '',
      traceId: opId.slice(0, -2),
      spanId: 's',
      action: asked,
      estimatedCostMicros: asked.type === 'llm_call' ? null : cost,
      runId: said.runId ?? (random.chance(0.5) ? `run-${random.int(3)}` : ''),
      via: null,
      canRewrite: !random.chance(0.1),
    },
    1e9,
  );
  for (const [earlier, since] of agent.asking) if (since < sim.step - patience) agent.asking.delete(earlier);
  agent.asking.set(opId, sim.step);
  const who = agentName(agent.id);
  const micros = asked.type === 'llm_call' ? modelCallMicros : cost;
  const op = opName(who, opId);
  // Who acts for others may do so for somebody else until it is decided.
  const charge = {
    model: 'budget',
    do: 'charge',
    tiers: capsOf({ agent: who, delegators: [] }),
    cost: micros,
    op,
  } as const;
  const isDelegate = sim.world.delegates.includes(agent);
  const charged = isDelegate ? () => undefined : sim.history.invoke(name, charge);
  const answered = sim.history.invoke(name, { model: 'op', do: 'answer', op });
  const heard = sim.judge.tokens.ask(op, shownOf(token, subject));
  const checking = checkAction(gov, request).finally(heard);
  checking.catch(() => charged(undefined));
  return checking.then((answer) => {
    agent.asking.delete(opId);
    charged(chargeIn(answer, who, micros));
    if (answer.decision !== 'deny')
      answered({ states: answer.decision === 'allow' ? ['running'] : ['pending', 'paused'] });
    if (answer.decision === 'deny') {
      if (answer.tier === 'identity' && token === tokenOf(agent)) noteLost(sim, agent, answer.reason);
      return;
    }
    if (!sim.judge.has(agent.id, answer.opId, 'running', 'pending', 'paused', 'completing', 'terminated')) {
      throw new Broken(`${answer.opId} was answered, and the log does not have it`);
    }
    sim.judge.rewrites.requireTold(op, answer);
    if (answer.judgeResult !== sim.judge.results.isOwed(op)) {
      throw new Broken(`${op} was told that its result is${answer.judgeResult ? '' : ' not'} to be judged`);
    }
    if (answer.judgeResult) sim.world.owe({ agent, opId });
    agent.running.push(answer.opId);
    if (agent.running.length > 8) agent.running.shift();
    if (answer.approvalId !== '') sim.world.ask(answer.approvalId);
  });
}

function completeAny(sim: Stage, gateway: VirtualGateway): Promise<unknown> {
  const { random, world } = sim;
  const agent = world.workingAgent(random);
  const opId = agent.running.length === 0 ? 't0:s' : random.pick(agent.running);
  return complete(sim, gateway, { agent, opId }, random.pick(sim.bias.actuals));
}

export function complete(
  sim: Stage,
  { name, execute }: VirtualGateway,
  { agent, opId }: KnownOp,
  actual: number | null,
): Promise<unknown> {
  const { random } = sim;
  const token = random.chance(0.05) ? earlierToken(sim, agent) : tokenOf(agent);
  const op = opName(agentName(agent.id), opId);
  const heard = sim.judge.tokens.ask(op, shownOf(token));
  const answered = sim.history.invoke(name, { model: 'op', do: 'answer', op });
  const completing = execute({
    kind: 'complete_action',
    agentId: agent.id,
    token,
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
    noteFinished(agent, opId);
  });
}

export function register(
  sim: Stage,
  gateway: VirtualGateway,
  agent = sim.world.agentToRegister(sim.random),
  key = sim.world.key(sim.random),
): Promise<unknown> {
  const nth = ++agent.registrations;
  const token = `credential token ${nth} of ${agentName(agent.id)}`;
  const ttlSecs = sim.random.pick([null, 60, 180]) ?? undefined;
  return asCaller(sim, gateway, key, (by) => {
    keepToken(agent, token);
    return gateway.execute({
      kind: 'register_agent',
      by,
      agentId: agent.id,
      token,
      ttlSecs,
      name: agent.id.agentId,
      framework: '',
      // The judge reads from it how long the token works.
      version: ttlSecs === undefined ? String(nth) : `${nth}/${ttlSecs}`,
      parent: undefined,
      metadata: {},
      toolNames: [],
    });
  }).catch((error: unknown) => {
    if (agent.tokens.includes(token)) agent.tokens.splice(agent.tokens.indexOf(token), 1);
    throw error;
  });
}

/** Gets a new token before the old one ends. An answer that is lost does no harm: the old token works on. */
function renew(sim: Stage, { execute }: VirtualGateway): Promise<unknown> {
  const agent = sim.world.agent(sim.random);
  const token = sim.random.chance(0.2) ? earlierToken(sim, agent) : tokenOf(agent);
  const heard = sim.judge.tokens.ask(`${agentName(agent.id)} renews`, shownOf(token));
  const renewing = execute({ kind: 'renew_token', agentId: agent.id, token });
  return renewing.finally(heard).then((renewed) => keepToken(agent, renewed.token));
}

export function leave(sim: Stage, { execute }: VirtualGateway, agent = sim.world.agent(sim.random)): Promise<unknown> {
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
    processes: null,
  });
}

/** What agents do. */
export const agentDeeds: readonly Deed[] = [
  { name: 'check', weight: 30, act: (sim, gateway) => check(sim, gateway, sim.world.agent(sim.random)) },
  {
    name: 'check by an earlier token',
    weight: 1,
    act: (sim, gateway) => {
      const agent = sim.world.agent(sim.random);
      return check(sim, gateway, agent, { token: earlierToken(sim, agent) });
    },
  },
  { name: 'complete', weight: 18, act: completeAny },
  { name: 'register', weight: 5, act: (sim, gateway) => register(sim, gateway) },
  { name: 'renew', weight: 1.5, act: renew },
  { name: 'leave', weight: 0.4, act: (sim, gateway) => leave(sim, gateway) },
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
