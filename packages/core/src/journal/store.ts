import type { ApiKeyRecord } from '../access/api-key.ts';
import type { SigningKeyRecord } from '../access/signing-key.ts';
import type { ChainHead } from '../audit/chain.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { AgentRecord } from '../tenancy/agent.ts';
import type { Batch, SavedOp } from './change.ts';

/** All that a gateway remembers, as it was when last it ran. */
export interface Snapshot {
  readonly head: ChainHead;
  readonly agents: readonly AgentRecord[];
  readonly apiKeys: readonly ApiKeyRecord[];
  readonly signingKeys: readonly SigningKeyRecord[];
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
  readonly eventType?: string;
  readonly decision?: 'allow' | 'deny' | 'pending';
  readonly opId?: string;
  readonly from?: EpochMs;
  readonly to?: EpochMs;
  /** Impersonations in which this org was claimed, whoever's entry they are, count as the org's own. */
  readonly orClaimedOrgId?: string;
  /** Only entries that hold this text, in whatever case. */
  readonly q?: string;
  /** Only entries before this one: where the last page ended. */
  readonly before?: number;
  /** Only entries after this one. */
  readonly after?: number;
  readonly limit: number;
}

/** A page of entries, and how far the search has come: it may end early so that no search takes forever. */
export interface AuditPage {
  readonly entries: readonly StoredEntry[];
  /** Where to go on: before (or after) this sequence; null where there is nothing more. */
  readonly next: number | null;
}

export interface AuditReader {
  /** The newest entries that fit, newest first. */
  latest(query: AuditQuery): Promise<AuditPage>;
  /** The entries that fit, oldest first. */
  oldest(query: AuditQuery): Promise<AuditPage>;
}

/** Where a gateway keeps what must survive it. Every store runs the same conformance suite. */
export interface Store {
  load(): Promise<Snapshot>;
  /** Up to `limit` entries after `seq`, oldest first. */
  after(seq: number, limit: number): Promise<StoredEntry[]>;
  /** Writes all of the batch or nothing, and returns once it is durable. Throws where it could not. */
  commit(batch: Batch): void;
  /** Throws where a commit would not succeed now. */
  probe(): void;
  close(): Promise<void>;
}
