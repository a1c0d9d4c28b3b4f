import type { CheckRequest } from '../action/index.ts';
import { describeAction, describeArgs, describeUser, userOf } from '../action/index.ts';
import type { CanonicalJson, Decision } from '../audit/index.ts';
import { canonicalJson, canonicalText, redactText } from '../audit/index.ts';
import type { Period, BudgetTier, PriceSource } from '../budget/index.ts';
import type { Typed } from '../journal/index.ts';
import type { AgentId, EpochMs, Micros, Total, Sha256 } from '../kernel/index.ts';
import { agentKey, rememberingOf, timestamp, totalJson } from '../kernel/index.ts';
import type { Op, OpsChangeEvent } from '../ops/index.ts';
import type { RunCounts, SpendFacts, Observed, Tier } from '../policy/index.ts';
import type { OwedLabel } from '../runs/index.ts';
import type { RewrittenCall } from './rewritten-call.ts';

/** The cap that a refused charge would have passed. */
export interface Limit {
  readonly tier: BudgetTier;
  readonly period: Period;
  readonly limitMicros: Micros;
  /** Settled and reserved amounts, without the refused charge. */
  readonly totalMicros: Total;
}

/** What the log says of the rate that refused a check. */
export interface RateLimit {
  readonly windowSecs: number;
  readonly roomAt: EpochMs;
}

/** What an agent is told. */
export interface Answer {
  readonly decision: Decision;
  readonly reason: string;
  readonly policyRule: string;
  readonly tier: Tier;
  readonly approvalId: string;
  readonly latencyUs: number;
  /** Empty if the refusal left no operation. */
  readonly opId: string;
  readonly opState: string;
  /** Set if a budget refused the action. */
  readonly limit: Limit | undefined;
  /** What observed documents would have decided otherwise. */
  readonly observed: readonly Observed[];
  /** Whether any rule on results could match what the action brings back. */
  readonly judgeResult: boolean;
  /** Whether rules mask the prompt, which is not part of the check. */
  readonly judgePrompt: boolean;
  /** The arguments to act with, if rules have rewritten them. */
  readonly argsJson: string | undefined;
}

/** What conditions asked about the run, the spend and the groups of the user. The log records it, so that the decision can be judged again. */
export interface AskedFacts {
  /** What was counted in the run. */
  counts?: RunCounts;
  /** The labels that counted in the run. */
  labels?: readonly string[];
  spend?: SpendFacts;
  /** The groups of the user. */
  groups?: readonly string[];
}

/** A judgement that is not durable yet. It becomes an answer once its turn is committed. */
export interface Judgement {
  readonly decision: Decision;
  readonly reason: string;
  readonly policyRule: string;
  readonly tier: Tier;
  readonly op: Op | undefined;
  readonly limit?: Limit;
  /** The approval that the operation waits for. */
  readonly approvalId?: string | undefined;
  /** The grant that allowed the action. */
  readonly grantId?: string;
  /** Facts of the moment that conditions asked for. */
  readonly asked?: AskedFacts;
  /** What observed documents would have decided otherwise. */
  readonly observed?: readonly Observed[];
  /** Where the price of the model comes from, if it decided what the action costs. */
  readonly price?: PriceSource;
  /** The rate that refused the check. */
  readonly rate?: RateLimit;
  /** The labels that the call gives, at once or when it is approved. */
  readonly labels?: readonly OwedLabel[];
  /** The call as rules have rewritten it. */
  readonly rewritten?: RewrittenCall;
  /** Rules mask the prompt. */
  readonly masksPrompt?: true;
  /** On the monotonic clock. */
  readonly startedAt: number;
}

const nothing: readonly Observed[] = [];

