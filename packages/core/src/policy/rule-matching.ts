import type { Glob } from '../kernel/index.ts';
import { messageOf } from '../kernel/index.ts';
import type { Evaluation } from './condition.ts';
import type { PolicyRule, PromptRule, ResultRule } from './document.ts';
import type { Dimension, Unclear } from './subject.ts';
import { allDimensions, isUnclear, textsOf } from './subject.ts';

/** A rule on calls, on results, or on prompts. */
export type AnyRule = PolicyRule | ResultRule | PromptRule;

/** What the conditions of such rules read. */
export type FactsOf<Rule extends AnyRule> = Parameters<NonNullable<Rule['when']>>[0];

export const priceOfRule = 5;
export const priceOfGlob = 5;

/**
 * Whether all matchers and the condition hold. A rule that fails, or costs more than is left, counts as matching if
 * that is the safe side: for all but allow.
 */
export function matches<Rule extends AnyRule>(rule: Rule, facts: FactsOf<Rule>, evaluation: Evaluation): boolean {
  try {
    return matchersHold(rule, evaluation) && holds(rule, facts, evaluation);
  } catch {
    return rule.effect !== 'allow';
  }
}

/** Whether the condition holds, if there is one. It throws as conditions do. */
export function holds<Rule extends AnyRule>(rule: Rule, facts: FactsOf<Rule>, evaluation: Evaluation): boolean {
  const when = rule.when as ((facts: FactsOf<Rule>, evaluation: Evaluation) => boolean) | undefined;
  return when === undefined || when(facts, evaluation);
}

/** Why nobody can judge whether a rule matches that counts as matching. Undefined if it does match. */
export function whyUnclear(rule: PolicyRule, facts: FactsOf<PolicyRule>, evaluation: Evaluation): string | undefined {
  try {
    if (matchersHold({ ...rule, effect: 'allow' }, evaluation) && holds(rule, facts, evaluation)) return undefined;
    return 'what its matchers look at cannot be read';
  } catch (error) {
    return messageOf(error);
  }
}

/** Whether all matchers hold. One that costs more than is left counts as holding: the rule could match. */
export function fits(rule: AnyRule, evaluation: Evaluation): boolean {
  try {
    return matchersHold(rule, evaluation);
  } catch {
    return true;
  }
}

function matchersHold({ matchers, effect }: AnyRule, evaluation: Evaluation): boolean {
  evaluation.charge(priceOfRule);
  for (const dimension of allDimensions) {
    const globs = matchers[dimension];
    if (globs !== undefined && !anyMatches(effect, globs, dimension, evaluation)) return false;
  }
  return true;
}

function anyMatches(
  effect: AnyRule['effect'],
  globs: readonly Glob[],
  dimension: Dimension,
  { subject, charge }: Evaluation,
): boolean {
  if (isUnclear(subject, dimension)) return effect !== 'allow' || namesUnclear(globs, subject.unclear);
  for (const text of textsOf(subject, dimension)) {
    for (const glob of globs) {
      charge(priceOfGlob);
      if (glob.matches(text, charge)) return true;
    }
  }
  return false;
}

/** Only a rule that names an unreadable text literally allows it. */
export function namesUnclear(globs: readonly Glob[], unclear: Unclear | null): boolean {
  const text = unclear?.text ?? null;
  return text !== null && globs.some((glob) => glob.literal && glob.matches(text));
}

/** Whether the rule names the host of the action itself. A host that nobody can read is named by nobody. */
export function namesHost({ matchers }: PolicyRule, { subject: { host } }: Evaluation): boolean {
  return host !== null && matchers.hosts?.some((glob) => glob.literal && glob.matches(host)) === true;
}
