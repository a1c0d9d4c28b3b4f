import type { ApiKeyRecord } from '../access/api-key.ts';
import type { SigningKeyRecord } from '../access/signing-key.ts';
import { emptyChain } from '../audit/chain.ts';
import { EntryPage } from '../audit/audit-reader.ts';
import type { SealedEntry } from '../audit/entry.ts';
import type { ClosedPeriod, SavedBalance } from '../budget/balance.ts';
import type { Period } from '../budget/period.ts';
import type { TierOf } from '../budget/tier.ts';
import type { BalancesMark } from '../budget/recover-balances.ts';
import { tierKey } from '../budget/tier.ts';
import type { BulkControl } from '../control/bulk-control.ts';
import type { Receipt, ReceiptStatus } from '../ops/receipt.ts';
import type { SavedOp } from '../ops/ops-slice.ts';
import type { Batch, Change, Snapshot, Store } from '../store.ts';
import type { AuditPage, AuditQuery, AuditReader, StoredEntry } from '../audit/audit-reader.ts';
import type { AgentRecord } from '../tenancy/agent.ts';
import type { AgentId } from '../kernel/ids.ts';
import { agentAfter, agentOfChange } from '../tenancy/agent-after.ts';
import { agentKey } from '../kernel/ids.ts';
import type { MemoryAccountStore } from './memory-account-store.ts';
import { MemoryClosedPeriods } from './memory-closed-periods.ts';
import { MemoryControls } from './memory-controls.ts';
import { MemoryPolicies } from './memory-policies.ts';
import { MemoryApprovals } from './memory-approvals.ts';

/** How many entries are kept: `memory:` promises nothing over a restart, and its memory must stay bounded. */
const mostEntries = 100_000;

/** The store that `memory:` runs on. */
export class MemoryStore implements Store, AuditReader {
  #entries: SealedEntry[] = [];
  #head = emptyChain;
  readonly #agents = new Map<string, AgentRecord>();
  readonly #apiKeys = new Map<string, ApiKeyRecord>();
  readonly #signingKeys = new Map<string, SigningKeyRecord>();
  readonly #ops = new Map<string, SavedOp>();
  readonly #controls = new MemoryControls();
  readonly policies = new MemoryPolicies();
  readonly approvals = new MemoryApprovals();
  readonly #balances = new Map<string, SavedBalance>();
  #balancesMark: BalancesMark | null = null;
  readonly #closedPeriods = new MemoryClosedPeriods();
  #opsReplayFrom: number | null = 0;
  #eventIdsReserved: number;
  readonly #accounts: Pick<MemoryAccountStore, 'entryRecorded'> | undefined;

  /**
   * It remembers nothing of an earlier run, and ids of events must not repeat for all that: whoever wants them to go on
   * over restarts gives a number that grows from one to the next. `accounts` is where entries are owed, if anywhere.
   */
  constructor(eventIdsReserved = 0, accounts?: Pick<MemoryAccountStore, 'entryRecorded'>) {
    this.#eventIdsReserved = eventIdsReserved;
    this.#accounts = accounts;
  }

