import type { AlertEvent, Actor } from '../audit/index.ts';
import type { BudgetEvent, BudgetsChange, Budgets } from '../budget/index.ts';
import type { JournalOf } from '../journal/index.ts';
import type { Reactions } from '../kernel/index.ts';
import type { AgentChange, AgentEvent, Tenancy, TenancyReactions } from '../tenancy/index.ts';
import type { OpState, OpTrigger, Op } from './op.ts';
import type { OpsChange, OpsChangeEvent } from './ops-slice.ts';
import type { OpsRegistry } from './registry.ts';

/** A transition, as it is announced. */
export interface OpMoved {
  readonly op: Op;
  readonly from: OpState;
  readonly trigger: OpTrigger;
  readonly actor: Actor;
  readonly reason: string;
  /** The approval that it is the outcome of, where it is one. */
  readonly approvalId: string | undefined;
  /** The day that its cost was booked to: whoever settles it says so. */
  booked: string | undefined;
}

export interface OpsReactions extends TenancyReactions {
  /** An operation has moved, and its entry is about to be written: what is settled by it stands there. */
  readonly opMoving: Reactions<OpMoved>;
  /** Its entry is written. */
  readonly opMoved: Reactions<OpMoved>;
}

export type OperationsChange = AgentChange | BudgetsChange | OpsChange;

export type OperationsEvent = AgentEvent | BudgetEvent | AlertEvent | OpsChangeEvent;

/** What the use cases of operations work on. */
export interface Operations extends Tenancy, Budgets {
  readonly directory: Tenancy['directory'];
  readonly ops: OpsRegistry;
  readonly journal: JournalOf<OperationsChange, OperationsEvent>;
  readonly reactions: OpsReactions;
}
