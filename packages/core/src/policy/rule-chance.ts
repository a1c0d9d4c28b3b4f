import type { Evaluation } from './condition.ts';
import { UnknownFact } from './condition.ts';
import type { PolicyRule } from './document.ts';
import { priceOfGlob, priceOfRule } from './rule-matching.ts';
import type { ToolFacts } from './tool-facts.ts';

/** Whether a rule matches the calls of a tool: all of them, none, or some for all that is known. */
export type Chance = 'always' | 'never' | 'sometimes';

/**
 * Judges a rule as decisions do, by what all calls of a tool have in common. A condition that needs more has a value
 * only if that value is the same whatever the rest turns out to be. As in decisions, a condition that fails counts as
 * matching for deny and require_approval. What cannot be told for its cost is left open.
 */
export function chanceOf(rule: PolicyRule, facts: ToolFacts, evaluation: Evaluation): Chance {
  const { effect, matchers, when } = rule;
  // A call may have no URL, and then no host. Nobody knows for whom it will be.
  const matching = matchers.hosts === undefined && matchers.users === undefined ? 'always' : 'sometimes';
  try {
    evaluation.charge(priceOfRule);
    if (!namesTool(rule, facts.action.tool, evaluation)) return 'never';
    return when === undefined || when(facts, evaluation) ? matching : 'never';
  } catch (error) {
    if (error instanceof UnknownFact || evaluation.isSpent) return 'sometimes';
    return effect === 'allow' ? 'never' : matching;
  }
}

function namesTool({ matchers }: PolicyRule, tool: string, { charge }: Evaluation): boolean {
  if (matchers.tools === undefined) return true;
  return matchers.tools.some((glob) => {
    charge(priceOfGlob);
    return glob.matches(tool, charge);
  });
}
