import type { Sha256 } from '../kernel/index.ts';
import { messageOf } from '../kernel/index.ts';
import type { FoundBy, Mask } from '../masking/index.ts';
import { maskResult } from '../masking/index.ts';
import type { PolicySet, ResultVerdict } from '../policy/index.ts';
import { Evaluation, labelsOfRules, subjectOfRecord } from '../policy/index.ts';
import type { OwedLabel } from '../runs/index.ts';
import { noLabels } from '../runs/index.ts';
import { isHidden } from './hidden-texts.ts';
import type { RecordedDecision } from './recorded-decision.ts';
import type { Party, ResultMoment } from './result-facts.ts';
import { CallOfResult, momentOfCheck, ResultText } from './result-facts.ts';

/** The longest result, in bytes. */
export const longestResult = 16 * 1024 * 1024;

/** What is judged of a call: what it brought back, or what it is to ask a model. */
export type JudgedPart = 'result' | 'prompt';

/** Whether there are rules on this part of any call. If there are none, nobody need look at it. */
export function hasRulesOn(part: JudgedPart, policies: PolicySet): boolean {
  return part === 'result' ? policies.hasResultRules : policies.hasPromptRules;
}

/** What a call brought back, and what is known of the call. It is plain data, which can be sent to a thread. */
export interface ResultToJudge {
  readonly part: JudgedPart;
  /** As it was sent. */
  readonly bytes: Uint8Array;
  /** The call as the log has it. Undefined if the log does not have it. */
  readonly call: RecordedDecision | undefined;
  /** The agent, then those on whose behalf it acts. */
  readonly parties: readonly Party[];
}

/** How often masks found something, by what found it. */
export type MaskCounts = Readonly<Partial<Record<FoundBy, number>>>;

/** What becomes of a result. Plain data, as well. */
export interface JudgedResult {
  readonly effect: ResultVerdict['effect'];
  readonly reason: string;
  readonly policyRule: string;
  readonly policyVersion: string;
  /** The result with what masks found replaced; absent if nothing changed. */
  readonly masked?: Uint8Array;
  readonly counts: MaskCounts;
  /** What the matching rules give to the run or the agent. Nothing if the result is denied. */
  readonly labels: readonly OwedLabel[];
  /** SHA-256 of the bytes that are passed on; absent if none are. */
  readonly digest?: string;
  /** Judging it costs more than it may: rules counted as matching that nobody could try. */
  readonly isSpent?: true;
}

/** What judging works with. */
export interface ResultJudge {
  readonly policies: PolicySet;
  readonly sha256: Sha256;
  /** Undefined if the bytes are not UTF-8. */
  readonly decode: (bytes: Uint8Array) => string | undefined;
  readonly encode: (text: string) => Uint8Array;
  /** What the rules on a result of this many characters may cost together. */
  readonly costOf: (length: number) => number;
}

/** Judges a result by the rules on results, or a prompt by those that mask prompts. It waits for nothing and changes nothing. */
export function judgeResult(judge: ResultJudge, result: ResultToJudge, moment: ResultMoment): JudgedResult {
  const { policies, sha256, decode, encode, costOf } = judge;
  const deny = (reason: string, policyRule = 'default'): JudgedResult => ({
    effect: 'deny',
    reason,
    policyRule,
    policyVersion: policies.version,
    counts: {},
    labels: noLabels,
  });
  const { part } = result;
  if (result.bytes.length > longestResult) return deny(`a ${part} has at most ${longestResult} bytes`);
  const text = decode(result.bytes);
  if (text === undefined) return deny(`the ${part} is not UTF-8`);
  const allow = { policyVersion: policies.version, counts: {}, digest: () => sha256(text) };
  if (!hasRulesOn(part, policies)) return passed(allow, noRulesOn(part));
  const { call } = result;
  if (call === undefined) return deny(`the log does not have the call of this ${part} any more`);
  const subject = subjectOfRecord(call.action, call.user ?? null, isHidden);
  const evaluation = new Evaluation(subject, costOf(text.length));
  const at = part === 'prompt' ? momentOfCheck(call, result.parties[0]) : moment;
  const verdict = verdictOfAll(policies, { ...result, call }, new ResultText(text), at, evaluation);
  const judged = (): JudgedResult => {
    if (verdict.effect === 'deny') return deny(verdict.reason, verdict.rule);
    if (verdict.effect === 'allow') return passed(allow, verdict);
    try {
      const masked = maskResult(text, verdict.masks, evaluation.charge);
      if (masked === 'too deep') return deny(`the ${part} is nested too deeply to be masked`, verdict.rule);
      if (masked === 'not JSON') return deny(`the ${part} cannot be masked: ${notJson}`, verdict.rule);
      if (masked === undefined) return passed(allow, { ...verdict, reason: `${verdict.reason}; it found nothing` });
      const { counts } = masked;
      const bytes = encode(masked.text);
      return { ...passed({ ...allow, counts, digest: () => sha256(masked.text) }, verdict), masked: bytes };
    } catch (error) {
      return deny(`the ${part} cannot be masked: ${messageOf(error)}`, verdict.rule);
    }
  };
  const found = judged();
  return evaluation.isSpent ? { ...found, isSpent: true } : found;
}

const notJson = 'it is no JSON, and seems to have members that the fields of the mask name';

function noRulesOn(part: JudgedPart) {
  return { effect: 'allow', reason: `there are no rules on ${part}s`, rule: 'default', passing: [] } as const;
}

function passed(
  { policyVersion, counts, digest }: Pick<JudgedResult, 'policyVersion' | 'counts'> & { digest: () => string },
  { effect, reason, rule, passing }: Pick<ResultVerdict, 'effect' | 'reason' | 'rule' | 'passing'>,
): JudgedResult {
  const labels = labelsOfRules(passing);
  return { effect, reason, policyRule: rule, policyVersion, counts, labels, digest: digest() };
}

/** The strictest of what the rules on the agent, and on everybody above it, say. Their masks add up. */
function verdictOfAll(
  policies: PolicySet,
  { part, call, parties }: ResultToJudge & { readonly call: RecordedDecision },
  text: ResultText,
  moment: ResultMoment,
  evaluation: Evaluation,
): ResultVerdict {
  const masks: Mask[] = [];
  const passing: ResultVerdict['passing'][number][] = [];
  let strictest: ResultVerdict | undefined;
  for (const party of parties) {
    const facts = new CallOfResult(call, party, moment, text);
    const { id } = party.record;
    const verdict =
      part === 'prompt'
        ? policies.judgePrompt(id, facts, evaluation)
        : policies.judgeResult(id, call.action, facts, evaluation);
    masks.push(...verdict.masks);
    passing.push(...verdict.passing);
    if (strictest === undefined || strength[verdict.effect] > strength[strictest.effect]) {
      const isOwn = party === parties[0];
      const reason = isOwn ? verdict.reason : `on behalf of "${party.record.id.agentId}": ${verdict.reason}`;
      strictest = { ...verdict, reason };
    }
  }
  return { ...(strictest ?? noRulesOn(part)), masks, passing };
}

const strength: Readonly<Record<ResultVerdict['effect'], number>> = { allow: 1, mask: 2, deny: 3 };