/** The answer as it stands when it leaves: a termination in the meantime wins. */
export function answerOf(judgement: Judgement, elapsed: number): Answer {
  const { op } = judgement;
  const overtaken = judgement.decision !== 'deny' && op?.state === 'terminated';
  const decision = overtaken ? 'deny' : judgement.decision;
  return {
    decision,
    reason: overtaken ? 'operation is terminated' : judgement.reason,
    policyRule: judgement.policyRule,
    tier: judgement.tier,
    approvalId: overtaken ? '' : (judgement.approvalId ?? ''),
    latencyUs: Math.max(0, Math.round((elapsed - judgement.startedAt) * 1000)),
    opId: op?.opId ?? '',
    opState: op?.state ?? '',
    limit: judgement.limit,
    observed: judgement.observed ?? nothing,
    judgeResult: decision !== 'deny' && op !== undefined && op.resultDuty !== null,
    judgePrompt: decision !== 'deny' && judgement.masksPrompt === true,
    argsJson: overtaken || judgement.decision === 'deny' ? undefined : judgement.rewritten?.request.action.json,
  };
}

/** A check was answered. */
export interface DecisionEvent {
  readonly type: 'decision';
  readonly at: EpochMs;
  readonly agent: AgentId;
  readonly decision: Decision;
  readonly reason: string;
  readonly policyRule: string;
  /** Empty if the refusal left no operation. */
  readonly opId: string;
}

/** The decision that an event tells of. */
export function decisionIn(event: Typed): DecisionEvent | undefined {
  if (isDecision(event)) return event;
  return isCheck(event) && event.shows !== undefined ? decisionOf(event) : undefined;
}

function isDecision(event: Typed): event is DecisionEvent {
  return event.type === 'decision';
}

function isCheck(event: Typed): event is OpsChangeEvent {
  return event.type === 'ops_change';
}

/** The decision that a first check made at once. */
export function decisionOf({ at, op }: OpsChangeEvent): DecisionEvent {
  const { agent, reason, policyRule, opId } = op;
  return { type: 'decision', at, agent, decision: op.state === 'running' ? 'allow' : 'deny', reason, policyRule, opId };
}

/** What an audit entry says beside the request and the operation. */
export type DecisionDetails = Pick<
  Judgement,
  'limit' | 'approvalId' | 'grantId' | 'asked' | 'observed' | 'price' | 'rate' | 'labels' | 'rewritten' | 'masksPrompt'
>;

/** An entry names at most this many observed documents. */
const mostObserved = 64;

/**
 * The payload of a decision's audit entry: the request, with secrets replaced, and what a restart needs to restore the
 * operation. Members are appended in sorted order, so the text is canonical without sorting.
 */
export function describeDecision(
  request: CheckRequest,
  op: Op,
  replay: boolean,
  sha256: Sha256,
  details: DecisionDetails = {},
): CanonicalJson {
  const { limit, approvalId, grantId, asked, observed, price, rate, labels, rewritten } = details;
  let text = `{"action":${describeAction(request, sha256)}`;
  if (approvalId !== undefined) text += `,"approval_id":"${approvalId}"`;
  if (rewritten !== undefined) text += `,"args_sha256":"${sha256(request.action.json)}"`;
  // Nothing proves on whose behalf an agent acts, so its word is recorded as a claim.
  if (request.caller !== null) text += `,"claimed_caller":${JSON.stringify(agentKey(request.caller))}`;
  text += `,"cost_micros":${op.costMicros}`;
  if (op.delegators.length > 0) text += `,"delegators":${JSON.stringify(op.delegators)}`;
  text += `,"digest":"${op.digest}"`;
  if (isEstimated(request, op)) text += ',"estimated":true';
  if (op.floor) text += ',"floor":true';
  if (grantId !== undefined) text += `,"grant_id":"${grantId}"`;
  if (op.resultDuty !== null && !replay) text += ',"judge_result":true';
  if (labels !== undefined) text += `,"labels":${describeLabels(labels)}`;
  if (limit !== undefined) text += `,"limit":${describeLimit(limit)}`;
  if (details.masksPrompt === true) text += ',"masks_prompt":true';
  if (observed !== undefined) text += `,"observed":${describeObserved(observed)}`;
  text += `,"op_state":"${op.state}"`;
  if (price !== undefined) text += `,"price":"${price}"`;
  if (rate !== undefined) text += describeRate(rate);
  if (replay) text += ',"replay":true';
  text += `,"resource":${canonicalText(op.resource)}`;
  if (rewritten !== undefined) text += describeRewritten(rewritten, op, sha256);
  if (asked?.counts !== undefined || asked?.labels !== undefined) text += `,"run":${describeRun(asked)}`;
  if (op.runId !== '') text += `,"run_id":${canonicalText(op.runId)}`;
  if (asked?.spend !== undefined) text += `,"spend":${describeSpend(asked.spend)}`;
  if (op.summary !== '') text += `,"summary":${canonicalJson(op.summary)}`;
  if (op.resultDuty !== null && !replay) text += `,"unjudged_labels":${describeLabels(op.resultDuty.unjudged)}`;
  const user = userOf(request);
  if (user !== null) text += `,"user":${describeUser(user)}`;
  if (asked?.groups !== undefined) text += `,"user_groups":${canonicalJson(asked.groups.map(redactText))}`;
  if (op.via !== null) text += `,"via":{"door":"${op.via.door}","name":${canonicalJson(op.via.name)}}`;
  return `${text}}` as CanonicalJson;
}

