import type { ClosedBooksReader, SavedBooks } from '../budget/books.ts';
import type { BooksMark } from '../budget/recover-books.ts';
import type { ApiKeyRecord } from '../access/api-key.ts';
import type { SigningKeyRecord } from '../access/signing-key.ts';
import type { Approval } from '../approvals/approval.ts';
import type { ApprovalReader } from '../approvals/approval-reader.ts';
import type { StandingGrant } from '../approvals/grant.ts';
import type { ChainHead } from '../audit/chain.ts';
import type { BulkControl } from '../control/bulk-control.ts';
import type { ControlReader, ControlSequence } from '../control/control-reader.ts';
import type { Receipt } from '../ops/receipt.ts';
import type { StoredEntry } from '../audit/audit-reader.ts';
import type { PolicyShelf, StoredVersion } from '../policy/store/policy-version.ts';
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
  /** Up to where ids of events may have been given out. */
  readonly eventIdsReserved: number;
  readonly books: readonly SavedBooks[];
  /** Up to which entry the books are true; null where none were saved yet. */
  readonly booksMark: BooksMark | null;
  /** The receipts that wait or block. */
  readonly receipts: readonly Receipt[];
  /** Scoped controls with an idempotency key that were finished: the newest 10,000. */
  readonly bulkControls: readonly BulkControl[];
  readonly controlSequences: readonly ControlSequence[];
  /** The approvals that have something left to do. */
  readonly approvals: readonly Approval[];
  /** The grants that were not revoked. */
  readonly grants: readonly StandingGrant[];
  /** The newest version of each stored document. */
  readonly policies: readonly StoredVersion[];
}

/** Another gateway on the same store has written entries: the chain goes on from `head`. */
export class HeadMoved extends Error {
  readonly head: ChainHead;

  constructor(head: ChainHead) {
    super(`the log has moved on to entry ${head.seq}`);
    this.name = 'HeadMoved';
    this.head = head;
  }
}

/** Where a gateway keeps what must survive it. Every store runs the same conformance suite. */
export interface Store extends ControlReader, ClosedBooksReader {
  readonly policies: PolicyShelf;
  readonly approvals: ApprovalReader;
  load(): Promise<Snapshot>;
  /**
   * Up to `limit` entries after `seq`, oldest first, and of those no more than a page holds in bytes: fewer than `limit`
   * are not the last ones, none at all are.
   */
  after(seq: number, limit: number): Promise<StoredEntry[]>;
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
