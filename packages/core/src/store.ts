import type { AccessChange, AccessSnapshot } from './access/index.ts';
import { apiKeysTable, orphansIn, signingKeysTable } from './access/index.ts';
import type { AccountsChange } from './accounts/index.ts';
import type { ApprovalReader, ApprovalEvent, ApprovalsChange, ApprovalsSnapshot } from './approvals/index.ts';
import { approvalsTable, grantsTable } from './approvals/index.ts';
import type { AlertEvent, EntryLog, ChainHead } from './audit/index.ts';
import type { ClosedPeriodReader, BudgetEvent, BudgetsChange, BudgetsSnapshot } from './budget/index.ts';
import type { RatesChange, RatesSnapshot } from './budget/index.ts';
import { balancesOf, balancesTable, ratesFrom, ratesTable } from './budget/index.ts';
import type { ControlReader, ControlChange, ControlSnapshot } from './control/index.ts';
import { bulksTable, departuresTable, receiptsTable } from './control/index.ts';
import { runControlsTable, sequencesTable } from './control/index.ts';
import type { DecisionEvent } from './decision/index.ts';
import type {
  EventIdsChange,
  EventIdsSnapshot,
  ForeignCommit,
  Batch as BatchOf,
  Journal as JournalWith,
  Reading,
  RestoresChange,
  RestoresSnapshot,
  Row,
  Touched,
  Unread,
} from './journal/index.ts';
import { idsReserved, every, marksTable, restoredAt, restoredFrom } from './journal/index.ts';
import { everything, touchedBy } from './journal/index.ts';
import type { BackupsChange, BackupsSnapshot, LogsChange } from './logs/index.ts';
import { lastBackupAt } from './logs/index.ts';
import type { OpsChange, OpsChangeEvent, OpsSnapshot } from './ops/index.ts';
import { opsTable, replayFrom } from './ops/index.ts';
import { policyVersionsTable } from './policy/index.ts';
import type { PoliciesChange, PoliciesSnapshot, PolicyEvent, PolicyStore } from './policy/index.ts';
import type { OwnerOfRow } from './row-owners.ts';
import { itsAgent, itsNamespace, itsReach, itsTier, nobody } from './row-owners.ts';
import type { RunsChange, RunsSnapshot } from './runs/index.ts';
import { forgottenRunsTable, labelsTable, runsFrom, runsTable } from './runs/index.ts';
import type { AgentChange, AgentEvent, AgentUseChange, DelegationChange, TenancySnapshot } from './tenancy/index.ts';
import type { SuspensionChange, SuspensionEvent, SuspensionsSnapshot } from './tenancy/index.ts';
import { agentsTable, agentUsesTable, delegationsTable } from './tenancy/index.ts';
import { suspensionsTable } from './tenancy/index.ts';

/** Every change that any feature writes. Each feature defines its own. */
export type Change =
  | AccessChange
  | AccountsChange
  | AgentChange
  | AgentUseChange
  | ApprovalsChange
  | BackupsChange
  | BudgetsChange
  | ControlChange
  | DelegationChange
  | EventIdsChange
  | LogsChange
  | OpsChange
  | PoliciesChange
  | RatesChange
  | RestoresChange
  | RunsChange
  | SuspensionChange;

/** An event that live views follow. The journal publishes it once it is durable, never before. */
export type DomainEvent =
  | AgentEvent
  | AlertEvent
  | ApprovalEvent
  | BudgetEvent
  | DecisionEvent
  | OpsChangeEvent
  | PolicyEvent
  | SuspensionEvent;

export type Batch = BatchOf<Change, DomainEvent>;

/** What another gateway on the same store has committed. */
export type Commit = ForeignCommit<Change, DomainEvent>;

export type Journal = JournalWith<Change, DomainEvent>;

