import { redactText } from '../audit/index.ts';
import type { Action } from '../action/index.ts';
import { messageOf } from '../kernel/index.ts';
import type { AgentId, Glob } from '../kernel/index.ts';
import type { Facts, ResultFacts } from './condition.ts';
import { NotRecorded, Evaluation } from './condition.ts';
import { resultAsJudged } from './compiled-rule.ts';
import { containsAgent } from './document.ts';
import type { Effect, PolicyDocument, PolicyRule, PromptRule, ResultEffect } from './document.ts';
import type { PolicySet } from './policy-set.ts';
import { strength } from './rule-index.ts';
import type { AnyRule, FactsOf } from './rule-matching.ts';
import { holds, namesUnclear } from './rule-matching.ts';
import type { Dimension, Subject, Unclear } from './subject.ts';
import { isUnclear, subjectOf, textsOf } from './subject.ts';

/** A rule whose matchers and condition look at a call. */
type CallRule = PolicyRule | PromptRule;

/** A considered rule, and why it did or did not match. */
export interface ConsideredRule<RuleEffect = CallRule['effect']> {
  readonly document: string;
  readonly rule: string;
  /** One that masks prompts decides nothing. */
  readonly effect: RuleEffect;
  readonly matched: boolean;
  readonly why: string;
  /** The document is only observed, so the rule decides nothing. */
  readonly observed: boolean;
  /** The match depends on something no longer known. The rule counts as not matching. */
  readonly unknown: boolean;
}

export type DecidingRule = ConsideredRule & { readonly effect: Effect };

/** Whether the caller may read a document. Others see only the names and effects of its rules. */
export type MayRead = (document: PolicyDocument) => boolean;

const everyone: MayRead = () => true;

const singular: Readonly<Record<Dimension, string>> = {
  tools: 'tool',
  models: 'model',
  hosts: 'host',
  paths: 'path',
  commands: 'command',
  users: 'user',
};

const dimensions: readonly Dimension[] = ['tools', 'models', 'hosts', 'paths', 'commands', 'users'];

const mostGlobs = 12;
const longestCondition = 300;
const longestValue = 200;

/**
 * Every rule on calls of the documents whose scope contains the agent, in order, with whether it matches and why. It tries the
 * rules one after the other, without the index of decisions: it is for people, not for the decision path.
 */
export function considerRules(
  { documents }: PolicySet,
  agent: AgentId,
  action: Action,
  facts: Facts,
  mayRead: MayRead = everyone,
): ConsideredRule[] {
  const call = { action, subject: subjectOf(action, facts.user()), facts, leavesOpen: true };
  return documents
    .filter(({ scope }) => containsAgent(scope, agent))
    .flatMap((document) =>
      [...document.rules, ...(document.promptRules ?? [])].map((rule: CallRule) =>
        consider(document, rule, call, mayRead(document)),
      ),
    );
}

/** The same of every rule on results. The subject is that by which their matchers judge the call. */
export function considerResultRules(
  { documents }: PolicySet,
  agent: AgentId,
  subject: Subject,
  facts: ResultFacts,
  mayRead: MayRead = everyone,
): ConsideredRule<ResultEffect>[] {
  const call = { action: facts.action, subject, facts, leavesOpen: false };
  return documents
    .filter(({ scope }) => containsAgent(scope, agent))
    .flatMap((document) =>
      (document.resultRules ?? []).map((rule) => {
        const judged = resultAsJudged(rule);
        const said = judged.effect === rule.effect ? rule.effect : 'labels';
        return { ...consider(document, judged, call, mayRead(document), said), effect: rule.effect };
      }),
    );
}

/** For what a rule counts where nobody can judge it. */
type Said = AnyRule['effect'] | 'labels';

/** A call, as the matchers and the condition of a rule see it. */
interface Considered<Rule extends AnyRule> {
  readonly action: Action;
  readonly subject: Subject;
  readonly facts: FactsOf<Rule>;
  /** What is not recorded leaves open whether a rule matched. Otherwise it is a failure, as results are judged. */
  readonly leavesOpen: boolean;
}

function consider<Rule extends AnyRule>(
  document: PolicyDocument,
  rule: Rule,
  call: Considered<Rule>,
  open: boolean,
  said: Said = rule.effect,
): ConsideredRule<Rule['effect']> {
  const { name, effect } = rule;
  const { action, subject } = call;
  const outcome = tryMatchers(rule, action, subject, open) ?? tryCondition(rule, call, open, said);
  const lead = outcome.matched ? holdingMatchers(rule, action, subject, open, said) : '';
  const why = [lead, outcome.why].filter((part) => part !== '').join('; ');
  const { matched, unknown = false } = outcome;
  return { document: document.name, rule: name, effect, matched, why, observed: isObserved(document), unknown };
}

/** The deciding rule: the strongest enforced rule that matches, and among equals the first. */
export function decidingRule(rules: readonly ConsideredRule[]): DecidingRule | undefined {
  let best: DecidingRule | undefined;
  for (const rule of rules) {
    if (!rule.matched || rule.observed || !decides(rule)) continue;
    if (best === undefined || strength[rule.effect] > strength[best.effect]) best = rule;
  }
  return best;
}

