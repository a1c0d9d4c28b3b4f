import type { Width, Binding, Role } from '../access/index.ts';
import { widthOf, mayReach } from '../access/index.ts';
import type { ActionType } from '../action/index.ts';
import type { Pricing, ActionOnExceed, Caps, BudgetTier } from '../budget/index.ts';
import type { AgentId, Glob } from '../kernel/index.ts';
import { isId } from '../kernel/index.ts';
import type { Mask, DetectorName } from '../masking/index.ts';
import type { LabelOwner } from '../runs/index.ts';
import type { Condition, ResultCondition, ValueExpression } from './condition.ts';

/** The budget of a document: caps for tiers. A scoped document has caps for its own tenant only. */
export interface DocumentBudget {
  readonly caps: Partial<Record<BudgetTier, Partial<Caps>>>;
  readonly timeZone?: string;
  readonly actionOnExceed?: ActionOnExceed;
}

export const effects = ['allow', 'deny', 'require_approval'] as const;

export type Effect = (typeof effects)[number];

/** What rules on results do. */
export const resultEffects = ['allow', 'deny', 'mask'] as const;

export type ResultEffect = (typeof resultEffects)[number];

/** What the `effect` of a rule on calls may say. A rule that masks is about the prompts of model calls. */
export const callEffects = [...effects, 'mask'] as const;

export type PolicyScope =
  | { readonly tier: 'global' }
  | { readonly tier: 'org'; readonly orgId: string }
  | { readonly tier: 'team'; readonly orgId: string; readonly teamId: string }
  | { readonly tier: 'agent'; readonly orgId: string; readonly teamId: string; readonly agentId: string };

/** Matchers by dimension. An absent one matches every action. */
export interface Matchers {
  readonly actions?: ReadonlySet<ActionType>;
  readonly tools?: readonly Glob[];
  readonly models?: readonly Glob[];
  readonly hosts?: readonly Glob[];
  readonly paths?: readonly Glob[];
  readonly commands?: readonly Glob[];
  readonly users?: readonly Glob[];
}

/** Whose verdicts count. What a rule names of both must hold. */
export interface ApproverTerms {
  readonly roles?: readonly Role[];
  /** Globs; one of them must match the email of the account. */
  readonly emails?: readonly string[];
}

/** What a rule asks of its approvals. The gateway decides what the rule leaves open. */
export interface ApprovalTerms {
  /** How many different people must approve. */
  readonly count?: number;
  readonly ttlSecs?: number;
  /** False: each such action needs a new approval, and nobody can grant it for longer. */
  readonly grants?: boolean;
  /** False: nobody decides about an agent of their own, unbound admins included. */
  readonly self?: boolean;
  /** Whose verdicts count. Absent: those of everybody who may decide. */
  readonly by?: ApproverTerms;
  /** True: the person for whom the agent acts does not decide. */
  readonly notUser?: boolean;
}

/** The labels that a rule gives where it matches, and who bears them from then on. */
export interface RuleLabels {
  readonly names: readonly string[];
  readonly of: LabelOwner;
}

/** A member of the arguments that a rule sets, and to what. */
export interface Rewriting {
  /** As written, for messages. */
  readonly source: string;
  /** The names of the members on the way, the outermost first. */
  readonly path: readonly string[];
  readonly text: string;
  readonly value: ValueExpression;
}

export interface PolicyRule {
  readonly name: string;
  readonly effect: Effect;
  readonly matchers: Matchers;
  readonly when?: Condition;
  /** The condition as written, for explanations. */
  readonly whenText?: string;
  readonly approvals?: ApprovalTerms;
  readonly labels?: RuleLabels;
  /** What a rule that allows tool calls makes of their arguments, in order. */
  readonly rewrite?: readonly Rewriting[];
}

/** What a rule masks, as it is written. */
export interface MaskTerms {
  readonly detect: readonly DetectorName[];
  readonly patterns: readonly string[];
  readonly fields: readonly string[];
  readonly with: string;
}

/**
 * A rule on what calls bring back. Its matchers look at the call. It is of another type than a rule on calls, so that
 * neither can be tried as the other.
 */
export interface ResultRule {
  readonly name: string;
  readonly effect: ResultEffect;
  readonly matchers: Matchers;
  readonly when?: ResultCondition;
  /** The condition as written, for explanations. */
  readonly whenText?: string;
  /** What it replaces, if that is its effect. */
  readonly mask?: RuleMask;
  readonly labels?: RuleLabels;
}

/**
 * A rule that masks what models are asked, before their providers see it. Its matchers and its condition look at the call. It
 * decides nothing, so it is of another type than a rule that does.
 */
export interface PromptRule {
  readonly name: string;
  readonly effect: 'mask';
  readonly matchers: Matchers;
  readonly when?: Condition;
  /** The condition as written, for explanations. */
  readonly whenText?: string;
  readonly mask: RuleMask;
}

export interface RuleMask {
  readonly terms: MaskTerms;
  readonly compiled: Mask;
}

/** How many checks each subject may make in a window. */
export interface PolicyRate {
  /** Whose checks are counted together, within the scope of the document. */
  readonly per: BudgetTier;
  readonly windowSecs: number;
  readonly max: number;
  /** What is counted. An absent one counts every action. */
  readonly actions?: ReadonlySet<ActionType>;
  readonly tools?: readonly Glob[];
}

