import { shortened, timestamp } from '../kernel/index.ts';
import type { Evaluation, Facts, Verdict } from '../policy/index.ts';
import type { InRun, OwedLabel } from '../runs/index.ts';
import { eachOnce, refuseLabels } from '../runs/index.ts';
import type { Agent } from '../tenancy/index.ts';
import type { Decisions } from './decisions.ts';

/** The rule of a check that is refused because its labels find no room. */
export const labelsRule = 'labels';

/** Whom policy was asked about. */
interface Judged {
  readonly agent: Pick<Agent, 'record'>;
  readonly facts: Facts;
}

/** The labels that a call gives, by the rules on its agent and on everybody above it. A rule on all of them gives its own once. */
export function labelsOfCall(
  { policies }: Pick<Decisions, 'policies'>,
  judged: readonly Judged[],
  evaluation: Evaluation,
): readonly OwedLabel[] {
  const owed = judged.map(({ agent, facts }) => policies.labelsOf(agent.record.id, facts.action, facts, evaluation));
  return owed.length === 1 ? (owed[0] ?? []) : eachOnce(owed.flat());
}

/** A verdict that labels change: one that finds no room for them denies, and one that denies or asks by labels explains that. */
export function withLabels(
  gov: Pick<Decisions, 'runs'>,
  run: InRun,
  verdict: Verdict,
  owed: readonly OwedLabel[],
): Verdict {
  const refusal = owed.length === 0 ? undefined : refuseLabels(gov, run, owed);
  if (refusal === undefined) return explainedByLabels(gov, run, verdict);
  return { effect: 'deny', reason: refusal, rule: labelsRule, tier: 'control' };
}

/** A reason has room for so much. */
const longestReason = 1024;

interface LabelsOfRun {
  readonly runs: { readonly labels: Pick<Decisions['runs']['labels'], 'in'> };
}

/** One that denies or asks by labels says where they come from. */
export function explainedByLabels({ runs }: LabelsOfRun, run: InRun, verdict: Verdict): Verdict {
  if (verdict.readsLabels !== true) return verdict;
  const borne = runs.labels.in(run).map(({ name, since, opId, policyRule }) => {
    // Nothing gave one that somebody supposes.
    return opId === '' ? name : `${name} since ${timestamp(since)} (operation ${opId}, rule ${policyRule})`;
  });
  if (borne.length === 0) return verdict;
  return { ...verdict, reason: shortened(`${verdict.reason}; this run bears ${borne.join(', ')}`, longestReason) };
}
