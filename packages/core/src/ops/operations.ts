import type { AlertEvent, Actor } from '../audit/index.ts';
import type { BalanceKeeper, BudgetEvent, BudgetsChange, Budgets, Ledger, Pricing } from '../budget/index.ts';
import type { JournalOf } from '../journal/index.ts';
import type { Reactions } from '../kernel/index.ts';
import type { KnownRuns, RunRegistry, RunsChange } from '../runs/index.ts';
import type { AgentChange, AgentEvent, AgentUseChange, Tenancy, TenancyReactions } from '../tenancy/index.ts';
import type { DelegationChange, ReportedTools, SuspensionChange, SuspensionEvent } from '../tenancy/index.ts';
import type { KnownOps } from './known-ops.ts';
import type { OpState, OpTrigger } from './lifecycle.ts';
import type { Op } from './op.ts';
import type { OpsChange, OpsChangeEvent } from './ops-slice.ts';
import type { OpsRegistry } from './registry.ts';

/** A transition, as reactions learn of it. */
export interface OpMoved {
  readonly op: Op;
  readonly from: OpState;
  readonly trigger: OpTrigger;
  readonly actor: Actor;
  readonly reason: string;
  /** The approval whose outcome the transition is, if any. */
  readonly approvalId: string | undefined;
}

export interface OpsReactions extends TenancyReactions {
  /** An operation has moved, and its entry is written. */
  readonly opMoved: Reactions<OpMoved>;
}

export type OperationsChange =
  | AgentChange
  | AgentUseChange
  | BudgetsChange
  | DelegationChange
  | OpsChange
  | RunsChange
  | SuspensionChange;

export type OperationsEvent = AgentEvent | BudgetEvent | AlertEvent | OpsChangeEvent | SuspensionEvent;

/** What the use cases of operations work on. */
export interface Operations extends Tenancy, Budgets {
  readonly directory: Tenancy['directory'];
  /** The prices in force count for the tokens of a completed model call. */
  readonly policies: Tenancy['policies'] & { readonly pricing: Pricing };
  readonly ops: KnownOps;
  /** What happened in the runs of agents, and which labels they bear. */
  readonly runs: KnownRuns;
  readonly journal: JournalOf<OperationsChange, OperationsEvent>;
  readonly reactions: OpsReactions;
}

/** What facts change: a move reserves or releases, a check counts for its run, and alerts are told once. */
export interface OpsState extends Operations {
  readonly ops: OpsRegistry;
  readonly ledger: Ledger;
  /** What is saved of the ledger. */
  readonly balances: BalanceKeeper;
  readonly runs: RunRegistry;
  readonly reportedTools: ReportedTools;
}
