import type { ActionType } from '../action/index.ts';
import type { Facts, Evaluation, ResultFacts } from './condition.ts';
import type { Effect, PolicyDocument, PromptRule, ResultEffect, ResultRule } from './document.ts';
import { describeScope, rulesIn } from './document.ts';
import type { Chance } from './rule-chance.ts';
import { chanceOf } from './rule-chance.ts';
import type { CompiledRule } from './rule-index.ts';
import { compiledPrompt, compiledResult, compiledRule } from './compiled-rule.ts';
import { strongestFirst, RuleIndex } from './rule-index.ts';
import type { AnyRule } from './rule-matching.ts';
import { namesHost } from './rule-matching.ts';
import type { ToolFacts } from './tool-facts.ts';

/** What counts among the matching rules: the strongest, and all that ask if that one asks. */
export interface FoundRules {
  readonly strongest: CompiledRule;
  /** In the order of all documents. */
  readonly asking: readonly CompiledRule[];
}

/** Rules deny all calls of a tool, or nothing but deny some of them, or may allow or ask. */
export type Fate = 'denied' | 'at most denied' | 'open';

/** Where a rule stands among all. */
type Placed = Pick<CompiledRule, 'document' | 'order'>;

function mayMatch(chance: Chance): boolean {
  return chance !== 'never';
}

/** The enforced documents of each scope, with an index of their rules. */
export class ScopeIndexes {
  readonly #byScope = new Map<string, readonly RuleChunk[]>();
  readonly #ranks: ReadonlyMap<PolicyDocument, number>;

  /** Reuses unchanged indexes, so that a change of one tenant's document costs no more than that. */
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

  /** The deciding rule: the strongest that matches, and among equals the first in the order of all documents. */
  look(
    scopes: readonly string[],
    type: ActionType,
    facts: Facts,
    evaluation: Evaluation,
    among: readonly Effect[] = strongestFirst,
  ): FoundRules | undefined {
    for (const effect of among) {
      if (effect === 'require_approval') {
        const asking = this.#asking(scopes, type, facts, evaluation);
        const [strongest] = asking;
        if (strongest !== undefined) return { strongest, asking };
        continue;
      }
      const strongest = this.#first(effect, scopes, type, facts, evaluation);
      if (strongest !== undefined) return { strongest, asking: noRules };
    }
    return undefined;
  }

  /** The rules on results that a call could meet, whatever their condition. One look-up, however many there are. */
  resultsFitting(
    scopes: readonly string[],
    type: ActionType,
    evaluation: Evaluation,
  ): readonly CompiledRule<ResultRule>[] {
    return this.#by(scopes, ({ results }) => results?.fitting(type, evaluation));
  }

  /** The rules with this effect that match a result, in the order of all documents. */
  resultsMatching(
    effect: ResultEffect,
    scopes: readonly string[],
    type: ActionType,
    facts: ResultFacts,
    evaluation: Evaluation,
  ): readonly CompiledRule<ResultRule>[] {
    return this.#by(scopes, ({ results }) => results?.all(effect, type, facts, evaluation));
  }

  /** The rules that could mask the prompt of a model call, whatever their condition. */
  promptsFitting(scopes: readonly string[], evaluation: Evaluation): readonly CompiledRule<PromptRule>[] {
    return this.#by(scopes, ({ prompts }) => prompts?.fitting('llm_call', evaluation));
  }

  /** The rules that mask the prompt of a model call, in the order of all documents. */
  promptsMatching(
    scopes: readonly string[],
    facts: Facts,
    evaluation: Evaluation,
  ): readonly CompiledRule<PromptRule>[] {
    return this.#by(scopes, ({ prompts }) => prompts?.all('mask', 'llm_call', facts, evaluation));
  }

  #by<Rule extends AnyRule>(
    scopes: readonly string[],
    find: (chunk: RuleChunk) => readonly CompiledRule<Rule>[] | undefined,
  ): readonly CompiledRule<Rule>[] {
    let found: readonly CompiledRule<Rule>[] = noRules;
    for (const scope of scopes) {
      for (const chunk of this.#byScope.get(scope) ?? noChunks) {
        const some = find(chunk) ?? noRules;
        if (some.length > 0) found = found.length === 0 ? some : [...found, ...some];
      }
    }
    return this.#ordered(found);
  }

  /** Whether a matching rule that allows or asks names the host of the action itself, and not by a wildcard. */
  someNames(scopes: readonly string[], type: ActionType, facts: Facts, evaluation: Evaluation): boolean {
    const named = (effect: Effect) =>
      scopes.some((scope) =>
        this.#byScope
          .get(scope)
          ?.some(({ rules }) =>
            rules.all(effect, type, facts, evaluation).some(({ rule }) => namesHost(rule, evaluation)),
          ),
      );
    return named('allow') || named('require_approval');
  }

  /**
   * The rules that match a tool call and rewrite its arguments, in the order of all documents, and those that might: nobody
   * can judge them.
   */
  rewriting(scopes: readonly string[], facts: Facts, evaluation: Evaluation): readonly CompiledRule[] {
    return this.#by(scopes, ({ rewriting }) => rewriting?.all(asJudged, 'tool_call', facts, evaluation));
  }

  /** What rules make of all calls of a tool. */
  fateOf(scopes: readonly string[], facts: ToolFacts, evaluation: Evaluation): Fate {
    const { tool } = facts.action;
    const some = (effect: Effect, anyHost: boolean, test: (chance: Chance) => boolean) =>
      scopes.some((scope) =>
        this.#byScope
          .get(scope)
          ?.some(({ rules }) =>
            rules.someOfTool(effect, tool, anyHost, ({ rule }) => test(chanceOf(rule, facts, evaluation))),
          ),
      );
    if (some('deny', false, (chance) => chance === 'always')) return 'denied';
    const isOpen = some('require_approval', true, mayMatch) || some('allow', true, mayMatch);
    return isOpen ? 'open' : 'at most denied';
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
      const found = firstOf(this.#byScope.get(scope), effect, type, facts, evaluation);
      // A rule that could be judged is reported before one that could not.
      const counts = winner === undefined || (!evaluation.isSpent && this.#comesBefore(found, winner));
      if (found !== undefined && counts) winner = found;
    }
    return winner;
  }

  /** All asking rules count together: none weakens the terms of another. */
  #asking(scopes: readonly string[], type: ActionType, facts: Facts, evaluation: Evaluation): readonly CompiledRule[] {
    return this.#by(scopes, ({ rules }) => rules.all('require_approval', type, facts, evaluation));
  }

  #ordered<Rule extends Placed>(rules: readonly Rule[]): readonly Rule[] {
    return rules.length < 2 ? rules : rules.toSorted((a, b) => this.#rank(a) - this.#rank(b) || a.order - b.order);
  }

  #comesBefore(rule: CompiledRule | undefined, other: CompiledRule): boolean {
    return rule !== undefined && this.#rank(rule) < this.#rank(other);
  }

  #rank({ document }: Pick<Placed, 'document'>): number {
    return this.#ranks.get(document) ?? 0;
  }
}

