import type { ActionType } from '../decision/action.ts';
import type { Facts } from './condition.ts';
import type { Effect, PolicyDocument } from './document.ts';
import { nothingFound, RuleIndex } from './rule-index.ts';
import { describeScope } from './parse-scope.ts';
import type { Subject } from './subject.ts';

/** What an observed document would have done: otherwise than was decided. */
export interface Observed {
  readonly document: string;
  /** `<document>/<rule>`: of the rules that match, the strongest. */
  readonly rule: string;
  readonly effect: Effect;
}

/** The documents that decide nothing, each judged by itself. */
export class ObservedDocuments {
  readonly #byScope = new Map<string, { readonly name: string; readonly rules: RuleIndex }[]>();

  private constructor(documents: readonly PolicyDocument[]) {
    for (const { name, scope, rules } of documents) {
      const compiled = rules.map((rule, order) => {
        const { effect } = rule;
        return { order, id: `${name}/${rule.name}`, effect, reason: '', tier: scope.tier, rule };
      });
      const key = describeScope(scope);
      const others = this.#byScope.get(key) ?? [];
      this.#byScope.set(key, [...others, { name, rules: new RuleIndex(compiled) }]);
    }
  }

  /** Undefined where no document is observed, so that nothing is done for them. */
  static of(documents: readonly PolicyDocument[]): ObservedDocuments | undefined {
    const observed = documents.filter(({ mode }) => mode === 'observe');
    return observed.length === 0 ? undefined : new ObservedDocuments(observed);
  }

  /** Those that say otherwise than `decided`; undefined where none does. */
  against(
    decided: Effect,
    scopes: readonly string[],
    type: ActionType,
    subject: Subject,
    facts: Facts,
  ): readonly Observed[] | undefined {
    let found: Observed[] | undefined;
    for (const scope of scopes) {
      for (const { name, rules } of this.#byScope.get(scope) ?? []) {
        const looked = nothingFound();
        rules.look(type, subject, facts, looked);
        const { strongest } = looked;
        if (strongest === undefined || strongest.effect === decided) continue;
        found ??= [];
        found.push({ document: name, rule: strongest.id, effect: strongest.effect });
      }
    }
    return found;
  }
}
