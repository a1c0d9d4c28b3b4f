import type { ActionType } from '../decision/action.ts';
import type { Pricing } from '../budget/pricing.ts';
import type { Condition } from './condition.ts';
import type { Glob } from './glob.ts';
import type { DocumentBudget } from './parse-budget.ts';

export type Effect = 'allow' | 'deny' | 'require_approval';

export type Scope =
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

export interface PolicyRule {
  readonly name: string;
  readonly effect: Effect;
  readonly matchers: Matchers;
  readonly when?: Condition;
}

export interface PolicyDocument {
  readonly name: string;
  readonly scope: Scope;
  /** What a global document says of actions that no rule matches, where it says anything. */
  readonly default?: 'allow' | 'deny';
  readonly rules: readonly PolicyRule[];
  readonly budget?: DocumentBudget;
  readonly pricing?: Pricing;
}

/** Where in the sources something is wrong, and what. Lines and columns count from 1. */
export interface PolicyProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export function describeProblem(problem: PolicyProblem): string {
  return `${problem.file}:${problem.line}:${problem.column}: ${problem.message}`;
}
