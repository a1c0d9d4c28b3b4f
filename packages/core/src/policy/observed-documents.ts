import type { ActionType } from '../action/index.ts';
import type { Facts, Evaluation } from './condition.ts';
import type { Effect, PolicyDocument } from './document.ts';
import type { CompiledRule } from './rule-index.ts';
import { RuleIndex, strongestFirst } from './rule-index.ts';
import { describeScope } from './document.ts';

/** What an observed document would have decided, if it differs from the decision. */
export interface Observed {
  readonly document: string;
  /** `<document>/<rule>`: the strongest matching rule. */
  readonly rule: string;
  readonly effect: Effect;
}

/** The documents that decide nothing, each judged by itself. */
export class ObservedDocuments {
  readonly #byScope = new Map<string, { readonly name: string; readonly rules: RuleIndex }[]>();

  private constructor(documents: readonly PolicyDocument[]) {
    for (const document of documents) {
      const key = describeScope(document.scope);
      const others = this.#byScope.get(key);
      const made = { name: document.name, rules: indexOf(document) };
      if (others === undefined) this.#byScope.set(key, [made]);
      else others.push(made);
    }
  }

  /** Undefined if no document is observed, which then costs nothing. */
  static of(documents: readonly PolicyDocument[]): ObservedDocuments | undefined {
    const observed = documents.filter(({ mode }) => mode === 'observe');
    return observed.length === 0 ? undefined : new ObservedDocuments(observed);
  }

  /** Those that differ from `decided`; undefined if none does. */
  against(
    decided: Effect,
    scopes: readonly string[],
    type: ActionType,
    facts: Facts,
    evaluation: Evaluation,
  ): readonly Observed[] | undefined {
    let found: Observed[] | undefined;
    for (const scope of scopes) {
      for (const { name, rules } of this.#byScope.get(scope) ?? []) {
        const strongest = strongestOf(rules, type, facts, evaluation);
        if (strongest === undefined || strongest.effect === decided) continue;
        found ??= [];
        found.push({ document: name, rule: strongest.id, effect: strongest.effect });
      }
    }
    return found;
  }
}

/** Documents never change, so each gets its index once. */
const indexes = new WeakMap<PolicyDocument, RuleIndex>();

function indexOf(document: PolicyDocument): RuleIndex {
  const known = indexes.get(document);
  if (known !== undefined) return known;
  const { name, rules } = document;
  const made = new RuleIndex(
    rules.map((rule, order) => {
      return { order, id: `${name}/${rule.name}`, effect: rule.effect, reason: '', rule, document };
    }),
  );
  indexes.set(document, made);
  return made;
}

function strongestOf(
  rules: RuleIndex,
  type: ActionType,
  facts: Facts,
  evaluation: Evaluation,
): CompiledRule | undefined {
  for (const effect of strongestFirst) {
    const found = rules.first(effect, type, facts, evaluation);
    if (found !== undefined) return found;
  }
  return undefined;
}
