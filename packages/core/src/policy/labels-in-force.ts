import type { ActionType } from '../action/index.ts';
import type { OwedLabel } from '../runs/index.ts';
import { eachOnce, noLabels } from '../runs/index.ts';
import type { Evaluation, Facts } from './condition.ts';
import type { PolicyDocument, RuleLabels } from './document.ts';
import { describeScope } from './document.ts';
import type { CompiledRule } from './rule-index.ts';
import { RuleIndex } from './rule-index.ts';

/** A rule, as far as it gives labels. */
interface LabellingRule {
  readonly id: string;
  readonly rule: { readonly labels?: RuleLabels };
}

/**
 * A label is a restriction of what comes later. So a rule that cannot be judged gives its labels, as one that asks for approval
 * would count: whoever makes a condition fail must not get away without them.
 */
const asJudged = 'require_approval';

/** The rules on calls that give labels, of all enforced documents, by scope. */
export class LabelsInForce {
  readonly #byScope = new Map<string, RuleIndex>();

  constructor(documents: readonly PolicyDocument[]) {
    const labelled = documents.filter((document) => labellingRules(document).length > 0);
    for (const [scope, group] of Map.groupBy(labelled, (document) => describeScope(document.scope))) {
      const rules = group.flatMap(labellingRules).map((rule, order) => ({ ...rule, order }));
      this.#byScope.set(scope, new RuleIndex(rules));
    }
  }

  /** What the matching rules give, each label of a bearer once, by the first rule, of the widest scope first. */
  of(scopes: readonly string[], type: ActionType, facts: Facts, evaluation: Evaluation): readonly OwedLabel[] {
    if (this.#byScope.size === 0) return noLabels;
    const found: CompiledRule[] = [];
    for (const scope of scopes) {
      const rules = this.#byScope.get(scope)?.all(asJudged, type, facts, evaluation);
      if (rules !== undefined) found.push(...rules.toSorted((a, b) => a.order - b.order));
    }
    return labelsOfRules(found);
  }
}

/** What rules give, whatever they are about. */
export function labelsOfRules(rules: readonly LabellingRule[]): readonly OwedLabel[] {
  if (rules.length === 0) return noLabels;
  const [first] = rules;
  return rules.length === 1 && first !== undefined ? labelsOfRule(first) : eachOnce(rules.flatMap(labelsOfRule));
}

/** What rules give, by what they say of labels and their ids. */
const given = new WeakMap<RuleLabels, { readonly id: string; readonly labels: readonly OwedLabel[] }>();

/** The same objects with every call, so that whoever writes them can remember their text. */
function labelsOfRule({ id, rule }: LabellingRule): readonly OwedLabel[] {
  if (rule.labels === undefined) return noLabels;
  const known = given.get(rule.labels);
  if (known?.id === id) return known.labels;
  const { names, of } = rule.labels;
  const labels = eachOnce(names.map((name) => ({ name, of, policyRule: id })));
  given.set(rule.labels, { id, labels });
  return labels;
}

/** Documents never change, so each is looked through once. */
const known = new WeakMap<PolicyDocument, readonly CompiledRule[]>();

function labellingRules(document: PolicyDocument): readonly CompiledRule[] {
  const made = known.get(document) ?? document.rules.flatMap((rule) => labellingRule(document, rule));
  known.set(document, made);
  return made;
}

function labellingRule(document: PolicyDocument, rule: PolicyDocument['rules'][number]): CompiledRule[] {
  // What a rule denies gives nothing.
  if (rule.labels === undefined || rule.effect === 'deny') return [];
  const judged = { ...rule, effect: asJudged } as const;
  return [{ order: 0, id: `${document.name}/${rule.name}`, effect: asJudged, reason: '', rule: judged, document }];
}
