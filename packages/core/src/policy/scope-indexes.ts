import type { ActionType } from '../decision/action.ts';
import type { Facts } from './condition.ts';
import type { Effect, PolicyDocument } from './document.ts';
import type { Evaluation } from './evaluation.ts';
import { describeScope } from './parse-scope.ts';
import type { CompiledRule } from './rule-index.ts';
import { strongestFirst } from './rule-index.ts';
import type { RuleChunk } from './rule-chunks.ts';
import { chunksOf } from './rule-chunks.ts';

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

  /** The rule that decides: of those that match the strongest, and of these the first in the order of all documents. */
  strongest(
    scopes: readonly string[],
    type: ActionType,
    facts: Facts,
    evaluation: Evaluation,
  ): CompiledRule | undefined {
    for (const effect of strongestFirst) {
      let winner: CompiledRule | undefined;
      for (const scope of scopes) {
        const found = firstOf(this.#byScope.get(scope), effect, type, facts, evaluation);
        // A rule that could be judged is told rather than one that could not.
        const counts = winner === undefined || (!evaluation.isSpent && this.#comesBefore(found, winner));
        if (found !== undefined && counts) winner = found;
      }
      if (winner !== undefined) return winner;
    }
    return undefined;
  }

  #comesBefore(rule: CompiledRule | undefined, other: CompiledRule): boolean {
    const rank = (of: CompiledRule) => this.#ranks.get(of.document) ?? 0;
    return rule !== undefined && rank(rule) < rank(other);
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
