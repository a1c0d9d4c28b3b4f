import type { CanonicalJson } from '../audit/canonical-json.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import { mayNeedRedaction, redact, redactArguments, redactText } from '../audit/redact.ts';
import { totalJson } from '../budget/money.ts';
import { mostBytesOfArguments } from '../kernel/bounds.ts';
import type { Sha256 } from '../kernel/hash.ts';
import { fitsIn, utf8Length } from '../kernel/text-size.ts';
import type { Op } from '../ops/op.ts';
import type { RunFacts, SpendFacts } from '../policy/condition.ts';
import type { Observed } from '../policy/observed-documents.ts';
import { agentKey } from '../tenancy/agent-id.ts';
import type { Judgement, Limit } from './answer.ts';
import type { CheckRequest } from './check-request.ts';

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

export function describeAction(request: CheckRequest, sha256: Sha256): CanonicalJson {
  const { action } = request;
  let text = '{';
  if (action.json !== '') text += `"args":${describeArguments(request, sha256)},`;
  if (action.command !== '') text += member('command', action.command);
  if (action.commandArgs.length > 0)
    text += `"command_args":${canonicalJson(redactArguments(action.commandArgs, action.command))},`;
  if (action.host !== '') text += member('host', action.host);
  if (action.maxOutputTokens > 0) text += `"max_output_tokens":${action.maxOutputTokens},`;
  if (action.model !== '') text += member('model', action.model);
  if (action.operation !== '') text += member('operation', action.operation);
  if (action.path !== '') text += member('path', action.path);
  if (action.port > 0) text += `"port":${action.port},`;
  if (action.promptTokens > 0) text += `"prompt_tokens":${action.promptTokens},`;
  if (action.protocol !== '') text += member('protocol', action.protocol);
  if (action.source !== '') text += member('source', action.source);
  if (action.tool !== '') text += member('tool', action.tool);
  text += `"type":"${action.type}"`;
  if (action.url !== '') text += `,"url":${canonicalJson(redactText(action.url))}`;
  return `${text}}` as CanonicalJson;
}

function member(name: string, value: string): string {
  return `"${name}":${canonicalJson(redactText(value))},`;
}

/** What was sent, with secrets replaced; of what takes too much room, its length and digest as it was sent. */
function describeArguments(request: CheckRequest, sha256: Sha256): CanonicalJson {
  const { json } = request.action;
  // Long ones are not even parsed for it.
  if (fitsIn(json, mostBytesOfArguments)) {
    const { args = null } = request;
    const kept = canonicalJson(mayNeedRedaction(json) ? redact(args) : args);
    if (fitsIn(kept, mostBytesOfArguments)) return kept;
  }
  return canonicalJson({ omitted_bytes: utf8Length(json), sha256: sha256(json) });
}