export const policyModes = ['enforce', 'observe'] as const;

/** An observed document decides nothing. The log records what it would have done. */
export type PolicyMode = (typeof policyModes)[number];

export interface PolicyDocument {
  /** With the namespace, if the author is bound: `<org>/<name>` or `<org>/<team>/<name>`. */
  readonly name: string;
  /** The width of the tenant's credential, if the document counts as a tenant's. Absent if it is the operator's. */
  readonly author?: Exclude<Width, 'unbound'>;
  readonly scope: PolicyScope;
  /** Absent if the document is enforced. */
  readonly mode?: PolicyMode;
  /** Present if its rules and refusals give agents no hints. */
  readonly hints?: false;
  /** A global document's decision for actions that no rule matches, if it has one. */
  readonly default?: 'allow' | 'deny';
  readonly rules: readonly PolicyRule[];
  /** The rules on results. Absent if there are none. */
  readonly resultRules?: readonly ResultRule[];
  /** The rules that mask prompts. Absent if there are none. */
  readonly promptRules?: readonly PromptRule[];
  readonly rates?: readonly PolicyRate[];
  readonly budget?: DocumentBudget;
  readonly pricing?: Pricing;
}

/** How many rules a document has, whatever they are about. */
export function rulesIn({ rules, resultRules = [], promptRules = [] }: PolicyDocument): number {
  return rules.length + resultRules.length + promptRules.length;
}

/** A place in the sources. Lines and columns count from 1. */
export interface PolicyPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What is wrong in the sources, and where. */
export interface PolicyProblem extends PolicyPlace {
  readonly message: string;
}

export function describeProblem(problem: PolicyProblem): string {
  return `${problem.file}:${problem.line}:${problem.column}: ${problem.message}`;
}

/** The forms of a `scope`, for messages. */
export const scopeForms = '"global", "org:<org>", "team:<org>/<team>" or "agent:<org>/<team>/<agent>"';

/** The scope that a text names; undefined if it names none. */
export function parseScope(text: string): PolicyScope | undefined {
  const [tier = '', rest = ''] = splitOnce(text, ':');
  const ids = rest.split('/');
  const [orgId = '', teamId = '', agentId = ''] = ids;
  if (text === 'global') return { tier: 'global' };
  if (tier === 'org' && ids.length === 1 && isId(orgId)) return { tier, orgId };
  if (tier === 'team' && ids.length === 2 && ids.every(isId)) return { tier, orgId, teamId };
  if (tier === 'agent' && ids.length === 3 && isId(agentId) && [orgId, teamId].every((id) => id === '' || isId(id))) {
    return { tier, orgId, teamId, agentId };
  }
  return undefined;
}

/** The text that `parseScope` reads as this scope. */
export function describeScope(scope: PolicyScope): string {
  switch (scope.tier) {
    case 'global':
      return 'global';
    case 'org':
      return `org:${scope.orgId}`;
    case 'team':
      return `team:${scope.orgId}/${scope.teamId}`;
    case 'agent':
      return `agent:${scope.orgId}/${scope.teamId}/${scope.agentId}`;
  }
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** Whether a document of this scope applies to an agent. */
export function containsAgent(scope: PolicyScope, agent: AgentId): boolean {
  if (scope.tier === 'global') return true;
  if (scope.orgId !== agent.orgId) return false;
  if (scope.tier === 'org') return true;
  if (scope.teamId !== agent.teamId) return false;
  return scope.tier === 'team' || scope.agentId === agent.agentId;
}

/** Whether a document of this scope lies within the caller's tenant. Global documents belong to unbound callers. */
export function mayReachScope(by: Binding, scope: PolicyScope): boolean {
  if (by.orgId === null) return true;
  return scope.tier !== 'global' && mayReach(by, { teamId: null, ...scope });
}

/**
 * Documents of a bound author live in the namespace of its binding: `<org>/<name>` or `<org>/<team>/<name>`. Names from
 * files and from unbound authors have no `/`, so no tenant can take them. Ids hold no `/`, so every name is
 * unambiguous.
 */

/** The prefix of a credential's own document names; empty if it is bound to no tenant. */
export function namespaceOf({ orgId, teamId }: Binding): string {
  if (orgId === null) return '';
  return teamId === null ? `${orgId}/` : `${orgId}/${teamId}/`;
}

/** The tenant whose namespace a name is in; undefined if it is no valid name. */
export function bindingOfName(name: string): Binding | undefined {
  const parts = name.split('/');
  if (parts.length > 3 || !parts.every(isId)) return undefined;
  const [orgId, teamId] = parts.slice(0, -1);
  return { orgId: orgId ?? null, teamId: teamId ?? null };
}

/**
 * Whose a text counts as. A document in a tenant's namespace is the tenant's, whoever wrote it last: an operator who
 * corrects it or rolls it back does not vouch for everything that the tenant wrote in it.
 */
export function authorOf(source: { readonly name?: string; readonly author?: Width }): Width {
  const { name, author = 'unbound' } = source;
  const binding = name === undefined ? undefined : bindingOfName(name);
  return binding === undefined || binding.orgId === null ? author : widthOf(binding);
}

/** The name within its namespace, as its author may write it. */
export function shortName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
