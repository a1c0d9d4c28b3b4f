import type { AuditReader, EntryDraft } from '../audit/index.ts';
import { canonicalJson } from '../audit/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { ReeveError, traceIdsIn } from '../kernel/index.ts';
import type { Op } from '../ops/index.ts';
import { inRun } from '../ops/index.ts';
import { giveLabels, refuseLabels } from '../runs/index.ts';
import type { RunFacts, SpendFacts } from '../policy/index.ts';
import { decisionCost } from '../policy/index.ts';
import type { Agent } from '../tenancy/index.ts';
import { actorOf, agentWarrant, authenticateAgent, linksOf, requireReadInFull } from '../tenancy/index.ts';
import { runAsked, runFacts, spendFacts } from './check-facts.ts';
import { runAtOnce } from './facts-in-parts.ts';
import type { Decisions } from './decisions.ts';
import { findCall } from './find-call.ts';
import { agentAndAbove } from './judge-delegation.ts';
import type { JudgedPart, JudgedResult, ResultJudge, ResultToJudge } from './judge-result.ts';
import { denied, judgeResult, longestResult } from './judge-result.ts';
import type { Party, ResultMoment } from './result-facts.ts';
import { labelsRule } from './weigh-labels.ts';

export interface ResultRequest {
  readonly agentId: AgentId | undefined;
  readonly token: string;
  readonly opId: string;
  /** What the call brought back, as it was sent. */
  readonly result: Uint8Array;
  readonly isError: boolean;
  readonly part: JudgedPart;
}

/** What an agent is told about a result, or about a prompt. */
export interface ResultAnswer {
  readonly decision: 'allow' | 'deny';
  readonly reason: string;
  readonly policyRule: string;
  /** What is to be passed on in place of the result; absent if it is passed on as it is, or not at all. */
  readonly result?: Uint8Array;
  /** The labels that the rules on this result gave. */
  readonly labels: readonly string[];
}

/** What is known at the moment at which a result is judged aside. Plain data. */
export interface BroughtMoment {
  readonly now: number;
  readonly run: RunFacts;
  /** Of each party. */
  readonly spends: readonly SpendFacts[];
}

export interface ResultPorts {
  readonly log: AuditReader;
  readonly utf8: Pick<ResultJudge, 'decode' | 'encode'>;
  /** Judges a large result apart from decisions. Rejects if that takes too long, or there is no room for it. */
  readonly judgeAside: (result: ResultToJudge, moment: BroughtMoment) => Promise<JudgedResult>;
}

/** A longer result is judged aside. */
const longestInline = 64 * 1024;
/** What the rules on a result that is judged between decisions may cost. What costs more is judged aside. */
const costOf = (length: number) => decisionCost + 8 * length;

/** Judges what a call brought back, or what it is to ask a model, and answers once that is durable. */
export async function checkResult(gov: Decisions, ports: ResultPorts, request: ResultRequest): Promise<ResultAnswer> {
  const found = await gov.journal.fresh(() => read(gov, ports, request));
  const inOneTurn = <Answer>(act: (agent: Agent, op: Op) => Answer): Promise<Answer> =>
    gov.journal.turn(agentWarrant(gov, request.agentId, request.token), () => {
      const { agent, op } = runningOp(gov, request);
      return act(agent, op);
    });
  if (found.bytes.length <= longestInline) {
    const answer = await inOneTurn((agent, op) => {
      const judged = inline(gov, ports, op, { ...found, parties: partiesOf(gov, agent) });
      return judged.isSpent === true ? undefined : conclude(gov, agent, op, request, judged);
    });
    if (answer !== undefined) return answer;
  }
  for (let round = 0; round < mostRounds; round++) {
    const { judged, labels } = await aside(gov, ports, request, found);
    const answer = await inOneTurn((agent, op) =>
      labels === undefined || isStill(gov, op, labels) ? conclude(gov, agent, op, request, judged) : undefined,
    );
    if (answer !== undefined) return answer;
  }
  const judged = unjudged(gov, request.part, 'the labels of its run change too fast');
  return await inOneTurn((agent, op) => conclude(gov, agent, op, request, judged));
}

/** How often a result is judged aside if what its rules look at changes meanwhile. */
const mostRounds = 5;

/**
 * Whether a judgement holds that was made before the turn: its rules would look at the same labels now. Policies may have
 * changed: then the result was judged before that.
 */
function isStill(gov: Decisions, op: Op, labels: readonly string[]): boolean {
  return momentOf(gov, op).run().labels.join(' ') === labels.join(' ');
}

/**
 * What is judged. The log is read before the turn, which waits for nothing. It has the call once the operation is durable:
 * before that, it may have another one with the same id.
 */
async function read(gov: Decisions, { log }: ResultPorts, request: ResultRequest): Promise<ResultToJudge> {
  const { part, result: bytes } = request;
  // Rules may come in force until the turn, so the call is found whether there are any or not.
  const find = async (op: Op) => (bytes.length <= longestResult ? findCall(log, op) : undefined);
  return { part, bytes, ...(await callOfResult(gov, request, find)) };
}

/** The call that a running operation is about, and whose rules judge what comes of it. */
export async function callOfResult(
  gov: Decisions,
  request: RequestOfOp,
  find: (op: Op) => Promise<ResultToJudge['call']>,
): Promise<Pick<ResultToJudge, 'call' | 'parties'>> {
  const { agent, op } = await gov.journal.durable(() => runningOp(gov, request));
  return { call: await find(op), parties: partiesOf(gov, agent) };
}