  load(): Promise<Snapshot> {
    return Promise.resolve({
      head: this.#head,
      agents: [...this.#agents.values()],
      apiKeys: [...this.#apiKeys.values()],
      signingKeys: [...this.#signingKeys.values()],
      ops: [...this.#ops.values()],
      opsReplayFrom: this.#opsReplayFrom,
      ...this.#controls.load(),
      ...this.policies.load(),
      ...this.approvals.load(),
      eventIdsReserved: this.#eventIdsReserved,
      balances: [...this.#balances.values()],
      balancesMark: this.#balancesMark,
    });
  }

  /** Whatever could be wrong with a batch is looked at first: past that, nothing can fail half-way. */
  commit(batch: Batch): void {
    let { seq } = this.#head;
    for (const entry of batch.entries) {
      if (entry.seq !== seq + 1) throw new Error(`entry ${entry.seq} does not follow entry ${seq}`);
      seq = entry.seq;
    }
    for (const change of batch.changes) this.#apply(change);
    for (const entry of batch.entries) this.#entries.push(entry);
    const last = batch.entries.at(-1);
    if (last !== undefined) this.#head = { seq: last.seq, hash: last.hash };
    if (this.#entries.length > 2 * mostEntries) this.#entries = this.#entries.slice(-mostEntries);
  }

  latest(query: AuditQuery): Promise<AuditPage> {
    return Promise.resolve(pageOf(this.#entries.toReversed(), query));
  }

  oldest(query: AuditQuery): Promise<AuditPage> {
    return Promise.resolve(pageOf(this.#entries, query));
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
    return Promise.resolve(this.#closedPeriods.newest(of, period, count));
  }

  probe(): void {
    return;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #apply(change: Change): void {
    switch (change.kind) {
      case 'agent_saved':
      case 'agent_controlled':
      case 'agent_suspended':
      case 'agent_resumed':
      case 'agent_removed': {
        const key = agentKey(agentOfChange(change));
        const agent = agentAfter(this.#agents.get(key), change);
        if (agent === undefined) this.#agents.delete(key);
        else this.#agents.set(key, agent);
        break;
      }
      case 'api_key_saved':
        this.#apiKeys.set(change.key.id, change.key);
        break;
      case 'api_key_used': {
        const key = this.#apiKeys.get(change.id);
        if (key !== undefined)
          this.#apiKeys.set(key.id, { ...key, lastUsedAt: Math.max(key.lastUsedAt ?? 0, change.at) });
        break;
      }
      case 'signing_key_saved':
        this.#signingKeys.set(change.key.kid, change.key);
        break;
      case 'signing_key_removed':
        this.#signingKeys.delete(change.kid);
        break;
      case 'entries_removed':
        this.#entries = this.#entries.filter((entry) => entry.seq > change.through);
        break;
      case 'op_saved':
        this.#ops.set(`${agentKey(change.op.agent)}/${change.op.opId}`, change.op);
        break;
      case 'op_removed':
        this.#ops.delete(`${agentKey(change.id)}/${change.opId}`);
        break;
      case 'balances_saved':
        for (const of of change.over) this.#balances.delete(tierKey(of));
        for (const balance of change.saved) this.#balances.set(tierKey(balance.of), { ...balance });
        this.#closedPeriods.apply(change);
        this.#balancesMark = change.asOf;
        break;
      case 'event_ids_reserved':
        this.#eventIdsReserved = change.through;
        break;
      case 'owed_entry_recorded':
        this.#accounts?.entryRecorded(change.id);
        break;
      case 'receipt_saved':
      case 'bulk_control_saved':
      case 'control_sequence_saved':
      case 'receipts_removed':
        this.#controls.apply(change, ({ agent, opId }) => this.#ops.has(`${agentKey(agent)}/${opId}`));
        break;
      case 'policy_saved':
      case 'policy_set_saved':
        this.policies.apply(change);
        break;
      case 'approval_saved':
      case 'grant_saved':
      case 'approvals_removed':
        this.approvals.apply(change);
        break;
      case 'ops_replay_from':
        this.#opsReplayFrom = change.seq;
        break;
      case 'ops_forgotten':
        this.#opsReplayFrom = null;
        this.#ops.clear();
        break;
    }
  }
}

function pageOf(entries: readonly SealedEntry[], query: AuditQuery): AuditPage {
  const page = new EntryPage(query.limit);
  for (const entry of entries) if (fits(entry, query) && !page.offer(stored(entry))) break;
  return page.finish();
}

function stored({ seq, hash, canonical }: SealedEntry): StoredEntry {
  return { seq, hash, canonical };
}

function fits({ seq, draft, canonical }: SealedEntry, query: AuditQuery): boolean {
  const { lineage } = draft;
  const claimed = query.orClaimedOrgId !== undefined && draft.claimedOrgId === query.orClaimedOrgId;
  return (
    (query.before === undefined || seq < query.before) &&
    (query.after === undefined || seq > query.after) &&
    (query.q === undefined || holds(canonical, query.q)) &&
    (claimed || query.orgId === undefined || lineage.org_id === query.orgId) &&
    (query.teamId === undefined || lineage.team_id === query.teamId) &&
    (query.agentId === undefined || lineage.agent_id === query.agentId) &&
    (query.eventType === undefined || draft.eventType === query.eventType) &&
    (query.decision === undefined || draft.decision === query.decision) &&
    (query.opId === undefined || draft.opId === query.opId) &&
    (query.from === undefined || draft.at >= query.from) &&
    (query.to === undefined || draft.at < query.to)
  );
}

/** Whether the text of an entry holds what is looked for, in whatever case. */
function holds(canonical: string, q: string): boolean {
  return canonical.toLowerCase().includes(JSON.stringify(q).slice(1, -1).toLowerCase());
}
