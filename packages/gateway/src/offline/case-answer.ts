import type { Asking, ConsideredRule, Decision, limitTold, OwedLabel, SimulatedResult } from '@reeve/core';
import { totalJson, waitOf } from '@reeve/core';

export interface CaseAnswer {
  readonly decision: Decision;
  readonly rule: string;
  readonly reason: string;
  readonly reserved_micros: number;
  readonly audited: string;
  /** The cap that refused the request. */
  readonly limit: Readonly<Record<string, unknown>> | null;
  readonly observed: readonly unknown[];
  /** The terms of the approval. */
  readonly approvals: Readonly<Record<string, unknown>> | null;
  /** What rules make of the arguments; null if nothing. */
  readonly rewritten_args: unknown;
  /** The labels that the call gives: at once, or when it is approved. */
  readonly labels: readonly string[];
  readonly judge_result: boolean;
  /** What becomes of the result; null if the case has none, or the call is denied. */
  readonly on_result: Readonly<Record<string, unknown>> | null;
}

/** An answer, and every rule that was considered, on calls and on results. */
export interface Judged {
  readonly answer: CaseAnswer;
  readonly rules: readonly ConsideredRule<string>[];
}

/** The part of an answer that policy and budgets decide. */
export type Weighed = Omit<CaseAnswer, 'rewritten_args' | 'labels' | 'judge_result' | 'on_result'>;

/** A case has no settings. If rules leave the time open, the default of SVC_APPROVAL_TTL_SECS applies. */
const usualWait = 300_000;

export function namesOf(labels: readonly OwedLabel[]): string[] {
  return [...new Set(labels.map(({ name }) => name))];
}

export function resultJson({ effect, policyRule: rule, reason, masked, labels, counts }: SimulatedResult) {
  return { effect, rule, reason, masked: masked ?? null, labels: namesOf(labels), counts: { ...counts } };
}

export const auditedAs: Readonly<Record<Decision, string>> = {
  allow: 'ActionAllowed',
  deny: 'ActionDenied',
  pending: 'ActionPending',
};

export function limitJson({
  tier,
  period,
  limitMicros,
  totalMicros,
}: ReturnType<typeof limitTold>): Readonly<Record<string, unknown>> {
  const spent = totalJson(totalMicros);
  return { tier, period, limit_micros: limitMicros, spent_micros: spent, status: 'LimitExceeded' };
}

export function termsOf(asking: Asking | undefined): Readonly<Record<string, unknown>> {
  const { rules = [], count = 1, grants = false } = asking ?? {};
  return { rules: [...rules], count, ttl_secs: waitOf(asking, usualWait) / 1000, grants };
}
