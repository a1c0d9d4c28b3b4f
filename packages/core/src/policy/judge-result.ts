import type { ActionType } from '../action/index.ts';
import type { AgentId } from '../kernel/index.ts';
import type { Mask } from '../masking/index.ts';
import type { Evaluation, ResultFacts } from './condition.ts';
import type { PromptRule, ResultEffect, ResultRule } from './document.ts';
import { scopesAbove } from './scopes-above.ts';
import type { CompiledRule } from './rule-index.ts';
import type { ScopeIndexes } from './scope-indexes.ts';

/** What the rules on results say about a result. */
export interface ResultVerdict {
  readonly effect: ResultEffect;
  readonly reason: string;
  /** `<document>/<rule>`: the first of those with this effect; `default` if no rule matches. */
  readonly rule: string;
  /** What is replaced, if that is the effect. Several masks add up. */
  readonly masks: readonly Mask[];
  /** The matching rules that let the result pass, masked or not. None if it is denied. */
  readonly passing: readonly CompiledRule<ResultRule>[];
}

const byDefault: ResultVerdict = {
  effect: 'allow',
  reason: 'no rule on results matches',
  rule: 'default',
  masks: [],
  passing: [],
};

/** Deny beats mask beats allow. Without a matching rule, a result is allowed. */
export function verdictOnResult(
  indexes: ScopeIndexes,
  agent: AgentId,
  type: ActionType,
  facts: ResultFacts,
  evaluation: Evaluation,
): ResultVerdict {
  const scopes = scopesAbove(agent);
  const matching = (effect: ResultEffect) => indexes.resultsMatching(effect, scopes, type, facts, evaluation);
  const [denying] = matching('deny');
  if (denying !== undefined) {
    return { effect: 'deny', reason: denying.reason, rule: denying.id, masks: [], passing: [] };
  }
  const masking = matching('mask');
  const passing = [...masking, ...matching('allow')];
  const [first] = passing;
  if (first === undefined) return byDefault;
  const masks = masking.flatMap(({ rule }) => rule.mask?.compiled ?? []);
  return { effect: first.effect, reason: first.reason, rule: first.id, masks, passing };
}

/** What is masked of a prompt. All masks add up, and none decides whether the call may happen. */
export function verdictOnPrompt(masking: readonly CompiledRule<PromptRule>[]): ResultVerdict {
  const [first] = masking;
  if (first === undefined) return { ...byDefault, reason: 'no rule masks this prompt' };
  const masks = masking.map(({ rule }) => rule.mask.compiled);
  return { effect: 'mask', reason: first.reason, rule: first.id, masks, passing: [] };
}
