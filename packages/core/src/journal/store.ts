import type { ApiKeyRecord } from '../access/api-key.ts';
import type { ChainHead } from '../audit/chain.ts';
import type { AuditEventType } from '../audit/entry.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { AgentRecord } from '../tenancy/agent.ts';
import type { Batch, SavedOp } from './change.ts';

/** All that a gateway remembers, as it was when last it ran. */
export interface Snapshot {
  readonly head: ChainHead;
  readonly agents: readonly AgentRecord[];
  readonly apiKeys: readonly ApiKeyRecord[];
  readonly ops: readonly SavedOp[];
  /** After which entry operations are brought back by replaying the log; null: they are not. */
  readonly opsReplayFrom: number | null;
}

/** An entry as it is kept: `canonical` is the text that `hash` is over. */
export interface StoredEntry {
  readonly seq: number;
  readonly hash: string;
  readonly canonical: string;
}

/** Which entries to find. Absent members do not narrow; a null org never matches an org that is asked for. */
export interface AuditQuery {
  readonly orgId?: string;
  readonly teamId?: string;
  readonly agentId?: string;
  readonly eventType?: AuditEventType;
  readonly decision?: 'allow' | 'deny' | 'pending';
  readonly opId?: string;
  readonly from?: EpochMs;
  readonly to?: EpochMs;
  /** Only entries before this one: where the last page ended. */
  readonly before?: number;
  readonly limit: number;
}

export interface AuditReader {
  /** The newest entries that fit, newest first. */
  latest(query: AuditQuery): Promise<StoredEntry[]>;
  /** Up to `limit` entries after `seq`, oldest first. */
  after(seq: number, limit: number): Promise<StoredEntry[]>;
}

/** Where a gateway keeps what must survive it. Every store runs the same conformance suite. */
export interface Store extends AuditReader {
  load(): Promise<Snapshot>;
  /** Writes all of the batch or nothing, and returns once it is durable. Throws where it could not. */
  commit(batch: Batch): void;
  /** Throws where a commit would not succeed now. */
  probe(): void;
  close(): Promise<void>;
}
