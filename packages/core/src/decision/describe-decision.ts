import { describeAction } from '../action/check-request.ts';
import type { CanonicalJson } from '../audit/canonical-json.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import { totalJson } from '../kernel/money.ts';
import type { Sha256 } from '../kernel/ports.ts';
import type { Op } from '../ops/op.ts';
import type { RunFacts, SpendFacts } from '../policy/condition.ts';
import type { Observed } from '../policy/observed-documents.ts';
import { agentKey } from '../kernel/agent-id.ts';
import type { Judgement, Limit } from './answer.ts';
import type { CheckRequest } from '../action/check-request.ts';

/** What an entry tells beside the request and the operation. */
export type DecisionDetails = Pick<Judgement, 'limit' | 'approvalId' | 'grantId' | 'asked' | 'observed'>;

/** So many documents that are only observed are named in an entry. */
const mostObserved = 64;

/**
 * The payload of a decision's audit entry: what was asked, with secrets replaced, and what a restart needs to put the
 * operation back. Members are appended in sorted order, which makes the text canonical without sorting.
 */
export function describeDecision(
  request: CheckRequest,
  op: Op,
  replay: boolean,
  sha256: Sha256,
  { limit, approvalId, grantId, asked, observed }: DecisionDetails = {},
): CanonicalJson {
  let text = `{"action":${describeAction(request, sha256)}`;
  if (approvalId !== undefined) text += `,"approval_id":"${approvalId}"`;
  // Nothing proves on whose behalf an agent acts: its word is recorded as such.
  if (request.caller !== null) text += `,"claimed_caller":${JSON.stringify(agentKey(request.caller))}`;
  text += `,"cost_micros":${op.costMicros},"digest":"${op.digest}"`;
  if (isEstimated(request, op)) text += ',"estimated":true';
  if (grantId !== undefined) text += `,"grant_id":"${grantId}"`;
  if (limit !== undefined) text += `,"limit":${describeLimit(limit)}`;
  if (observed !== undefined) text += `,"observed":${describeObserved(observed)}`;
  text += `,"op_state":"${op.state}"`;
  if (replay) text += ',"replay":true';
  text += `,"resource":${canonicalJson(op.resource)}`;
  if (asked?.run !== undefined) text += `,"run":${describeRun(asked.run)}`;
  if (op.runId !== '') text += `,"run_id":${canonicalJson(op.runId)}`;
  if (asked?.spend !== undefined) text += `,"spend":${describeSpend(asked.spend)}`;
  if (op.summary !== '') text += `,"summary":${canonicalJson(op.summary)}`;
  return `${text}}` as CanonicalJson;
}

/** The agent's estimate is what counts: it is no less than a price that policy knows. */
function isEstimated({ estimatedCostMicros }: CheckRequest, { costMicros }: Op): boolean {
  return estimatedCostMicros !== null && estimatedCostMicros >= costMicros;
}

function describeObserved(observed: readonly Observed[]): CanonicalJson {
  return canonicalJson(observed.slice(0, mostObserved).map(({ rule, effect }) => ({ effect, rule })));
}

function describeRun({ checks, spent_usd }: RunFacts): CanonicalJson {
  return canonicalJson({ checks, spent_usd });
}

/** Without what everybody together has spent: the entry is for one tenant to read. */
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
