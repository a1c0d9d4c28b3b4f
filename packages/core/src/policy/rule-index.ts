import type { ActionType } from '../action/index.ts';
import { actionTypes } from '../action/index.ts';
import type { Effect, Matchers, PolicyDocument, PolicyRule } from './document.ts';
import { effects } from './document.ts';
import type { Evaluation } from './condition.ts';
import type { AnyRule, FactsOf } from './rule-matching.ts';
import { fits, matches } from './rule-matching.ts';
import type { Dimension } from './subject.ts';
import { allDimensions, textsOf } from './subject.ts';

/** A rule with what is known about it at load time. */
export interface CompiledRule<Rule extends AnyRule = PolicyRule> {
  /** The place of the rule in its index. Among matching rules with the same effect, the first is reported. */
  readonly order: number;
  /** `<document>/<rule>` */
  readonly id: string;
  readonly effect: Rule['effect'];
  readonly reason: string;
  readonly rule: Rule;
  readonly document: PolicyDocument;
}

/**
 * The dimensions that an action can have, most telling first. A rule is indexed by the first that it has. Any action may
 * have a user; rules are not indexed by that.
 */
const dimensionsOf: Readonly<Record<ActionType, readonly Dimension[]>> = {
  llm_call: ['models'],
  tool_call: ['tools', 'hosts'],
  tool_result: ['tools', 'hosts'],
  file_operation: ['paths'],
  network_call: ['hosts'],
  process_exec: ['commands'],
  agent_spawn: ['commands'],
};

/** The rules that are found by one dimension. */
interface Bucket<Rule extends AnyRule> {
  readonly dimension: Dimension;
  readonly exact: Map<string, CompiledRule<Rule>[]>;
  /** By the length of the globs' literal prefix, then by the prefix itself. */
  readonly prefixed: Prefixes<Rule>[];
}

interface Prefixes<Rule extends AnyRule> {
  readonly length: number;
  readonly rules: Map<string, CompiledRule<Rule>[]>;
}

interface ActionIndex<Rule extends AnyRule> {
  readonly buckets: Bucket<Rule>[];
  readonly always: CompiledRule<Rule>[];
  /** Rules in the buckets that are not judged as ones that allow. What nobody can read counts as theirs. */
  readonly wary: CompiledRule<Rule>[];
}

/** Longer prefixes are cut: there are as many look-ups as there are lengths. */
const longestPrefix = 64;

/**
 * Finds rules by what they are about instead of one after the other: by effect and action, then by the literal text or
 * literal prefix of their globs. A thousand documents about other tools cost one look-up, not a thousand comparisons.
 */
export class RuleIndex<Rule extends AnyRule = PolicyRule> {
  readonly #byEffect: ReadonlyMap<Rule['effect'], ReadonlyMap<ActionType, ActionIndex<Rule>>>;

  constructor(rules: readonly CompiledRule<Rule>[]) {
    const byEffect = Map.groupBy(rules, ({ effect }) => effect);
    this.#byEffect = new Map([...byEffect].map(([effect, group]) => [effect, indexByAction(group)]));
  }

  /** The first matching rule with this effect. */
  first(
    effect: Rule['effect'],
    type: ActionType,
    facts: FactsOf<Rule>,
    evaluation: Evaluation,
  ): CompiledRule<Rule> | undefined {
    let first: CompiledRule<Rule> | undefined;
    this.#visit(effect, type, evaluation, (rules) => {
      first = firstOf(rules, facts, evaluation, first);
    });
    return first;
  }

  /** All matching rules with this effect, each once, in no particular order. */
  all(
    effect: Rule['effect'],
    type: ActionType,
    facts: FactsOf<Rule>,
    evaluation: Evaluation,
  ): readonly CompiledRule<Rule>[] {
    return this.#those(effect, type, evaluation, (rule) => matches(rule, facts, evaluation));
  }

  /** All rules whose matchers hold, whatever their condition, each once, in no particular order. */
  fitting(type: ActionType, evaluation: Evaluation): readonly CompiledRule<Rule>[] {
    return [...this.#byEffect.keys()].flatMap((effect) =>
      this.#those(effect, type, evaluation, (rule) => fits(rule, evaluation)),
    );
  }

  #those(
    effect: Rule['effect'],
    type: ActionType,
    evaluation: Evaluation,
    counts: (rule: Rule) => boolean,
  ): readonly CompiledRule<Rule>[] {
    if (this.#byEffect.get(effect)?.has(type) !== true) return none;
    const found: CompiledRule<Rule>[] = [];
    const seen = new Set<CompiledRule<Rule>>();
    this.#visit(effect, type, evaluation, (rules) => {
      for (const rule of rules) {
        if (seen.has(rule)) continue;
        seen.add(rule);
        if (counts(rule.rule)) found.push(evaluation.isSpent ? unjudged(rule) : rule);
      }
    });
    return found;
  }

  /** Visits the lists of rules that may match. A rule with several globs may be in several lists. */
  #visit(
    effect: Rule['effect'],
    type: ActionType,
    { subject }: Evaluation,
    visit: (rules: readonly CompiledRule<Rule>[]) => void,
  ): void {
    const index = this.#byEffect.get(effect)?.get(type);
    if (index === undefined) return;
    if (index.always.length > 0) visit(index.always);
    if (subject.unclear !== null) {
      const { dimensions, text } = subject.unclear;
      if (index.wary.length > 0) visit(index.wary);
      for (const dimension of dimensions) visit(bucketOf(index, dimension)?.exact.get(text ?? '') ?? none);
    }
    for (const bucket of index.buckets) {
      for (const text of textsOf(subject, bucket.dimension)) visitNaming(bucket, text, visit);
    }
  }

  /**
   * Whether `test` holds for any rule with this effect that calls of the tool may meet. Rules found by a host are tried
   * only if `anyHost` says so: no such rule is met by every call. A rule may be tried more than once.
   */
  someOfTool(
    effect: Rule['effect'],
    tool: string,
    anyHost: boolean,
    test: (rule: CompiledRule<Rule>) => boolean,
  ): boolean {
    const index = this.#byEffect.get(effect)?.get('tool_call');
    if (index === undefined) return false;
    if (index.always.some(test)) return true;
    let found = false;
    const byTool = bucketOf(index, 'tools');
    if (byTool !== undefined) visitNaming(byTool, tool, (rules) => (found ||= rules.some(test)));
    const byHost = anyHost ? bucketOf(index, 'hosts') : undefined;
    if (byHost === undefined || found) return found;
    const lists = [byHost.exact, ...byHost.prefixed.map(({ rules }) => rules)];
    return lists.some((list) => [...list.values()].some((rules) => rules.some(test)));
  }
}