/** Everything a gateway remembers from its last run. */
export interface Snapshot
  extends AccessSnapshot,
    ApprovalsSnapshot,
    BackupsSnapshot,
    BudgetsSnapshot,
    ControlSnapshot,
    EventIdsSnapshot,
    OpsSnapshot,
    PoliciesSnapshot,
    RatesSnapshot,
    RestoresSnapshot,
    RunsSnapshot,
    SuspensionsSnapshot,
    TenancySnapshot {
  readonly head: ChainHead;
  /** The log keeps the facts after this entry. Before it, releases kept audit entries alone. */
  readonly factsFrom: number;
  /** What could not be read. It grows until the agents and the operations are read. */
  readonly unread: readonly Unread[];
}

/** The facts of one commit that a start applies again. */
export interface KeptFacts {
  /** Counts commits. */
  readonly position: number;
  /** The newest entry of the log before the commit, and after it. */
  readonly before: number;
  readonly seq: number;
  /** As `factsText` or `commitText` wrote them. */
  readonly facts: string;
}

/** The mark from which on the log keeps facts. */
const factsFrom = 'facts_from';

/** Keeps what must survive the gateway. Every store passes the same conformance suite. */
export interface Store extends EntryLog, ControlReader, ClosedPeriodReader {
  readonly policies: PolicyStore;
  readonly approvals: ApprovalReader;
  load(): Promise<Snapshot>;
  /**
   * Writes all of the batch or nothing, and returns or resolves once it is durable. Throws or rejects on failure: with
   * `HeadMoved` if another gateway on the same store wrote entries first. The caller starts no commit before the last
   * one has settled.
   */
  commit(batch: Batch): void | Promise<void>;
  /** Kept facts after this position and this entry, a page of them, in order. Empty at the end. */
  factsAfter(position: number, seq: number): Promise<readonly KeptFacts[]>;
  /** No start needs the facts up to this entry any more. Removes those of up to `most` commits; true if there may be more. */
  forgetFacts(through: number, most: number): boolean | Promise<boolean>;
  /** Throws or rejects if a commit would fail now. */
  probe(): void | Promise<void>;
  close(): Promise<void>;
}

/** What a gateway reads at start, and who is out of service if a row of it cannot be read. */
export const readings = {
  agents: owned(itsAgent, every(agentsTable)),
  agentUses: owned(nobody, every(agentUsesTable)),
  delegations: owned(itsAgent, every(delegationsTable)),
  apiKeys: owned(nobody, every(apiKeysTable)),
  signingKeys: owned(nobody, every(signingKeysTable)),
  policies: owned(itsNamespace, every(policyVersionsTable, [], { latest: 'version' })),
  ops: owned(itsAgent, every(opsTable)),
  receipts: owned(itsAgent, every(receiptsTable, [{ column: 'is_open', is: 'on' }])),
  bulkControls: owned(
    nobody,
    every(bulksTable, [{ column: 'is_remembered', is: 'on' }], {
      newest: { by: ['requested_at', 'id'], most: 10_000 },
    }),
  ),
  controlSequences: owned(itsAgent, every(sequencesTable)),
  runControls: owned(itsReach, every(runControlsTable)),
  departures: owned(itsReach, every(departuresTable)),
  suspensions: owned(itsReach, every(suspensionsTable)),
  approvals: owned(itsAgent, every(approvalsTable, [{ column: 'is_live', is: 'on' }])),
  grants: owned(itsAgent, every(grantsTable, [{ column: 'is_revoked', is: 'off' }])),
  balances: owned(itsTier, every(balancesTable)),
  rates: owned(itsTier, every(ratesTable)),
  runs: owned(itsReach, every(runsTable)),
  labels: owned(itsReach, every(labelsTable)),
  forgottenRuns: owned(nobody, every(forgottenRunsTable)),
  marks: owned(nobody, every(marksTable)),
} as const;

function owned<Item>(owner: OwnerOfRow, reading: Reading<Item>): OwnedReading<Item> {
  return { ...reading, owner };
}

export interface OwnedReading<Item> extends Reading<Item> {
  readonly owner: OwnerOfRow;
}

/** Reads one row. Undefined if it cannot be read: that is noted, and the others are read. */
export type ReadRow<Item> = (row: Row) => Item | undefined;

