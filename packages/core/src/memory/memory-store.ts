import { outboxTable } from '../accounts/index.ts';
import { emptyChain, EntryPage } from '../audit/index.ts';
import type { SealedEntry, AuditPage, AuditQuery, AuditReader, StoredEntry } from '../audit/index.ts';
import type { PeoplePage, PeopleQuery, PeopleReader, UserRunsPage, UserRunsQuery } from '../audit/index.ts';
import type { ClosedPeriod, Period, TierOf } from '../budget/index.ts';
import { closedPeriodsTable, tierKey } from '../budget/index.ts';
import type { BulkControl } from '../control/index.ts';
import { receiptsTable } from '../control/index.ts';
import type { Write } from '../journal/index.ts';
import { prune } from '../journal/index.ts';
import { entriesTable, fitsQuery, searchedOf } from '../logs/index.ts';
import type { Receipt, ReceiptStatus } from '../ops/index.ts';
import { factsText } from '../replication/index.ts';
import type { Batch, Change, KeptFacts, Snapshot, Store } from '../store.ts';
import { writesOf } from '../facts.ts';
import { loadSnapshot } from '../store.ts';
import type { AgentId } from '../kernel/index.ts';
import type { MemoryAccountStore } from './memory-account-store.ts';
import { MemoryApprovals, MemoryControls, MemoryPolicies } from './memory-readers.ts';
import { peopleOf, runsOf } from './memory-people.ts';
import { fitsAll, MemoryRows } from './memory-rows.ts';

/** How many entries a trim keeps. `memory:` promises nothing over a restart, and its memory must stay bounded. */
const mostEntries = 100_000;

/** How many settled receipts a trim removes, oldest first. It runs at twice this number. */
const mostReceipts = 100_000;
const oldReceipts = prune(receiptsTable, [{ column: 'is_open', is: 'off' }], {
  order: ['requested_at', 'id'],
  most: mostReceipts,
});