/** Whether a rule may decide a call: one that masks its prompt does not. */
export function decides(rule: ConsideredRule): rule is DecidingRule {
  return rule.effect !== 'mask';
}

function isObserved({ mode }: PolicyDocument): boolean {
  return mode === 'observe';
}

interface Outcome {
  readonly matched: boolean;
  readonly why: string;
  readonly unknown?: boolean;
}

/** The first matcher that does not hold, if any. */
function tryMatchers(
  { matchers, effect }: AnyRule,
  action: Action,
  subject: Subject,
  open: boolean,
): Outcome | undefined {
  if (matchers.actions !== undefined && !matchers.actions.has(action.type)) {
    return { matched: false, why: `it is about ${[...matchers.actions].join(', ')}, and this is a ${action.type}` };
  }
  for (const dimension of dimensions) {
    const globs = matchers[dimension];
    if (globs === undefined) continue;
    const texts = textsOf(subject, dimension);
    const what = singular[dimension];
    const { unclear } = subject;
    if (unclear !== null && isUnclear(subject, dimension)) {
      if (effect !== 'allow' || namesUnclear(globs, unclear)) continue;
      return { matched: false, why: unclearWords(effect, what, unclear) };
    }
    if (texts.length === 0) {
      const lacks = dimension === 'users' ? 'is for no proven user' : 'names none';
      return { matched: false, why: `it asks for a ${what}, and this ${action.type} ${lacks}` };
    }
    if (matching(globs, texts) !== undefined) continue;
    const value = shown(texts.at(-1) ?? '');
    return {
      matched: false,
      why: open ? `the ${what} ${value} matches none of ${list(globs)}` : `the ${what} ${value} does not match`,
    };
  }
  return undefined;
}

function unclearWords(said: Said, what: string, { text }: Unclear): string {
  const rule =
    said === 'allow' ? 'for allow that counts as matching only word by word' : `for ${said} that counts as matching`;
  return `the ${what} ${shown(text ?? '')} cannot be read, and ${rule}`;
}

function tryCondition<Rule extends AnyRule>(
  rule: Rule,
  { facts, subject, leavesOpen }: Considered<Rule>,
  open: boolean,
  said: Said,
): Outcome {
  const { when, whenText = '', effect } = rule;
  if (when === undefined) return { matched: true, why: '' };
  const text = open && whenText !== '' ? `: ${cut(oneLine(whenText), longestCondition)}` : '';
  const value = evaluate(rule, facts, subject);
  if (value === true) return { matched: true, why: `its condition holds${text}` };
  if (value === false) return { matched: false, why: `its condition does not hold${text}` };
  if (value instanceof NotRecorded && leavesOpen) {
    return { matched: false, unknown: true, why: `could not be judged again: ${value.message}` };
  }
  const matched = effect !== 'allow';
  const counts = `for ${said} that counts as ${matched ? 'matching' : 'not matching'}`;
  const failure = open ? ` (${cut(messageOf(value), longestCondition)})` : '';
  return { matched, why: `its condition failed${failure}, and ${counts}${text}` };
}

/** Judges each rule by itself, whatever the others cost. */
function evaluate<Rule extends AnyRule>(rule: Rule, facts: FactsOf<Rule>, subject: Subject): unknown {
  try {
    return holds(rule, facts, new Evaluation(subject));
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error));
  }
}

/** What a matching rule's matchers found. */
function holdingMatchers(
  { matchers, when }: AnyRule,
  action: Action,
  subject: Subject,
  open: boolean,
  said: Said,
): string {
  const holding = dimensions.flatMap((dimension) => {
    const globs = matchers[dimension];
    const { unclear } = subject;
    if (globs !== undefined && unclear !== null && isUnclear(subject, dimension)) {
      return [unclearWords(said, singular[dimension], unclear)];
    }
    const found = globs === undefined ? undefined : matching(globs, textsOf(subject, dimension));
    if (found === undefined) return [];
    const value = `the ${singular[dimension]} ${shown(found.text)}`;
    return [open ? `${value} matches ${found.glob.source}` : `${value} matches`];
  });
  if (holding.length > 0) return holding.join(', ');
  if (matchers.actions !== undefined) return `it is about every ${action.type}`;
  return when === undefined ? 'it is about every action' : '';
}

function matching(globs: readonly Glob[], texts: readonly string[]): { glob: Glob; text: string } | undefined {
  for (const text of texts) {
    const glob = globs.find((candidate) => candidate.matches(text));
    if (glob !== undefined) return { glob, text };
  }
  return undefined;
}

function list(globs: readonly Glob[]): string {
  const sources = globs.slice(0, mostGlobs).map(({ source }) => source);
  const more = globs.length - sources.length;
  return more > 0 ? `${sources.join(', ')} and ${more} more` : sources.join(', ');
}

function shown(text: string): string {
  return JSON.stringify(cut(redactText(text), longestValue));
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
