import type { Width } from '../access/authority.ts';
import type { ActionType } from '../action/action.ts';
import type { Pricing } from '../budget/pricing.ts';
import type { Condition } from './condition.ts';
import type { Glob } from '../kernel/glob.ts';
import type { BudgetTier } from '../budget/tier.ts';
import type { ActionOnExceed, Caps } from '../budget/budget-policy.ts';

/** What a document says of budgets: caps for tiers, of which a scoped document has its own tenant's only. */
export interface DocumentBudget {
  readonly caps: Partial<Record<BudgetTier, Partial<Caps>>>;
  readonly timeZone?: string;
  readonly actionOnExceed?: ActionOnExceed;
}

export const effects = ['allow', 'deny', 'require_approval'] as const;

export type Effect = (typeof effects)[number];

export type PolicyScope =
  | { readonly tier: 'global' }
  | { readonly tier: 'org'; readonly orgId: string }
  | { readonly tier: 'team'; readonly orgId: string; readonly teamId: string }
  | { readonly tier: 'agent'; readonly orgId: string; readonly teamId: string; readonly agentId: string };

/** Matchers by dimension; an absent one holds for every action. */
export interface Matchers {
  readonly actions?: ReadonlySet<ActionType>;
  readonly tools?: readonly Glob[];
  readonly models?: readonly Glob[];
  readonly hosts?: readonly Glob[];
  readonly paths?: readonly Glob[];
  readonly commands?: readonly Glob[];
}

/** What a rule asks of its approvals; what it leaves open is the gateway's to say. */
export interface ApprovalTerms {
  /** How many different people must approve. */
  readonly count?: number;
  readonly ttlSecs?: number;
  /** False: each such action is asked about, and nobody can grant it for longer. */
  readonly grants?: boolean;
}

export interface PolicyRule {
  readonly name: string;
  readonly effect: Effect;
  readonly matchers: Matchers;
  readonly when?: Condition;
  /** The condition as it was written, for those who are told why. */
  readonly whenText?: string;
  readonly approvals?: ApprovalTerms;
}

export const policyModes = ['enforce', 'observe'] as const;

/** An observed document decides nothing: what it would have done is recorded. */
export type PolicyMode = (typeof policyModes)[number];

export interface PolicyDocument {
  /** Of a bound author's with the namespace: `<org>/<name>` or `<org>/<team>/<name>`. */
  readonly name: string;
  /** Whose it counts as, where that is a tenant's: how wide the tenant's credential is. Absent of the operator's. */
  readonly author?: Exclude<Width, 'unbound'>;
  readonly scope: PolicyScope;
  /** Absent where the document is enforced. */
  readonly mode?: PolicyMode;
  /** Present where its rules and refusals tell agents nothing of what would be allowed. */
  readonly hints?: false;
  /** What a global document says of actions that no rule matches, where it says anything. */
  readonly default?: 'allow' | 'deny';
  readonly rules: readonly PolicyRule[];
  readonly budget?: DocumentBudget;
  readonly pricing?: Pricing;
}

/** A place in the sources. Lines and columns count from 1. */
export interface PolicyPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Where in the sources something is wrong, and what. */
export interface PolicyProblem extends PolicyPlace {
  readonly message: string;
}

export function describeProblem(problem: PolicyProblem): string {
  return `${problem.file}:${problem.line}:${problem.column}: ${problem.message}`;
}