/** The store that `memory:` runs on. */
export class MemoryStore implements Store, AuditReader, PeopleReader {
  #entries: SealedEntry[] = [];
  #head = emptyChain;
  #facts: KeptFacts[] = [];
  #commits = 0;
  readonly #rows = new MemoryRows();
  readonly #controls = new MemoryControls(this.#rows);
  readonly policies = new MemoryPolicies(this.#rows);
  readonly approvals = new MemoryApprovals(this.#rows);
  readonly #closedOf = this.#rows.index(closedPeriodsTable, ({ of, period }) => closedName(of, period));
  readonly #accounts: Pick<MemoryAccountStore, 'entryRecorded'> | undefined;
  readonly #keepsFacts: boolean;

  /**
   * This store remembers nothing from an earlier run, yet event ids must not repeat. To continue them over restarts,
   * pass a number that grows with each run. `accounts` holds the owed entries, if there are any. `keepsFacts`: another
   * governance may start on it.
   */
  constructor(
    eventIdsReserved = 0,
    accounts?: Pick<MemoryAccountStore, 'entryRecorded'>,
    { keepsFacts = true }: { readonly keepsFacts?: boolean } = {},
  ) {
    this.#keepsFacts = keepsFacts;
    this.#accounts = accounts;
    this.#apply({ kind: 'ops_replay_from', seq: 0 });
    this.#apply({ kind: 'event_ids_reserved', through: eventIdsReserved });
  }

  load(): Promise<Snapshot> {
    return loadSnapshot(this.#head, (reading) => this.#rows.read(reading));
  }

  /** Checks the whole batch first. After that, nothing can fail half-way. */
  commit(batch: Batch): void {
    const { seq: before } = this.#head;
    let seq = before;
    for (const entry of batch.entries) {
      if (entry.seq !== seq + 1) throw new Error(`entry ${entry.seq} does not follow entry ${seq}`);
      seq = entry.seq;
    }
    const isKept = this.#keepsFacts && batch.told !== undefined && batch.told.steps.length > 0;
    const facts = isKept ? this.textOf(batch.told) : undefined;
    for (const change of batch.changes) this.#apply(change);
    for (const entry of batch.entries) this.#entries.push(entry);
    const last = batch.entries.at(-1);
    if (last !== undefined) this.#head = { seq: last.seq, hash: last.hash };
    if (facts !== undefined) this.#facts.push({ position: ++this.#commits, before, seq: this.#head.seq, facts });
    if (this.#entries.length > 2 * mostEntries) this.#entries = this.#entries.slice(-mostEntries);
  }

  /** The facts of a commit as this release writes them. */
  protected textOf(facts: NonNullable<Batch['told']>): string {
    return factsText(facts);
  }

  factsAfter(position: number, seq: number): Promise<readonly KeptFacts[]> {
    return Promise.resolve(this.#facts.filter((kept) => kept.position > position && kept.seq > seq));
  }

  forgetFacts(through: number): boolean {
    this.#facts = this.#facts.filter((kept) => kept.seq > through);
    return false;
  }

  latest(query: AuditQuery): Promise<AuditPage> {
    return Promise.resolve(pageOf(this.#entries.toReversed(), query));
  }

  oldest(query: AuditQuery): Promise<AuditPage> {
    return Promise.resolve(pageOf(this.#entries, query));
  }

  people(query: PeopleQuery): Promise<PeoplePage> {
    const { teamId: _, ...asked } = query;
    return Promise.resolve(peopleOf(fitting(this.#entries.toReversed(), asked), query));
  }

  runsOfUser(query: UserRunsQuery): Promise<UserRunsPage> {
    const { teamId: _, user, before = Number.POSITIVE_INFINITY, ...asked } = query;
    const older = this.#entries.slice(0, Math.max(0, before - (this.#entries[0]?.seq ?? 1)));
    const lookedAt = fitting(older.toReversed(), asked.orgId === undefined ? { ...asked, user } : asked);
    return Promise.resolve(runsOf(lookedAt, query));
  }

  after(seq: number, limit: number): Promise<StoredEntry[]> {
    const first = this.#entries[0]?.seq ?? 1;
    const start = Math.max(0, seq + 1 - first);
    const page = new EntryPage(limit);
    for (let at = start; at < this.#entries.length; at++) {
      const entry = this.#entries[at];
      if (entry === undefined || !page.offer(stored(entry))) break;
    }
    return Promise.resolve(page.entries);
  }

  receipt(id: string): Promise<Receipt | undefined> {
    return this.#controls.receipt(id);
  }

  receipts(ids: readonly string[]): Promise<readonly Receipt[]> {
    return this.#controls.receipts(ids);
  }

  receiptOf(agent: AgentId, sequence: number): Promise<Receipt | undefined> {
    return this.#controls.receiptOf(agent, sequence);
  }

  bulk(id: string): Promise<BulkControl | undefined> {
    return this.#controls.bulk(id);
  }

  receiptsOfBulk(bulkId: string, after: string, limit: number): Promise<readonly Receipt[]> {
    return this.#controls.receiptsOfBulk(bulkId, after, limit);
  }

  countsOfBulk(bulkId: string): Promise<Readonly<Partial<Record<ReceiptStatus, number>>>> {
    return this.#controls.countsOfBulk(bulkId);
  }

  closedPeriods(of: TierOf, period: Period, count: number): Promise<readonly ClosedPeriod[]> {
    const known = this.#closedOf(closedName(of, period));
    return Promise.resolve(known.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(-count));
  }

  probe(): void {
    return;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #apply(change: Change): void {
    for (const write of writesOf(change)) this.#write(write);
  }

  /** Entries, and those that accounts owe to the log, are not kept as rows. */
  #write(write: Write): void {
    const { table } = write;
    if (table === outboxTable && write.way === 'remove') this.#accounts?.entryRecorded(String(write.key[0]));
    else if (table === entriesTable && write.way === 'prune') {
      this.#entries = this.#entries.filter((entry) => !fitsAll(entriesTable, entry, write.where));
    } else this.#rows.apply(write);
    if (table === receiptsTable && this.#rows.count(table) > 2 * mostReceipts) this.#rows.apply(oldReceipts);
  }
}

function closedName(of: TierOf, period: Period): string {
  return `${period} ${tierKey(of)}`;
}

function pageOf(entries: readonly SealedEntry[], query: AuditQuery): AuditPage {
  const page = new EntryPage(query.limit);
  for (const entry of fitting(entries, query)) if (!page.offer(stored(entry))) break;
  return page.finish();
}

function* fitting(entries: readonly SealedEntry[], query: Omit<AuditQuery, 'limit'>): Generator<SealedEntry> {
  for (const entry of entries) if (fitsQuery(searchedOf(entry), query)) yield entry;
}

function stored({ seq, hash, canonical }: SealedEntry): StoredEntry {
  return { seq, hash, canonical };
}
