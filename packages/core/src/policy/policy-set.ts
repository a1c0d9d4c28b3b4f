import type { Action, ActionType } from '../action/index.ts';
import { resourceOf } from '../action/index.ts';
import { redactText } from '../audit/index.ts';
import type { BudgetPolicy, Pricing, BudgetRules, Caps, BudgetTier, TierOf } from '../budget/index.ts';
import { budgetPolicy, noPrices, noBudgets, noCaps } from '../budget/index.ts';
import { shortened } from '../kernel/index.ts';
import type { AgentId, Sha256 } from '../kernel/index.ts';
import type { OwedLabel } from '../runs/index.ts';
import type { Asking } from './asking-rules.ts';
import { askingReason, strictest } from './asking-rules.ts';
import type { Facts, ResultFacts } from './condition.ts';
import { Evaluation } from './condition.ts';
import type { Refuser } from './denial-hint.ts';
import { DenialHints } from './denial-hint.ts';
import type { Effect, PolicyDocument, PolicyScope, PromptRule, ResultRule } from './document.ts';
import type { ResultVerdict } from './judge-result.ts';
import { verdictOnPrompt, verdictOnResult } from './judge-result.ts';
import type { Observed } from './observed-documents.ts';
import { ObservedDocuments } from './observed-documents.ts';
import type { RateInForce } from './rates-in-force.ts';
import { RatesInForce } from './rates-in-force.ts';
import type { CompiledRule } from './rule-index.ts';
import type { FoundRules } from './scope-indexes.ts';
import { ScopeIndexes } from './scope-indexes.ts';
import { scopesAbove } from './scopes-above.ts';
import { LabelReaders } from './label-readers.ts';
import { LabelsInForce } from './labels-in-force.ts';
import { subjectOf } from './subject.ts';
import type { ToolFacts } from './tool-facts.ts';

/** The tier of a decision: that of the document whose rule decided, or what decided instead. */
export type Tier = 'identity' | 'control' | 'delegation' | 'default' | 'replay' | 'budget' | PolicyScope['tier'];

/** The verdict of policy, with its reason. The audit entry is built from it, so log and answer cannot disagree. */
export interface Verdict {
  readonly effect: Effect;
  readonly reason: string;
  /** `<document>/<rule>` or `default`. */
  readonly rule: string;
  readonly tier: Tier;
  /** The joint terms of all rules that ask for approval, if the effect is to ask. */
  readonly asking?: Asking;
  /** The rates that count the action, if it may happen. */
  readonly rates?: readonly RateInForce[];
  /** What observed documents would have decided otherwise. */
  readonly observed?: readonly Observed[];
  /** The condition of a rule that denies or asks may have read the labels of the run. */
  readonly readsLabels?: true;
}

/** All documents of the gateway, compiled. A set never changes: a reload makes a new one and swaps it in whole. */
export class PolicySet {
  /** Names this set in answers and in the audit log. */
  readonly version: string;
  readonly documents: readonly PolicyDocument[];
  readonly #default: 'allow' | 'deny';
  readonly #byScope: ScopeIndexes;
  readonly #hints: DenialHints;
  readonly #observed: ObservedDocuments | undefined;
  readonly #labels: LabelsInForce;
  readonly #labelReaders: LabelReaders;
  readonly #isEmpty: boolean;
  readonly #hasRewritingRules: boolean;
  readonly #hasResultRules: boolean;
  readonly #hasPromptRules: boolean;
  readonly rates: RatesInForce;
  readonly budgets: BudgetPolicy;
  readonly pricing: Pricing;

  /** Reuses the parts of the set before that are unchanged. */
  constructor(documents: readonly PolicyDocument[], version: string, before?: PolicySet) {
    this.documents = documents;
    this.version = version;
    const enforced = documents.filter(({ mode }) => mode !== 'observe');
    this.#isEmpty = enforced.length === 0;
    this.#hasRewritingRules = enforced.some(({ rules }) => rules.some(({ rewrite }) => rewrite !== undefined));
    this.#hasResultRules = enforced.some(({ resultRules }) => resultRules !== undefined);
    this.#hasPromptRules = enforced.some(({ promptRules }) => promptRules !== undefined);
    this.#default = defaultOf(enforced);
    this.#byScope = new ScopeIndexes(enforced, before === undefined ? undefined : before.#byScope);
    this.rates = new RatesInForce(enforced);
    this.#labels = new LabelsInForce(enforced);
    this.#labelReaders = new LabelReaders(enforced);
    this.#observed = ObservedDocuments.of(documents);
    this.#hints = new DenialHints(documents, this.#default);
    this.budgets = budgetPolicy(budgetRules(documents));
    this.pricing = documents.find(({ pricing }) => pricing !== undefined)?.pricing ?? noPrices;
  }

