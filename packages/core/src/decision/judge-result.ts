import type { Sha256 } from '../kernel/index.ts';
import { messageOf } from '../kernel/index.ts';
import type { FoundBy, Mask } from '../masking/index.ts';
import { maskResult } from '../masking/index.ts';
import type { PolicySet, ResultVerdict, Subject } from '../policy/index.ts';
import { Evaluation, labelsOfRules, subjectOfRecord } from '../policy/index.ts';
import type { OwedLabel } from '../runs/index.ts';
import { noLabels } from '../runs/index.ts';
import { isHidden } from './hidden-texts.ts';
import type { RecordedCall } from './recorded-call.ts';
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
  readonly call: RecordedCall | undefined;
  /** The agent, then those on whose behalf it acts. */
  readonly parties: readonly Party[];
}

/** How often masks found something, by what found it. */
export type MaskCounts = Readonly<Partial<Record<FoundBy, number>>>;

/** What becomes of a result. Plain data, as well. */
export interface JudgedResult<Masked = Uint8Array> {
  readonly effect: ResultVerdict['effect'];
  readonly reason: string;
  readonly policyRule: string;
  readonly policyVersion: string;
  /** The result with what masks found replaced; absent if nothing changed. */
  readonly masked?: Masked;
  readonly counts: MaskCounts;
  /** What the matching rules give to the run or the agent. Nothing if the result is denied. */
  readonly labels: readonly OwedLabel[];
  /** SHA-256 of the bytes that are passed on; absent if none are. */
  readonly digest?: string;
  /** Judging it costs more than it may: rules counted as matching that nobody could try. */
  readonly isSpent?: true;
}

/** What judging works with. */
export interface TextJudge {
  readonly policies: PolicySet;
  readonly sha256: Sha256;
  /** What the rules on a result of this many characters may cost together. */
  readonly costOf: (length: number) => number;
}

/** The cost of rules on a result that is judged apart from decisions, where the clock ends what takes too long. */
export const costAside: TextJudge['costOf'] = () => 1_000_000_000;

export interface ResultJudge extends TextJudge {
  /** Undefined if the bytes are not UTF-8. */
  readonly decode: (bytes: Uint8Array) => string | undefined;
  readonly encode: (text: string) => Uint8Array;
}

/** Judges a result by the rules on results, or a prompt by those that mask prompts. It waits for nothing and changes nothing. */
export function judgeResult(judge: ResultJudge, result: ResultToJudge, moment: ResultMoment): JudgedResult {
  const { policies, decode, encode } = judge;
  const { part } = result;
  if (result.bytes.length > longestResult) return denied(policies, `a ${part} has at most ${longestResult} bytes`);
  const text = decode(result.bytes);
  if (text === undefined) return denied(policies, `the ${part} is not UTF-8`);
  const { masked, ...judged } = judgeText(judge, { ...result, text }, moment);
  return masked === undefined ? judged : { ...judged, masked: encode(masked) };
}

/** The same of a text. */
export function judgeText(
  { policies, sha256, costOf }: TextJudge,
  { part, text, call, parties }: Omit<ResultToJudge, 'bytes'> & { readonly text: string },
  moment: ResultMoment,
): JudgedResult<string> {
  const allow = { policyVersion: policies.version, counts: {}, digest: () => sha256(text) };
  if (!hasRulesOn(part, policies)) return passed(allow, noRulesOn(part));
  if (call === undefined) return denied(policies, `the log does not have the call of this ${part} any more`);
  const evaluation = new Evaluation(subjectOfCall(call), costOf(text.length));
  const at = part === 'prompt' ? momentOfCheck(call, parties[0]) : moment;
  const verdict = verdictOfAll(policies, { part, call, parties }, new ResultText(text), at, evaluation);
  const judged = (): JudgedResult<string> => {
    const deny = (reason: string) => denied(policies, reason, verdict.rule);
    if (verdict.effect === 'deny') return deny(verdict.reason);
    if (verdict.effect === 'allow') return passed(allow, verdict);
    try {
      const masked = maskResult(text, verdict.masks, evaluation.charge);
      if (masked === 'too deep') return deny(`the ${part} is nested too deeply to be masked`);
      if (masked === 'not JSON') return deny(`the ${part} cannot be masked: ${notJson}`);
      if (masked === undefined) return passed(allow, { ...verdict, reason: `${verdict.reason}; it found nothing` });
      const { counts } = masked;
      return { ...passed({ ...allow, counts, digest: () => sha256(masked.text) }, verdict), masked: masked.text };
    } catch (error) {
      return deny(`the ${part} cannot be masked: ${messageOf(error)}`);
    }
  };
  const found = judged();
  return evaluation.isSpent ? { ...found, isSpent: true } : found;
}

/** A recorded call, as matchers of rules on results see it. */
export function subjectOfCall({ action, user }: Pick<RecordedCall, 'action' | 'user'>): Subject {
  return subjectOfRecord(action, user ?? null, isHidden);
}

/** A result that does not pass. */
export function denied({ version }: PolicySet, reason: string, policyRule = 'default'): JudgedResult<never> {
  return { effect: 'deny', reason, policyRule, policyVersion: version, counts: {}, labels: noLabels };
}

const notJson = 'it is no JSON, and seems to have members that the fields of the mask name';

function noRulesOn(part: JudgedPart) {
  return { effect: 'allow', reason: `there are no rules on ${part}s`, rule: 'default', passing: [] } as const;
}

function passed(
  { policyVersion, counts, digest }: Pick<JudgedResult, 'policyVersion' | 'counts'> & { digest: () => string },
  { effect, reason, rule, passing }: Pick<ResultVerdict, 'effect' | 'reason' | 'rule' | 'passing'>,
): JudgedResult<never> {
  const labels = labelsOfRules(passing);
  return { effect, reason, policyRule: rule, policyVersion, counts, labels, digest: digest() };
}

/** The strictest of what the rules on the agent, and on everybody above it, say. Their masks add up. */
function verdictOfAll(
  policies: PolicySet,
  { part, call, parties }: Pick<ResultToJudge, 'part' | 'parties'> & { readonly call: RecordedCall },
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
