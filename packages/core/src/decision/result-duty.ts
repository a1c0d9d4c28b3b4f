import type { Action } from '../action/index.ts';
import type { ResultDuty } from '../ops/index.ts';
import type { PolicySet } from '../policy/index.ts';
import { Evaluation, labelsOfRules, subjectOf } from '../policy/index.ts';
import type { Agent } from '../tenancy/index.ts';

/** For whom a call is made, as matchers see them. */
type Behalf = Parameters<typeof subjectOf>[1];

/**
 * Whether any rule on results could match what a call brings back: of the agent, or of one on whose behalf it acts, who
 * are the `parties`. Null if not: then nobody need ask.
 */
export function resultDutyOf(
  policies: Pick<PolicySet, 'hasResultRules' | 'resultRulesFor'>,
  parties: readonly Pick<Agent, 'record'>[],
  action: Action,
  user: Behalf,
): ResultDuty | null {
  if (!policies.hasResultRules) return null;
  const evaluation = new Evaluation(subjectOf(action, user));
  const fitting = parties.flatMap(({ record }) => policies.resultRulesFor(record.id, action, evaluation));
  return fitting.length === 0 ? null : { judged: false, unjudged: labelsOfRules(fitting) };
}
