import type { Action, User } from '../action/index.ts';
import type { Json } from '../audit/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import { InexactNumber, messageOf } from '../kernel/index.ts';
import type { AgentRecord } from '../tenancy/index.ts';
import type { Evaluation, Facts, RunFacts, SpendFacts } from './condition.ts';
import type { PolicySet, Verdict } from './policy-set.ts';
import type { CompiledRule } from './rule-index.ts';
import { whyUnclear } from './rule-matching.ts';

/** A member of the arguments, and what it is set to. */
export interface ChangedMember {
  /** The names of the members on the way, the outermost first. */
  readonly path: readonly string[];
  readonly value: Json;
}

/** The arguments of a call as rules have rewritten them. */
export interface RewrittenArgs {
  readonly args: Json;
  /** What was changed, in order. */
  readonly changes: readonly ChangedMember[];
  /** The first rule that has changed something, and the tier of its document. */
  readonly by: Pick<Verdict, 'rule' | 'tier'>;
}

/** An agent whose rules count for a call, with what conditions read about it. */
export interface JudgedAgent {
  readonly agent: { readonly record: AgentRecord };
  readonly facts: Facts;
}

/**
 * Applies the rewriting of every rule that matches the call, in the order of rules: those about the agent itself, then
 * those about each agent above it. Each expression sees the arguments as those before have left them. Undefined if
 * nothing changes; the refusal if one cannot be applied.
 */
export function rewriteArgs(
  set: PolicySet,
  judged: readonly JudgedAgent[],
  evaluation: Evaluation,
): RewrittenArgs | Verdict | undefined {
  const matching = set.hasRewritingRules ? judged.map((each) => matchingOf(set, each, evaluation)) : [];
  if (evaluation.isSpent) return tooCostly;
  if (matching.every(({ rules }) => rules.length === 0)) return undefined;
  let sent: Json | undefined;
  let args: Json | undefined;
  const changes: ChangedMember[] = [];
  let first: CompiledRule | undefined;
  for (const { facts, rules } of matching) {
    for (const rule of rules) {
      const unclear = whyUnclear(rule.rule, facts, evaluation);
      if (unclear !== undefined) return unclearRule(rule, unclear);
      for (const { source, path, value } of rule.rule.rewrite ?? []) {
        try {
          sent ??= facts.args() as Json;
          args ??= sent;
          const change = { path, value: value(new RewrittenFacts(facts, facts.action, args), evaluation, path.length) };
          const after = withMember(args, change, 0, evaluation);
          if (equalJson(args, after)) continue;
          args = after;
          changes.push(change);
          first ??= rule;
        } catch (error) {
          return refusalOf(rule, source, messageOf(error));
        }
      }
    }
  }
  if (first === undefined || args === undefined || equalJson(sent, args)) return undefined;
  return { args, changes, by: { rule: first.id, tier: first.document.scope.tier } };
}

function matchingOf(set: PolicySet, { agent, facts }: JudgedAgent, evaluation: Evaluation) {
  return { facts, rules: set.rewriting(agent.record.id, facts, evaluation) };
}

const tooCostly: Verdict = {
  effect: 'deny',
  reason: 'judging the rules of this action costs more than one decision may',
  rule: 'default',
  tier: 'default',
};

/** Whether a rule rewrites that nobody can judge is not known. What is not understood does not pass. */
function unclearRule({ id, document }: CompiledRule, why: string): Verdict {
  const reason = `rule ${id} rewrites, and whether it is about this call cannot be judged: ${why}`;
  return { effect: 'deny', reason, rule: id, tier: document.scope.tier };
}

function refusalOf({ id, document }: CompiledRule, source: string, why: string): Verdict {
  const reason = `rule ${id} rewrites "${source}", which failed: ${why}`;
  return { effect: 'deny', reason, rule: id, tier: document.scope.tier };
}

/** The changes again, on arguments that are the same. */
export function applyChanges(args: Json, changes: readonly ChangedMember[]): Json {
  return changes.reduce((before, change) => withMember(before, change, 0), args);
}

type JsonObject = { readonly [name: string]: Json };

/** A copy with the member. What is not on the way to it is shared, and nothing is changed in place. */
function withMember(
  within: Json | undefined,
  { path, value }: ChangedMember,
  at: number,
  evaluation?: Evaluation,
): Json {
  const name = path[at];
  if (name === undefined) return value;
  if (within !== undefined && !isObject(within)) {
    throw new Error(at === 0 ? 'the arguments are no object' : `"${path.slice(0, at).join('.')}" is no object`);
  }
  const copy = { ...within };
  evaluation?.charge(priceOfCopy + Object.keys(copy).length * priceOfMember);
  const before = within !== undefined && Object.hasOwn(within, name) ? within[name] : undefined;
  const member = withMember(before, { path, value }, at + 1, evaluation);
  // A plain assignment to "__proto__" would make no member.
  return Object.defineProperty(copy, name, { value: member, writable: true, enumerable: true, configurable: true });
}

const priceOfCopy = 10;
const priceOfMember = 5;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof InexactNumber);
}

function equalJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (one instanceof InexactNumber) return other instanceof InexactNumber && one.written === other.written;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, at) => equalJson(item, other[at]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && equalJson(one[name], other[name]));
}

/** What conditions read of a call whose arguments were rewritten. The rest is as it was. */
export class RewrittenFacts implements Facts {
  readonly agent: AgentRecord;
  readonly depth: number;
  readonly action: Action;
  readonly now: EpochMs;
  readonly costUsd: number;
  readonly #sent: Facts;
  readonly #args: Json;

  constructor(sent: Facts, action: Action, args: Json) {
    this.agent = sent.agent;
    this.depth = sent.depth;
    this.action = action;
    this.now = sent.now;
    this.costUsd = sent.costUsd;
    this.#sent = sent;
    this.#args = args;
  }

  args(): unknown {
    return this.#args;
  }

  annotations(): unknown {
    return this.#sent.annotations();
  }

  run(): RunFacts {
    return this.#sent.run();
  }

  spend(): SpendFacts {
    return this.#sent.spend();
  }

  user(): User | null {
    return this.#sent.user();
  }
}
