import type { Charge } from '../kernel/index.ts';
import { invalid } from '../kernel/index.ts';
import type { Mask, PiecePlace } from '../masking/index.ts';
import { maskBeginning, maskResult } from '../masking/index.ts';
import type { Op } from '../ops/index.ts';
import type { PolicySet } from '../policy/index.ts';
import { decisionCost, Evaluation } from '../policy/index.ts';
import type { ResultPorts, ResultRequest } from './check-result.ts';
import { callOfResult } from './check-result.ts';
import type { Decisions } from './decisions.ts';
import { findCall } from './find-call.ts';
import type { ResultToJudge } from './judge-result.ts';
import { hasRulesOn, subjectOfCall } from './judge-result.ts';
import type { RecordedCall } from './recorded-call.ts';

/** A piece of what a model answers in a stream: a whole value of JSON, or a piece of a text whose end has not come yet. */
export interface StreamedRequest extends Pick<ResultRequest, 'agentId' | 'token' | 'opId'> {
  readonly piece: Uint8Array;
  readonly place: PiecePlace | 'value';
}

/** How much of a piece may be passed on. */
export interface StreamedAnswer {
  /** In bytes. Absent if rules need the whole answer. */
  readonly taken?: number;
  /** What is to be passed on in place of that; absent if it is passed on as it is. */
  readonly masked?: Uint8Array;
}

/** The largest piece, in bytes. It is judged between decisions. */
export const longestPiece = 64 * 1024;

const needsWhole: StreamedAnswer = {};
const moreToCome: StreamedAnswer = { taken: 0 };

/**
 * Judges a piece of an answer while it comes. It records nothing and gives nothing: the whole answer is judged at its end, and
 * begins with what has passed. Where rules may deny it, label it or look at it as a whole, nothing of it passes before that.
 */
export async function judgeStreamed(
  gov: Decisions,
  ports: ResultPorts,
  request: StreamedRequest,
): Promise<StreamedAnswer> {
  const { piece, place } = request;
  if (piece.length > longestPiece) throw invalid('result_json', `a piece has at most ${longestPiece} bytes`);
  const text = ports.utf8.decode(piece);
  if (text === undefined) throw invalid('result_json', 'must be UTF-8');
  const found = await gov.journal.fresh(() => callOfResult(gov, request, (op) => knownCall(ports, op)));
  const evaluation = found.call && new Evaluation(subjectOfCall(found.call), decisionCost);
  if (evaluation === undefined) return needsWhole;
  const masks = masksOfPieces(gov.policies, found, evaluation);
  if (masks === undefined) return needsWhole;
  try {
    const { taken, masked } = beginningOf(text, place, masks, evaluation.charge);
    const bytes = taken === text.length ? piece.length : ports.utf8.encode(text.slice(0, taken)).length;
    return { taken: bytes, ...(masked === undefined ? {} : { masked: ports.utf8.encode(masked) }) };
  } catch {
    // Whatever keeps a piece from being judged, such as its cost, keeps it until all of it is.
    return moreToCome;
  }
}

/**
 * A streamed answer has many pieces, and what decided about a running operation does not change. Another operation may take
 * the id, and with it the place in memory, of one that was forgotten elsewhere.
 */
async function knownCall({ log }: ResultPorts, op: Op): Promise<RecordedCall | undefined> {
  const { registeredAt, digest } = op;
  const known = calls.get(op);
  if (known?.registeredAt === registeredAt && known.digest === digest) return known.call;
  const call = await findCall(log, op);
  if (call !== undefined) calls.set(op, { registeredAt, digest, call });
  return call;
}

const calls = new WeakMap<Op, Pick<Op, 'registeredAt' | 'digest'> & { readonly call: RecordedCall }>();

function beginningOf(
  text: string,
  place: StreamedRequest['place'],
  masks: readonly Mask[],
  charge: Charge,
): { readonly taken: number; readonly masked?: string | undefined } {
  if (place !== 'value') {
    const { taken, text: masked } = maskBeginning(text, place, masks, charge);
    return { taken, masked };
  }
  const masked = maskResult(text, masks, charge);
  return typeof masked === 'string' ? { taken: 0 } : { taken: text.length, masked: masked?.text };
}

/**
 * What is masked in every piece of an answer. Undefined if that does not say what becomes of it: a rule may deny it, label the
 * run with what the client would have read before, name members of it, or have a condition.
 */
function masksOfPieces(
  policies: PolicySet,
  { call, parties }: Pick<ResultToJudge, 'call' | 'parties'>,
  evaluation: Evaluation,
): readonly Mask[] | undefined {
  if (call === undefined || !hasRulesOn('result', policies)) return call && [];
  const rules = parties.flatMap(({ record }) => policies.resultRulesFor(record.id, call.action, evaluation));
  const masks: Mask[] = [];
  for (const { rule } of rules) {
    if (rule.effect === 'deny' || rule.labels !== undefined) return undefined;
    if (rule.effect === 'allow') continue;
    const mask = rule.mask?.compiled;
    if (mask === undefined || rule.when !== undefined || mask.fields.length > 0) return undefined;
    masks.push(mask);
  }
  return evaluation.isSpent ? undefined : masks;
}
