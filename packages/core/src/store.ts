import type { AccessChange, AccessSnapshot } from './access/access.ts';
import { accessRows, apiKeysTable, signingKeysTable } from './access/access-rows.ts';
import type { AccountsChange } from './accounts/accounts.ts';
import { accountRows } from './accounts/accounts-rows.ts';
import type { ApprovalReader } from './approvals/approval-reader.ts';
import type { ApprovalEvent, ApprovalsChange, ApprovalsSnapshot } from './approvals/approvals-slice.ts';
import { approvalRows, approvalsTable, grantsTable } from './approvals/approvals-rows.ts';
import type { AlertEvent } from './audit/entry.ts';
import type { EntryLog } from './audit/audit-reader.ts';
import type { ChainHead } from './audit/chain.ts';
import type { ClosedPeriodReader } from './budget/balance.ts';
import type { BudgetEvent, BudgetsChange, BudgetsSnapshot } from './budget/budget-slice.ts';
import { balancesOf, balancesTable, budgetRows } from './budget/budget-rows.ts';
import type { ControlReader, ControlChange, ControlSnapshot } from './control/control-slice.ts';
import { bulksTable, controlRows, receiptsTable, sequencesTable } from './control/control-rows.ts';
import type { DecisionEvent } from './decision/answer.ts';
import type { EventIdsChange, EventIdsSnapshot } from './journal/event-ids.ts';
import { eventIdRows, idsReserved } from './journal/event-ids.ts';
import type { Batch as BatchOf, Journal as JournalWith } from './journal/journal.ts';
import type { Reading, RowsOf, Write } from './journal/rows.ts';
import { every, marksTable } from './journal/rows.ts';
import type { LogsChange } from './logs/logs.ts';
import { logRows } from './logs/logs.ts';
import type { OpsChange, OpsChangeEvent, OpsSnapshot } from './ops/ops-slice.ts';
import { opsRows, opsTable, replayFrom } from './ops/ops-rows.ts';
import { policyRows, policyVersionsTable } from './policy/policy-rows.ts';
import type { PoliciesChange, PoliciesSnapshot, PolicyEvent } from './policy/policy-slice.ts';
import type { PolicyStore } from './policy/store/policy-version.ts';
import type { AgentChange, AgentEvent, TenancySnapshot } from './tenancy/tenancy-slice.ts';
import { agentRows, agentsTable } from './tenancy/tenancy-rows.ts';

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

/** What every kind of change does to rows: the one description that all stores work from. */
const rows: RowsOf<Change> = {
  ...accessRows,
  ...accountRows,
  ...agentRows,
  ...approvalRows,
  ...budgetRows,
  ...controlRows,
  ...eventIdRows,
  ...logRows,
  ...opsRows,
  ...policyRows,
};

export function writesOf(change: Change): readonly Write[] {
  return (rows[change.kind] as (change: Change) => readonly Write[])(change);
}

/** What a start reads. */
export const readings = {
  agents: every(agentsTable),
  apiKeys: every(apiKeysTable),
  signingKeys: every(signingKeysTable),
  policies: every(policyVersionsTable, [], { latest: 'version' }),
  ops: every(opsTable),
  receipts: every(receiptsTable, [{ column: 'is_open', is: 'on' }]),
  bulkControls: every(bulksTable, [{ column: 'is_remembered', is: 'on' }], {
    newest: { by: ['requested_at', 'id'], most: 10_000 },
  }),
  controlSequences: every(sequencesTable),
  approvals: every(approvalsTable, [{ column: 'is_live', is: 'on' }]),
  grants: every(grantsTable, [{ column: 'is_revoked', is: 'off' }]),
  balances: every(balancesTable),
  marks: every(marksTable),
} as const;

/** Puts a snapshot together; `read` finds the rows, as its store does that. */
export async function loadSnapshot(
  head: ChainHead,
  read: <Item>(reading: Reading<Item>) => readonly Item[] | Promise<readonly Item[]>,
): Promise<Snapshot> {
  const marks = new Map((await read(readings.marks)).map(({ name, value }) => [name, value]));
  return {
    head,
    agents: await read(readings.agents),
    apiKeys: await read(readings.apiKeys),
    signingKeys: await read(readings.signingKeys),
    policies: await read(readings.policies),
    ops: await read(readings.ops),
    opsReplayFrom: marks.get(replayFrom) ?? null,
    receipts: await read(readings.receipts),
    bulkControls: await read(readings.bulkControls),
    controlSequences: await read(readings.controlSequences),
    approvals: await read(readings.approvals),
    grants: await read(readings.grants),
    ...balancesOf(await read(readings.balances)),
    eventIdsReserved: marks.get(idsReserved) ?? 0,
  };
}
