import type { ActionType } from '../decision/action.ts';
import { actionTypes } from '../decision/action.ts';
import type { Glob } from './glob.ts';
import type { Effect, Matchers, PolicyRule, Scope } from './document.ts';
import type { Facts } from './condition.ts';
import type { Dimension, Subject, Unclear } from './subject.ts';
import { textsOf } from './subject.ts';

/** A rule with what is known of it at load time. */
export interface CompiledRule {
  /** Its place among all rules; of two that match with the same effect, the first is reported. */
  readonly order: number;
  /** `<document>/<rule>` */
  readonly id: string;
  readonly effect: Effect;
  readonly reason: string;
  readonly tier: Scope['tier'];
  readonly rule: PolicyRule;
}

/** Which dimensions an action can have, the most telling first: rules are indexed by it. */
const dimensionsOf: Readonly<Record<ActionType, readonly Dimension[]>> = {
  llm_call: ['models'],
  tool_call: ['tools', 'hosts'],
  tool_result: ['tools', 'hosts'],
  file_operation: ['paths'],
  network_call: ['hosts'],
  process_exec: ['commands'],
  agent_spawn: ['commands'],
};

const allDimensions: readonly Dimension[] = ['tools', 'models', 'hosts', 'paths', 'commands'];

interface Bucket {
  readonly exact: Map<string, CompiledRule[]>;
  /** By the length of the globs' literal prefix, then by the prefix itself. */
  readonly prefixed: Map<number, Map<string, CompiledRule[]>>;
}

interface ActionIndex {
  readonly buckets: Map<Dimension, Bucket>;
  readonly always: CompiledRule[];
  /** Those of the buckets that deny or ask: they count what cannot be read as theirs. */
  readonly wary: CompiledRule[];
}

/**
 * Rules found by what they are about instead of one after the other: by action, then by the literal text or literal
 * prefix of their globs. A thousand documents about other tools cost one look-up, not a thousand comparisons.
 */
export class RuleIndex {
  readonly #byAction = new Map<ActionType, ActionIndex>();

  constructor(rules: readonly CompiledRule[]) {
    for (const type of actionTypes) {
      const index: ActionIndex = { buckets: new Map(), always: [], wary: [] };
      for (const rule of rules) if (canConcern(rule.rule.matchers, type)) add(index, rule, type);
      this.#byAction.set(type, index);
    }
  }

  /** Adds the rules that match and matter to what is found so far. */
  look(type: ActionType, subject: Subject, facts: Facts, found: FoundRules): void {
    const index = this.#byAction.get(type);
    if (index === undefined) return;
    lookAmong(index.always, subject, facts, found);
    if (subject.unclear !== null) {
      const { dimension, text } = subject.unclear;
      lookAmong(index.wary, subject, facts, found);
      lookAmong(index.buckets.get(dimension)?.exact.get(text), subject, facts, found);
    }
    for (const [dimension, bucket] of index.buckets) {
      for (const text of textsOf(subject, dimension)) {
        lookAmong(bucket.exact.get(text), subject, facts, found);
        for (const [length, byPrefix] of bucket.prefixed) {
          if (length <= text.length) lookAmong(byPrefix.get(text.slice(0, length)), subject, facts, found);
        }
      }
    }
  }
}

/** What matters of the rules that match: the strongest, and all that ask while nothing stronger is found. */
export interface FoundRules {
  strongest: CompiledRule | undefined;
  asking: Set<CompiledRule> | undefined;
}

export function nothingFound(): FoundRules {
  return { strongest: undefined, asking: undefined };
}

/** Which effect beats which. */
export const strength: Readonly<Record<Effect, number>> = { allow: 1, require_approval: 2, deny: 3 };

function lookAmong(
  rules: readonly CompiledRule[] | undefined,
  subject: Subject,
  facts: Facts,
  found: FoundRules,
): void {
  if (rules === undefined) return;
  for (const rule of rules) {
    if (!matters(rule, found) || !matches(rule.rule, subject, facts)) continue;
    if (rule.effect === 'require_approval') {
      found.asking ??= new Set();
      found.asking.add(rule);
    }
    if (isStronger(rule, found.strongest)) found.strongest = rule;
  }
}

/** All that ask count, each once; of others only one that would be the strongest. */
function matters(rule: CompiledRule, { strongest, asking }: FoundRules): boolean {
  if (isStronger(rule, strongest)) return true;
  return rule.effect === 'require_approval' && strongest?.effect === 'require_approval' && asking?.has(rule) !== true;
}

function isStronger(rule: CompiledRule, than: CompiledRule | undefined): boolean {
  if (than === undefined) return true;
  const difference = strength[rule.effect] - strength[than.effect];
  return difference === 0 ? rule.order < than.order : difference > 0;
}

/** Whether all matchers and the condition hold. */
export function matches(rule: PolicyRule, subject: Subject, facts: Facts): boolean {
  for (const dimension of allDimensions) {
    const globs = rule.matchers[dimension];
    if (globs !== undefined && !anyMatches(rule.effect, globs, subject, dimension)) return false;
  }
  return rule.when === undefined || holds(rule, rule.when, facts);
}

function anyMatches(effect: Effect, globs: readonly Glob[], subject: Subject, dimension: Dimension): boolean {
  const { unclear } = subject;
  if (unclear?.dimension === dimension) return effect !== 'allow' || namesUnclear(globs, unclear);
  return textsOf(subject, dimension).some((text) => globs.some((glob) => glob.matches(text)));
}

/** What cannot be read is allowed only by a rule that has it word by word. */
export function namesUnclear(globs: readonly Glob[], { text }: Unclear): boolean {
  return globs.some((glob) => glob.literal && glob.matches(text));
}

/** A condition that errors counts as matching where that is the safe side: for deny and require_approval. */
function holds(rule: PolicyRule, when: NonNullable<PolicyRule['when']>, facts: Facts): boolean {
  try {
    return when(facts);
  } catch {
    return rule.effect !== 'allow';
  }
}

/** Whether an action of this type can have all that the matchers ask for. */
export function canConcern(matchers: Matchers, type: ActionType): boolean {
  if (matchers.actions !== undefined && !matchers.actions.has(type)) return false;
  return allDimensions.every(
    (dimension) => matchers[dimension] === undefined || dimensionsOf[type].includes(dimension),
  );
}

function add(index: ActionIndex, rule: CompiledRule, type: ActionType): void {
  const dimension = dimensionsOf[type].find((candidate) => rule.rule.matchers[candidate] !== undefined);
  const globs = dimension === undefined ? undefined : rule.rule.matchers[dimension];
  if (dimension === undefined || globs === undefined || globs.some((glob) => glob.prefix === '' && !glob.literal)) {
    index.always.push(rule);
    return;
  }
  let bucket = index.buckets.get(dimension);
  if (bucket === undefined) {
    bucket = { exact: new Map(), prefixed: new Map() };
    index.buckets.set(dimension, bucket);
  }
  if (rule.effect !== 'allow') index.wary.push(rule);
  for (const glob of globs) {
    if (glob.literal) push(bucket.exact, glob.prefix, rule);
    else push(prefixesOf(bucket, glob.prefix.length), glob.prefix, rule);
  }
}

function prefixesOf(bucket: Bucket, length: number): Map<string, CompiledRule[]> {
  let prefixes = bucket.prefixed.get(length);
  if (prefixes === undefined) {
    prefixes = new Map();
    bucket.prefixed.set(length, prefixes);
  }
  return prefixes;
}

function push(map: Map<string, CompiledRule[]>, key: string, rule: CompiledRule): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [rule]);
  else if (list.at(-1) !== rule) list.push(rule);
}