/** Chunks keep the order of their documents. */
function firstOf(
  chunks: readonly RuleChunk[] | undefined,
  effect: Effect,
  type: ActionType,
  facts: Facts,
  evaluation: Evaluation,
): CompiledRule | undefined {
  for (const { rules } of chunks ?? noChunks) {
    const found = rules.first(effect, type, facts, evaluation);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A rule that rewrites and cannot be judged counts, as one that asks would: nobody must lose its rewriting by making it fail. */
const asJudged = 'require_approval';

/** Consecutive documents of a scope, with an index of their rules. */
export interface RuleChunk {
  readonly documents: readonly PolicyDocument[];
  readonly size: number;
  readonly rules: RuleIndex;
  /** Absent if none of them has rules on results, which then cost nothing. */
  readonly results: RuleIndex<ResultRule> | undefined;
  /** The same for those that mask prompts. */
  readonly prompts: RuleIndex<PromptRule> | undefined;
  /** Those of the rules that rewrite. Absent if there are none. */
  readonly rewriting: RuleIndex | undefined;
}

const noRules: readonly never[] = [];
const noChunks: readonly RuleChunk[] = [];

/** A larger index would take too long to rebuild when one document changes. */
const mostRules = 3000;
/** A smaller chunk is merged with its neighbour, because each chunk costs a look-up. */
const fewRules = 500;

/**
 * The documents of a scope in chunks. Unchanged chunks are reused, so that a changed document costs as much as its
 * chunk, however many others there are.
 */
export function chunksOf(documents: readonly PolicyDocument[], before: readonly RuleChunk[] = []): RuleChunk[] {
  const starts = new Map(before.map((chunk) => [chunk.documents[0], chunk]));
  const chunks: RuleChunk[] = [];
  let fresh: PolicyDocument[] = [];
  let size = 0;
  const close = () => {
    if (fresh.length > 0) chunks.push(unchanged(fresh, starts) ?? chunkOf(fresh, size));
    fresh = [];
    size = 0;
  };
  for (let at = 0; at < documents.length; ) {
    const document = documents[at];
    if (document === undefined) break;
    const known = starts.get(document);
    const isSame = known?.documents.every((each, place) => each === documents[at + place]) === true;
    const standsAlone = size === 0 || size >= fewRules || size + (known?.size ?? 0) > mostRules;
    if (known !== undefined && isSame && known.size >= fewRules && standsAlone) {
      close();
      chunks.push(known);
      at += known.documents.length;
      continue;
    }
    const more = rulesIn(document);
    if (size + more > mostRules) close();
    fresh.push(document);
    size += more;
    at++;
  }
  close();
  return chunks;
}

function unchanged(
  documents: readonly PolicyDocument[],
  starts: ReadonlyMap<PolicyDocument | undefined, RuleChunk>,
): RuleChunk | undefined {
  const known = starts.get(documents[0]);
  const isSame =
    known?.documents.length === documents.length && known.documents.every((each, at) => each === documents[at]);
  return isSame ? known : undefined;
}

function chunkOf(documents: readonly PolicyDocument[], size: number): RuleChunk {
  const rules = documents.flatMap((document) => document.rules.map((rule) => ({ document, rule }))).map(compiledRule);
  const rewriting = rules
    .filter(({ rule }) => rule.rewrite !== undefined)
    .map((one): CompiledRule => ({ ...one, effect: asJudged, rule: { ...one.rule, effect: asJudged } }));
  const results = documents.flatMap((document) => (document.resultRules ?? []).map((rule) => ({ document, rule })));
  const prompts = documents.flatMap((document) => (document.promptRules ?? []).map((rule) => ({ document, rule })));
  return {
    documents,
    size,
    rules: new RuleIndex(rules),
    rewriting: rewriting.length === 0 ? undefined : new RuleIndex(rewriting),
    results: results.length === 0 ? undefined : new RuleIndex(results.map(compiledResult)),
    prompts: prompts.length === 0 ? undefined : new RuleIndex(prompts.map(compiledPrompt)),
  };
}
