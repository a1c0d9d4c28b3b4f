import type { ActionType } from '../decision/action.ts';
import type { Facts } from './condition.ts';
import type { Effect, PolicyDocument } from './document.ts';
import type { Evaluation } from './evaluation.ts';
import { describeScope } from './parse-scope.ts';
import type { CompiledRule } from './rule-index.ts';
import { RuleIndex, strongestFirst } from './rule-index.ts';

interface ScopeIndex {
  readonly documents: readonly PolicyDocument[];
  readonly rules: RuleIndex;
}

/** The enforced documents of each scope, with an index of their rules. */
export class ScopeIndexes {
  readonly #byScope = new Map<string, ScopeIndex>();
  readonly #ranks: ReadonlyMap<PolicyDocument, number>;

  /** What is the same as before is not indexed again: a change of one tenant's document costs no more than that. */
  constructor(documents: readonly PolicyDocument[], before?: ScopeIndexes) {
    this.#ranks = new Map(documents.map((document, rank) => [document, rank]));
    const groups = Map.groupBy(documents, ({ scope }) => describeScope(scope));
    for (const [scope, group] of groups) {
      const known = before === undefined ? undefined : before.#byScope.get(scope);
      const isSame =
        known?.documents.length === group.length && group.every((each, at) => each === known.documents[at]);
      this.#byScope.set(scope, isSame ? known : { documents: group, rules: new RuleIndex(compiled(group)) });
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
        const found = this.#byScope.get(scope)?.rules.first(effect, type, facts, evaluation);
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

function compiled(documents: readonly PolicyDocument[]): CompiledRule[] {
  let order = 0;
  return documents.flatMap((document) =>
    document.rules.map((rule) => {
      const id = `${document.name}/${rule.name}`;
      const reason = `${saying[rule.effect]} rule ${id}`;
      return { order: order++, id, effect: rule.effect, reason, rule, document };
    }),
  );
}

const saying: Readonly<Record<Effect, string>> = {
  allow: 'allowed by',
  deny: 'denied by',
  require_approval: 'approval required by',
};