/** Finds the rows in a store's own way, and reads each. */
export type FindRows = <Item>(
  reading: Reading<Item>,
  read: ReadRow<Item>,
) => readonly (Item | undefined)[] | Promise<readonly (Item | undefined)[]>;

/** Reads rows one by one when they are asked for. */
export type EachRow = <Item>(reading: Reading<Item>, read: ReadRow<Item>) => Iterable<Item>;

/**
 * Assembles a snapshot. Agents and operations may be hundreds of thousands: a store that can, reads them one by one when they
 * are asked for.
 */
export async function loadSnapshot(head: ChainHead, find: FindRows, each?: EachRow): Promise<Snapshot> {
  const { apiKeys, signingKeys, unread: unreadAccess } = await loadAccess(find);
  const unread = [...unreadAccess];
  const read = reader(find, unread);
  const oneByOne = async <Item>(reading: OwnedReading<Item>): Promise<Iterable<Item>> =>
    each === undefined ? await read(reading) : each(reading, rowReader(reading, unread));
  const marks = new Map((await read(readings.marks)).map(({ name, value }) => [name, value]));
  return {
    head,
    factsFrom: marks.get(factsFrom) ?? 0,
    unread,
    agents: await oneByOne(readings.agents),
    agentUses: await read(readings.agentUses),
    delegations: await read(readings.delegations),
    apiKeys,
    signingKeys,
    policies: await read(readings.policies),
    ops: await oneByOne(readings.ops),
    opsReplayFrom: marks.get(replayFrom) ?? null,
    receipts: await read(readings.receipts),
    bulkControls: await read(readings.bulkControls),
    controlSequences: await read(readings.controlSequences),
    runControls: await read(readings.runControls),
    departures: await read(readings.departures),
    suspensions: await read(readings.suspensions),
    approvals: await read(readings.approvals),
    grants: await read(readings.grants),
    ...balancesOf(await read(readings.balances)),
    rates: await read(readings.rates),
    ratesMark: marks.get(ratesFrom) ?? null,
    runs: await read(readings.runs),
    runsMark: marks.get(runsFrom) ?? null,
    labels: await read(readings.labels),
    forgottenRuns: await read(readings.forgottenRuns),
    lastBackupAt: marks.get(lastBackupAt) ?? null,
    eventIdsReserved: marks.get(idsReserved) ?? 0,
    restoredAt: marks.get(restoredAt) ?? null,
    restoredFrom: marks.get(restoredFrom) ?? null,
  };
}

export type LoadedAccess = AccessSnapshot & Pick<Snapshot, 'unread'>;

/** Assembles the credentials. */
export async function loadAccess(find: FindRows): Promise<LoadedAccess> {
  const unread: Unread[] = [];
  const read = reader(find, unread);
  return { apiKeys: await read(readings.apiKeys), signingKeys: await read(readings.signingKeys), unread };
}

/** A key that comes from an unread one is refused. This says how many are. */
export function unreadDescents({ apiKeys }: Pick<Snapshot, 'apiKeys'>): readonly Unread[] {
  const orphans = orphansIn(apiKeys);
  if (orphans.length === 0) return [];
  const why = `${orphans.length} API keys come from one that cannot be read, and are refused`;
  return [{ touched: touchedBy(undefined), why }];
}

/** Reads the items that can be read, and notes the others. */
function reader(find: FindRows, unread: Unread[]) {
  return async <Item>(reading: OwnedReading<Item>): Promise<readonly Item[]> =>
    (await find(reading, rowReader(reading, unread))).filter((item) => item !== undefined);
}

function ownerOf(owner: OwnerOfRow, row: Row): Touched {
  try {
    return touchedBy(owner(row));
  } catch {
    return everything;
  }
}

/** No reason is told: it would quote the row, which may hold secrets. */
function rowReader<Item>({ table, owner }: OwnedReading<Item>, unread: Unread[]): ReadRow<Item> {
  return (row) => {
    try {
      return table.itemOf(row);
    } catch {
      unread.push({ touched: ownerOf(owner, row), why: `a row of the table ${table.name} cannot be read` });
      return undefined;
    }
  };
}
