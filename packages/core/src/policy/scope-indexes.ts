import type { ActionType } from '../action/action.ts';
import type { Facts } from './condition.ts';
import type { Effect, PolicyDocument } from './document.ts';
import type { Evaluation } from './evaluation.ts';
import { describeScope } from './policy-scope.ts';
import type { CompiledRule } from './rule-index.ts';
import { strongestFirst } from './rule-index.ts';
import type { RuleChunk } from './rule-chunks.ts';
import { chunksOf } from './rule-chunks.ts';

/** What matters of the rules that match: the strongest, and all that ask where that is one of them. */
export interface FoundRules {
  readonly strongest: CompiledRule;
  /** In the order of all documents. */
  readonly asking: readonly CompiledRule[];
}

/** The enforced documents of each scope, with an index of their rules. */
export class ScopeIndexes {
  readonly #byScope = new Map<string, readonly RuleChunk[]>();
  readonly #ranks: ReadonlyMap<PolicyDocument, number>;

  /** What is the same as before is not indexed again: a change of one tenant's document costs no more than that. */
  constructor(documents: readonly PolicyDocument[], before?: ScopeIndexes) {
    this.#ranks = new Map(documents.map((document, rank) => [document, rank]));
    const groups = Map.groupBy(documents, ({ scope }) => describeScope(scope));
    for (const [scope, group] of groups) {
      const known = before === undefined ? undefined : before.#byScope.get(scope);
      this.#byScope.set(scope, chunksOf(group, known));
    }
  }

  has(scope: string): boolean {
    return this.#byScope.has(scope);
  }

  /** What decides: of the rules that match the strongest, and of these the first in the order of all documents. */
  look(scopes: readonly string[], type: ActionType, facts: Facts, evaluation: Evaluation): FoundRules | undefined {
    for (const effect of strongestFirst) {
      if (effect === 'require_approval') {
        const asking = this.#asking(scopes, type, facts, evaluation);
        const [strongest] = asking;
        if (strongest !== undefined) return { strongest, asking };
        continue;
      }
      const strongest = this.#first(effect, scopes, type, facts, evaluation);
      if (strongest !== undefined) return { strongest, asking: [] };
    }
    return undefined;
  }

  #first(
    effect: Effect,
    scopes: readonly string[],
    type: ActionType,
    facts: Facts,
    evaluation: Evaluation,
  ): CompiledRule | undefined {
    let winner: CompiledRule | undefined;
    for (const scope of scopes) {
      const found = firstOf(this.#byScope.get(scope), effect, type, facts, evaluation);
      // A rule that could be judged is told rather than one that could not.
      const counts = winner === undefined || (!evaluation.isSpent && this.#comesBefore(found, winner));
      if (found !== undefined && counts) winner = found;
    }
    return winner;
  }

  /** All rules that ask count together: none of them makes the terms of another weaker. */
  #asking(scopes: readonly string[], type: ActionType, facts: Facts, evaluation: Evaluation): readonly CompiledRule[] {
    let asking: readonly CompiledRule[] = [];
    for (const scope of scopes) {
      for (const { rules } of this.#byScope.get(scope) ?? []) {
        const found = rules.all('require_approval', type, facts, evaluation);
        if (found.length > 0) asking = asking.length === 0 ? found : [...asking, ...found];
      }
    }
    return asking.length < 2 ? asking : asking.toSorted((a, b) => this.#rank(a) - this.#rank(b) || a.order - b.order);
  }

  #comesBefore(rule: CompiledRule | undefined, other: CompiledRule): boolean {
    return rule !== undefined && this.#rank(rule) < this.#rank(other);
  }

  #rank({ document }: CompiledRule): number {
    return this.#ranks.get(document) ?? 0;
  }
}

/** Chunks are in the order of their documents. */
function firstOf(
  chunks: readonly RuleChunk[] | undefined,
  effect: Effect,
  type: ActionType,
  facts: Facts,
  evaluation: Evaluation,
): CompiledRule | undefined {
  for (const { rules } of chunks ?? []) {
    const found = rules.first(effect, type, facts, evaluation);
    if (found !== undefined) return found;
  }
  return undefined;
}