  /** What is enforced, and what is observed. */
  evaluate(agent: AgentId, action: Action, facts: Facts): Verdict {
    const evaluation = new Evaluation(subjectOf(action, facts.user()));
    const verdict = this.enforce(agent, action, facts, evaluation);
    const observed = this.observe(agent, action, facts, evaluation, verdict.effect);
    return observed === undefined ? verdict : { ...verdict, observed };
  }

  /** The cost of all that is judged with one `evaluation` is bounded together. */
  enforce(agent: AgentId, action: Action, facts: Facts, evaluation: Evaluation): Verdict {
    const scopes = scopesAbove(agent);
    const decided = this.#decide(agent, action, scopes, facts, evaluation);
    const rates = decided.effect === 'deny' ? noRates : this.rates.of(scopes, action.type, evaluation);
    return rates.length === 0 ? decided : { ...decided, rates };
  }

  /** The labels that a call gives, if it is not denied. */
  labelsOf(agent: AgentId, { type }: Action, facts: Facts, evaluation: Evaluation): readonly OwedLabel[] {
    return this.#labels.of(scopesAbove(agent), type, facts, evaluation);
  }

  /** Whether a rule that such a call meets may read the labels of its run. An undefined tool may be any. */
  mayReadLabels(agent: AgentId, type: ActionType, tool: string | undefined): boolean {
    return this.#labelReaders.mayConcern(scopesAbove(agent), type, tool);
  }

  /** Whether any document has rules that rewrite. If none has, no call is rewritten. */
  get hasRewritingRules(): boolean {
    return this.#hasRewritingRules;
  }

  /** The rules that rewrite a tool call, in the order in which they do. */
  rewriting(agent: AgentId, facts: Facts, evaluation: Evaluation): readonly CompiledRule[] {
    return this.#byScope.rewriting(scopesAbove(agent), facts, evaluation);
  }

  /** What rules that deny or ask say of a call as it was rewritten. Undefined if none matches. */
  enforceAgain(agent: AgentId, action: Action, facts: Facts, evaluation: Evaluation): Verdict | undefined {
    const scopes = scopesAbove(agent);
    const found = this.#byScope.look(scopes, action.type, facts, evaluation, ['deny', 'require_approval']);
    return found === undefined ? undefined : this.#told(found, agent, action, scopes);
  }

  /** It comes last, once everything is judged that decides, so that it takes nothing from the cost limit of that. */
  observe(
    agent: AgentId,
    { type }: Action,
    facts: Facts,
    evaluation: Evaluation,
    decided: Effect,
  ): readonly Observed[] | undefined {
    return this.#observed?.against(decided, scopesAbove(agent), type, facts, evaluation);
  }

  /** Whether any document has rules on results. If none has, nobody need ask about any. */
  get hasResultRules(): boolean {
    return this.#hasResultRules;
  }

  /** The rules on results that a call could meet, by its matchers and its user, whatever their condition. */
  resultRulesFor(agent: AgentId, { type }: Action, evaluation: Evaluation): readonly CompiledRule<ResultRule>[] {
    return this.#byScope.resultsFitting(scopesAbove(agent), type, evaluation);
  }

