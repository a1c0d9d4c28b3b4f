import type { ActionType } from '../action/index.ts';
import { Evaluation } from './condition.ts';
import type { PolicyDocument, PolicyRule } from './document.ts';
import { describeScope } from './document.ts';
import { canConcern } from './rule-index.ts';
import { fits } from './rule-matching.ts';
import { subjectOfTool } from './subject.ts';

/** The rules on calls whose conditions may read the labels of a run, of all enforced documents, by scope. */
export class LabelReaders {
  readonly #byScope = new Map<string, readonly PolicyRule[]>();

  constructor(documents: readonly PolicyDocument[]) {
    const reading = documents.filter((document) => readersIn(document).length > 0);
    for (const [scope, group] of Map.groupBy(reading, (document) => describeScope(document.scope))) {
      this.#byScope.set(scope, group.flatMap(readersIn));
    }
  }

  /** Whether labels may matter to a call of which only this is known. An undefined tool may be any. */
  mayConcern(scopes: readonly string[], type: ActionType, tool: string | undefined): boolean {
    if (this.#byScope.size === 0) return false;
    const evaluation = new Evaluation(subjectOfTool(tool));
    return scopes.some((scope) =>
      this.#byScope.get(scope)?.some((rule) => canConcern(rule.matchers, type) && fits(rule, evaluation)),
    );
  }
}

/** Documents never change, so each is looked through once. */
const known = new WeakMap<PolicyDocument, readonly PolicyRule[]>();

/** Whatever their effect, they are looked at as rules that deny: what nobody can read counts as theirs. */
function readersIn(document: PolicyDocument): readonly PolicyRule[] {
  const made =
    known.get(document) ??
    document.rules.flatMap((rule) => (rule.when?.readsLabels === true ? [{ ...rule, effect: 'deny' as const }] : []));
  known.set(document, made);
  return made;
}
