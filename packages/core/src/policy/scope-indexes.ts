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

/** What matters of the rules that match: the strongest, and all that ask where that is one of them. */
export interface FoundRules {
  readonly strongest: CompiledRule;
  /** In the order of all documents. */
  readonly asking: readonly CompiledRule[];
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
      const found = this.#byScope.get(scope)?.rules.first(effect, type, facts, evaluation);
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
      const found = this.#byScope.get(scope)?.rules.all('require_approval', type, facts, evaluation) ?? [];
      if (found.length > 0) asking = [...asking, ...found];
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