  /** What is to become of a result. */
  judgeResult(agent: AgentId, { type }: Action, facts: ResultFacts, evaluation: Evaluation): ResultVerdict {
    return verdictOnResult(this.#byScope, agent, type, facts, evaluation);
  }

  /** The same for rules that mask prompts. */
  get hasPromptRules(): boolean {
    return this.#hasPromptRules;
  }

  /** The rules that mask the prompt of a model call. */
  promptMasks(agent: AgentId, facts: Facts, evaluation: Evaluation): readonly CompiledRule<PromptRule>[] {
    if (!this.#hasPromptRules || facts.action.type !== 'llm_call') return [];
    return this.#byScope.promptsMatching(scopesAbove(agent), facts, evaluation);
  }

  /** The rules that could mask the prompt of a model call, by its matchers and its user, whatever their condition. */
  promptRulesFor(agent: AgentId, { type }: Action, evaluation: Evaluation): readonly CompiledRule<PromptRule>[] {
    if (!this.#hasPromptRules || type !== 'llm_call') return [];
    return this.#byScope.promptsFitting(scopesAbove(agent), evaluation);
  }

  /** What is to become of the prompt of a model call. */
  judgePrompt(agent: AgentId, facts: Facts, evaluation: Evaluation): ResultVerdict {
    return verdictOnPrompt(this.promptMasks(agent, facts, evaluation));
  }

  /**
   * Whether every call of a tool is denied, whatever `facts` leaves open. If so, no call of it is ever allowed. A call
   * whose rules cost more than one decision may can still be held for approval: then each rule counts as its own worst
   * case.
   */
  deniesEveryCall(agent: AgentId, facts: ToolFacts, evaluation: Evaluation = new Evaluation(facts.subject)): boolean {
    if (this.#isEmpty) return true;
    const fate = this.#byScope.fateOf(scopesAbove(agent), facts, evaluation);
    return fate === 'denied' || (fate === 'at most denied' && this.#default === 'deny');
  }

  #decide(agent: AgentId, action: Action, scopes: readonly string[], facts: Facts, evaluation: Evaluation): Verdict {
    if (this.#isEmpty) return noPolicy;
    const found = this.#byScope.look(scopes, action.type, facts, evaluation);
    if (found?.strongest.effect !== 'deny' && action.namedOnly) {
      if (!this.#byScope.someNames(scopes, action.type, facts, evaluation)) return this.#unnamed(action);
    }
    return found === undefined ? this.#fallback(agent, action, scopes) : this.#told(found, agent, action, scopes);
  }

  #told(found: FoundRules, agent: AgentId, action: Action, scopes: readonly string[]): Verdict {
    const verdict = verdictOf(found);
    if (verdict.effect !== 'deny' || this.#hints.isSilent(verdict.rule)) return verdict;
    return { ...verdict, reason: verdict.reason + this.#hint(agent, action, scopes, 'rule') };
  }

  #fallback(agent: AgentId, action: Action, scopes: readonly string[]): Verdict {
    if (this.#default === 'allow')
      return { effect: 'allow', reason: 'allowed by default', rule: 'default', tier: 'default' };
    const resource = resourceOf(action);
    const what = resource === '' ? action.type : `${action.type} of "${shortened(redactText(resource), longestQuote)}"`;
    return {
      effect: 'deny',
      reason: `no rule allows ${what}, and the default is deny${this.#hint(agent, action, scopes, 'default')}`,
      rule: 'default',
      tier: 'default',
    };
  }

  #unnamed({ host }: Action): Verdict {
    const quoted = shortened(redactText(host), longestQuote);
    const reason = `no rule names the host "${quoted}" itself, and nothing else allows this call`;
    return { effect: 'deny', reason, rule: 'default', tier: 'default' };
  }

  /** What would be allowed, for a refused agent. */
  #hint(agent: AgentId, { type }: Action, scopes: readonly string[], refuser: Refuser): string {
    const inForce = scopes.filter((scope) => this.#byScope.has(scope));
    return this.#hints.of(inForce.join(' '), agent, type, refuser);
  }
}

function verdictOf({ strongest: { effect, reason, id, rule, document }, asking }: FoundRules): Verdict {
  const verdict: Verdict = { effect, reason, rule: id, tier: document.scope.tier };
  if (effect === 'allow') return verdict;
  const stopping = effect === 'deny' ? [rule] : asking.map((one) => one.rule);
  const told = stopping.some(({ when }) => when?.readsLabels === true)
    ? { ...verdict, readsLabels: true as const }
    : verdict;
  return asking.length === 0 ? told : { ...told, reason: askingReason(asking), asking: strictest(asking) };
}

const noRates: readonly RateInForce[] = [];

/** A refusal quotes at most this much of the request, so that the hint after it has room. */
const longestQuote = 256;

const noPolicy: Verdict = { effect: 'deny', reason: 'no policy loaded', rule: 'default', tier: 'default' };

/** A version that is equal wherever the same sources are loaded. */
export function policyVersion(sha256: Sha256, sources: readonly string[]): string {
  return sources.length === 0 ? 'none' : sha256(sources.join('\u0000')).slice(0, 16);
}

function defaultOf(documents: readonly PolicyDocument[]): 'allow' | 'deny' {
  const said = new Set(documents.filter(({ scope }) => scope.tier === 'global').map((document) => document.default));
  return said.has('allow') && !said.has('deny') ? 'allow' : 'deny';
}

/** The budget rules of all documents: the global one sets caps for everybody, scoped ones for their tenant. */
export function budgetRules(documents: readonly PolicyDocument[]): BudgetRules {
  const global = documents.find(({ scope, budget }) => scope.tier === 'global' && budget !== undefined)?.budget;
  const uniform = (tier: BudgetTier): Caps => ({ ...noCaps, ...global?.caps[tier] });
  return {
    timeZone: global?.timeZone ?? noBudgets.timeZone,
    actionOnExceed: global?.actionOnExceed ?? noBudgets.actionOnExceed,
    uniform: { global: uniform('global'), org: uniform('org'), team: uniform('team'), agent: uniform('agent') },
    own: ownCaps(documents.filter(({ author }) => author === undefined)),
    lowered: ownCaps(documents.filter(({ author }) => author !== undefined)),
  };
}

function ownCaps(documents: readonly PolicyDocument[]): BudgetRules['own'] {
  return documents.flatMap(({ scope, budget }) =>
    scope.tier === 'global' || budget === undefined ? [] : [{ of: tierOf(scope), caps: budget.caps[scope.tier] ?? {} }],
  );
}

function tierOf(scope: Exclude<PolicyScope, { tier: 'global' }>): TierOf {
  const nobody = { orgId: '', teamId: '', agentId: '' };
  return { ...nobody, ...scope };
}