/** Whether the agent's estimate counts. It does if it is at least the price that policy knows. */
function isEstimated({ estimatedCostMicros }: CheckRequest, { costMicros }: Op): boolean {
  return estimatedCostMicros !== null && estimatedCostMicros >= costMicros;
}

function describeObserved(observed: readonly Observed[]): CanonicalJson {
  return canonicalJson(observed.slice(0, mostObserved).map(({ rule, effect }) => ({ effect, rule })));
}

function describeRate({ windowSecs, roomAt }: RateLimit): string {
  return `,"rate":${canonicalJson({ room_at: timestamp(roomAt), window_secs: windowSecs })}`;
}

/** What the call became, with secrets replaced, and the digest of all of it. */
function describeRewritten({ request }: RewrittenCall, { rewrite }: Op, sha256: Sha256): string {
  const digest = sha256(request.action.json);
  const args = `,"rewritten_args":${describeArgs(request, sha256)},"rewritten_args_sha256":"${digest}"`;
  return rewrite === null ? args : `${args},"rewritten_digest":"${rewrite.digest}"`;
}

/** A rule gives the same labels with every call. */
const describeLabels = rememberingOf((labels: readonly OwedLabel[]) => `[${labels.map(describeLabel).join(',')}]`);

/** Several rules may give theirs together. */
const describeLabel = rememberingOf(({ name, of, policyRule }: OwedLabel) =>
  canonicalJson({ name, of, policy_rule: policyRule }),
);

function describeRun({ counts, labels }: AskedFacts): string {
  if (labels === undefined) return canonicalJson({ ...counts });
  const names = describeNames(labels);
  if (counts === undefined) return `{"labels":${names}}`;
  return `{"checks":${canonicalJson(counts.checks)},"labels":${names},"spent_usd":${canonicalJson(counts.spent_usd)}}`;
}

/** A run bears the same labels from check to check. */
const describeNames = rememberingOf((names: readonly string[]) => canonicalJson(names));

/** Leaves out global spend, because one tenant reads this entry. */
function describeSpend({ agent, org, team }: SpendFacts): CanonicalJson {
  return canonicalJson({ agent: { ...agent }, org: { ...org }, team: { ...team } });
}

function describeLimit({ tier, period, limitMicros, totalMicros }: Limit): CanonicalJson {
  return canonicalJson({
    limit_micros: limitMicros,
    period,
    spent_micros: totalJson(totalMicros),
    status: 'LimitExceeded',
    tier,
  });
}