const none: readonly never[] = [];

/** Visits the lists of rules whose globs may match the text. */
function visitNaming<Rule extends AnyRule>(
  bucket: Bucket<Rule>,
  text: string,
  visit: (rules: readonly CompiledRule<Rule>[]) => void,
): void {
  const exact = bucket.exact.get(text);
  if (exact !== undefined) visit(exact);
  for (const { length, rules } of bucket.prefixed) {
    const prefixed = length <= text.length ? rules.get(text.slice(0, length)) : undefined;
    if (prefixed !== undefined) visit(prefixed);
  }
}

/** Which effect beats which. */
export const strength: Readonly<Record<Effect, number>> = { allow: 1, require_approval: 2, deny: 3 };

/**
 * The effects, strongest first. Rules are tried in this order, so that the cost of weaker ones takes nothing from those
 * that would have decided.
 */
export const strongestFirst: readonly Effect[] = effects.toSorted((one, other) => strength[other] - strength[one]);

/** The lists are in order, so nothing after the first match matters. */
function firstOf<Rule extends AnyRule>(
  rules: readonly CompiledRule<Rule>[],
  facts: FactsOf<Rule>,
  evaluation: Evaluation,
  best: CompiledRule<Rule> | undefined,
): CompiledRule<Rule> | undefined {
  for (const rule of rules) {
    if (best !== undefined && rule.order >= best.order) return best;
    if (matches(rule.rule, facts, evaluation)) return evaluation.isSpent ? unjudged(rule) : rule;
  }
  return best;
}

/** A rule that counts as matching because the cost limit was reached before it could be tried. */
function unjudged<Rule extends AnyRule>(rule: CompiledRule<Rule>): CompiledRule<Rule> {
  return { ...rule, reason: `${rule.reason}, as judging the rules of this action costs more than one decision may` };
}

/** Whether an action of this type can have everything that the matchers ask for. */
export function canConcern(matchers: Matchers, type: ActionType): boolean {
  if (matchers.actions !== undefined && !matchers.actions.has(type)) return false;
  return allDimensions.every(
    (dimension) => matchers[dimension] === undefined || dimension === 'users' || dimensionsOf[type].includes(dimension),
  );
}

function indexByAction<Rule extends AnyRule>(
  rules: readonly CompiledRule<Rule>[],
): ReadonlyMap<ActionType, ActionIndex<Rule>> {
  const byAction = new Map<ActionType, ActionIndex<Rule>>();
  for (const type of actionTypes) {
    const index: ActionIndex<Rule> = { buckets: [], always: [], wary: [] };
    const concerned = rules.filter(({ rule }) => canConcern(rule.matchers, type));
    for (const rule of concerned) add(index, rule, type);
    if (concerned.length > 0) byAction.set(type, index);
  }
  return byAction;
}

function bucketOf<Rule extends AnyRule>(index: ActionIndex<Rule>, dimension: Dimension): Bucket<Rule> | undefined {
  return index.buckets.find((bucket) => bucket.dimension === dimension);
}

function add<Rule extends AnyRule>(index: ActionIndex<Rule>, rule: CompiledRule<Rule>, type: ActionType): void {
  const dimension = dimensionsOf[type].find((candidate) => rule.rule.matchers[candidate] !== undefined);
  const globs = dimension === undefined ? undefined : rule.rule.matchers[dimension];
  if (dimension === undefined || globs === undefined || globs.some((glob) => glob.prefix === '' && !glob.literal)) {
    index.always.push(rule);
    return;
  }
  let bucket = bucketOf(index, dimension);
  if (bucket === undefined) {
    bucket = { dimension, exact: new Map(), prefixed: [] };
    index.buckets.push(bucket);
  }
  if (rule.rule.effect !== 'allow') index.wary.push(rule);
  for (const glob of globs) {
    const prefix = glob.prefix.slice(0, longestPrefix);
    if (glob.literal) push(bucket.exact, glob.prefix, rule);
    else push(prefixesOf(bucket, prefix.length), prefix, rule);
  }
}

function prefixesOf<Rule extends AnyRule>(bucket: Bucket<Rule>, length: number): Map<string, CompiledRule<Rule>[]> {
  let prefixes = bucket.prefixed.find((known) => known.length === length);
  if (prefixes === undefined) {
    prefixes = { length, rules: new Map() };
    bucket.prefixed.push(prefixes);
  }
  return prefixes.rules;
}

function push<Rule extends AnyRule>(
  map: Map<string, CompiledRule<Rule>[]>,
  key: string,
  rule: CompiledRule<Rule>,
): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [rule]);
  else if (list.at(-1) !== rule) list.push(rule);
}
