import type { ApiKeyRecord } from '../access/api-key.ts';
import { emptyChain } from '../audit/chain.ts';
import type { SealedEntry } from '../audit/entry.ts';
import type { Batch, Change, SavedOp } from '../journal/change.ts';
import type { AuditQuery, Snapshot, Store, StoredEntry } from '../journal/store.ts';
import type { AgentRecord } from '../tenancy/agent.ts';
import { agentKey } from '../tenancy/agent-id.ts';

/** How many entries are kept: `memory:` promises nothing over a restart, and its memory must stay bounded. */
const mostEntries = 100_000;

/** The store that `memory:` runs on. */
export class MemoryStore implements Store {
  #entries: SealedEntry[] = [];
  #head = emptyChain;
  readonly #agents = new Map<string, AgentRecord>();
  readonly #apiKeys = new Map<string, ApiKeyRecord>();
  readonly #ops = new Map<string, SavedOp>();
  #opsReplayFrom: number | null = 0;

  load(): Promise<Snapshot> {
    return Promise.resolve({
      head: this.#head,
      agents: [...this.#agents.values()],
      apiKeys: [...this.#apiKeys.values()],
      ops: [...this.#ops.values()],
      opsReplayFrom: this.#opsReplayFrom,
    });
  }

  commit(batch: Batch): void {
    for (const change of batch.changes) this.#apply(change);
    for (const entry of batch.entries) this.#entries.push(entry);
    const last = batch.entries.at(-1);
    if (last !== undefined) this.#head = { seq: last.seq, hash: last.hash };
    if (this.#entries.length > 2 * mostEntries) this.#entries = this.#entries.slice(-mostEntries);
  }

  latest(query: AuditQuery): Promise<StoredEntry[]> {
    const found: StoredEntry[] = [];
    for (let i = this.#entries.length - 1; i >= 0 && found.length < query.limit; i--) {
      const entry = this.#entries[i];
      if (entry !== undefined && fits(entry, query)) found.push(stored(entry));
    }
    return Promise.resolve(found);
  }

  after(seq: number, limit: number): Promise<StoredEntry[]> {
    const first = this.#entries[0]?.seq ?? 1;
    const start = Math.max(0, seq + 1 - first);
    return Promise.resolve(this.#entries.slice(start, start + limit).map(stored));
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
        this.#agents.set(agentKey(change.agent.id), change.agent);
        break;
      case 'agent_removed':
        this.#agents.delete(agentKey(change.id));
        break;
      case 'api_key_saved':
        this.#apiKeys.set(change.key.id, change.key);
        break;
      case 'op_saved':
        this.#ops.set(`${agentKey(change.op.agent)}/${change.op.opId}`, change.op);
        break;
      case 'op_removed':
        this.#ops.delete(`${agentKey(change.id)}/${change.opId}`);
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

function stored({ seq, hash, canonical }: SealedEntry): StoredEntry {
  return { seq, hash, canonical };
}

function fits({ seq, draft }: SealedEntry, query: AuditQuery): boolean {
  const { lineage } = draft;
  return (
    (query.before === undefined || seq < query.before) &&
    (query.orgId === undefined || lineage.org_id === query.orgId) &&
    (query.teamId === undefined || lineage.team_id === query.teamId) &&
    (query.agentId === undefined || lineage.agent_id === query.agentId) &&
    (query.eventType === undefined || draft.eventType === query.eventType) &&
    (query.decision === undefined || draft.decision === query.decision) &&
    (query.opId === undefined || draft.opId === query.opId) &&
    (query.from === undefined || draft.at >= query.from) &&
    (query.to === undefined || draft.at < query.to)
  );
}
