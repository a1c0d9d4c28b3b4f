import type { AccessChange, AccessSnapshot } from './access/access.ts';
import type { AccountsChange } from './accounts/accounts.ts';
import type { ApprovalReader } from './approvals/approval-reader.ts';
import type { ApprovalEvent, ApprovalsChange, ApprovalsSnapshot } from './approvals/approvals-slice.ts';
import type { AlertEvent } from './audit/entry.ts';
import type { EntryLog } from './audit/audit-reader.ts';
import type { ChainHead } from './audit/chain.ts';
import type { ClosedPeriodReader } from './budget/balance.ts';
import type { BudgetEvent, BudgetsChange, BudgetsSnapshot } from './budget/budget-slice.ts';
import type { ControlReader } from './control/control-reader.ts';
import type { ControlChange, ControlSnapshot } from './control/control-slice.ts';
import type { DecisionEvent } from './decision/answer.ts';
import type { EventIdsChange, EventIdsSnapshot } from './events/events-slice.ts';
import type { Batch as BatchOf, Journal as JournalWith } from './journal/journal.ts';
import type { LogsChange } from './logs/logs-slice.ts';
import type { OpsChange, OpsChangeEvent, OpsSnapshot } from './ops/ops-slice.ts';
import type { PoliciesChange, PoliciesSnapshot, PolicyEvent } from './policy/policy-slice.ts';
import type { PolicyStore } from './policy/store/policy-version.ts';
import type { AgentChange, AgentEvent, TenancySnapshot } from './tenancy/tenancy-slice.ts';

/** Every row that any feature writes. Each brings its own. */
export type Change =
  | AccessChange
  | AccountsChange
  | AgentChange
  | ApprovalsChange
  | BudgetsChange
  | ControlChange
  | EventIdsChange
  | LogsChange
  | OpsChange
  | PoliciesChange;

/** Something that happened and that live views follow. Published once it is durable, never before. */
export type DomainEvent =
  | AgentEvent
  | AlertEvent
  | ApprovalEvent
  | BudgetEvent
  | DecisionEvent
  | OpsChangeEvent
  | PolicyEvent;

export type Batch = BatchOf<Change>;

export type Journal = JournalWith<Change, DomainEvent>;

/** All that a gateway remembers, as it was when last it ran. */
export interface Snapshot
  extends AccessSnapshot,
    ApprovalsSnapshot,
    BudgetsSnapshot,
    ControlSnapshot,
    EventIdsSnapshot,
    OpsSnapshot,
    PoliciesSnapshot,
    TenancySnapshot {
  readonly head: ChainHead;
}

/** Where a gateway keeps what must survive it. Every store runs the same conformance suite. */
export interface Store extends EntryLog, ControlReader, ClosedPeriodReader {
  readonly policies: PolicyStore;
  readonly approvals: ApprovalReader;
  load(): Promise<Snapshot>;
  /**
   * Writes all of the batch or nothing, and returns, or resolves, once it is durable. Throws, or rejects, where it could
   * not: with `HeadMoved` where entries of another gateway on the same store came first. Never called again before the
   * last commit has settled.
   */
  commit(batch: Batch): void | Promise<void>;
  /** Throws, or rejects, where a commit would not succeed now. */
  probe(): void | Promise<void>;
  close(): Promise<void>;
}