type RequestOfOp = Pick<ResultRequest, 'agentId' | 'token' | 'opId'>;

function runningOp(gov: Decisions, request: RequestOfOp): { readonly agent: Agent; readonly op: Op } {
  const agent = authenticateAgent(gov, request.agentId, request.token);
  // What rules look at, and which of them count, depends on those on whose behalf it acts as well.
  requireReadInFull(gov.directory, agent);
  const op = gov.ops.get(agent, request.opId);
  if (op.state === 'running') return { agent, op };
  throw new ReeveError(
    'invalid_transition',
    `only what running operations bring or ask is judged; this one is ${op.state}`,
    {
      state: op.state,
    },
  );
}

function partiesOf({ directory }: Decisions, agent: Agent): readonly Party[] {
  return agentAndAbove(agent, linksOf(directory, agent)).map(({ record, lineage }) => ({
    record,
    depth: lineage.depth,
  }));
}

function inline(gov: Decisions, { utf8 }: ResultPorts, op: Op, result: ResultToJudge): JudgedResult {
  const { policies, sha256 } = gov;
  return judgeResult({ policies, sha256, ...utf8, costOf }, result, momentOf(gov, op));
}

function momentOf(gov: Decisions, op: Op): ResultMoment {
  return {
    now: gov.clock.now(),
    run: () => runFacts(gov, runAsked(op.owner.record.id, op.runId, op.delegators), op.runId),
    spendOf: ({ record }) => spendFacts(gov, record.id),
  };
}

function broughtTo(gov: Decisions, op: Op, { parties }: ResultToJudge): BroughtMoment {
  const { now, run, spendOf } = momentOf(gov, op);
  return { now, run: runAtOnce(run()), spends: parties.map(spendOf) };
}

/** Whatever keeps a result from being judged keeps it from being passed on. Says on which labels the judgement rests. */
async function aside(
  gov: Decisions,
  { judgeAside }: ResultPorts,
  request: ResultRequest,
  result: ResultToJudge,
): Promise<{ readonly judged: JudgedResult; readonly labels?: readonly string[] }> {
  const moment = await gov.journal.fresh(() => broughtTo(gov, runningOp(gov, request).op, result));
  try {
    return { judged: await judgeAside(result, moment), labels: moment.run.labels };
  } catch (error) {
    return { judged: unjudged(gov, request.part, error instanceof ReeveError ? error.message : 'it failed') };
  }
}

function unjudged({ policies }: Decisions, part: JudgedPart, why: string): JudgedResult {
  return denied(policies, `the ${part} could not be judged: ${why}`);
}

/** Records what became of a result, and marks the operation as judged by it. A prompt says nothing of what comes back. */
function conclude(gov: Decisions, agent: Agent, op: Op, request: ResultRequest, found: JudgedResult): ResultAnswer {
  const judged = withinLabels(gov, op, found);
  const { effect, reason, policyRule, masked } = judged;
  const decision = effect === 'deny' ? 'deny' : 'allow';
  giveLabels(gov, inRun(op), judged.labels, gov.clock.now());
  if (request.part === 'result' && op.resultDuty?.judged === false) {
    gov.journal.apply({ kind: 'op_result_judged', id: agent.record.id, opId: op.opId });
  }
  gov.journal.record(entryOf(gov, agent, op, request, judged), op);
  return { decision, reason, policyRule, labels: namesOf(judged), ...(masked === undefined ? {} : { result: masked }) };
}

/** A result whose labels find no room does not pass. */
function withinLabels(gov: Decisions, op: Op, judged: JudgedResult): JudgedResult {
  const refusal = judged.labels.length === 0 ? undefined : refuseLabels(gov, inRun(op), judged.labels);
  if (refusal === undefined) return judged;
  const { policyVersion } = judged;
  return { ...denied(gov.policies, refusal, labelsRule), policyVersion };
}

function namesOf({ labels }: JudgedResult): string[] {
  return [...new Set(labels.map(({ name }) => name))];
}

const eventTypes = {
  result: { allowed: 'ResultAllowed', masked: 'ResultMasked', denied: 'ResultDenied' },
  prompt: { allowed: 'PromptAllowed', masked: 'PromptMasked', denied: 'PromptDenied' },
} as const;

/** The entry says how much there was and what was found, and never what. */
function entryOf(gov: Decisions, agent: Agent, op: Op, request: ResultRequest, judged: JudgedResult): EntryDraft {
  const { effect, reason, policyRule, policyVersion, masked, counts, digest } = judged;
  const types = eventTypes[request.part];
  const passedOn = masked === undefined ? types.allowed : types.masked;
  return {
    at: gov.clock.now(),
    eventType: effect === 'deny' ? types.denied : passedOn,
    lineage: agent.lineage,
    actor: actorOf(agent),
    opId: op.opId,
    ...traceIdsIn(op.opId),
    decision: effect === 'deny' ? 'deny' : 'allow',
    reason,
    policyRule,
    policyVersion,
    payload: canonicalJson({
      ...(masked === undefined ? {} : { counts: { ...counts } }),
      ...(digest === undefined ? {} : { digest }),
      ...(request.part === 'result' ? { is_error: request.isError } : {}),
      ...(judged.labels.length === 0 ? {} : { labels: namesOf(judged) }),
      resource: op.resource,
      ...(op.runId === '' ? {} : { run_id: op.runId }),
      size: request.result.length,
    }),
  };
}
