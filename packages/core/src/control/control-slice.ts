import type { BulkControl } from './bulk-control.ts';
import type { EpochMs, AgentId } from '../kernel/index.ts';
import type { Receipt, ReceiptStatus } from '../ops/index.ts';

/** The rows that controls write. */
export type ControlChange =
  | { readonly kind: 'receipt_saved'; readonly receipt: Receipt }
  | { readonly kind: 'bulk_control_saved'; readonly bulk: BulkControl }
  | { readonly kind: 'control_sequence_saved'; readonly sequence: ControlSequence }
  /**
   * Retention: up to `most` receipts, and as many scoped controls, that were requested before are given up. Those that
   * wait, that block, or whose operation has a row stay.
   */
  | { readonly kind: 'receipts_removed'; readonly before: EpochMs; readonly most: number };

/** What a start brings back of controls. */
export interface ControlSnapshot {
  /** The receipts that wait or block. */
  readonly receipts: readonly Receipt[];
  /** Scoped controls with an idempotency key that were finished: the newest 10,000. */
  readonly bulkControls: readonly BulkControl[];
  readonly controlSequences: readonly ControlSequence[];
}

/** Reads what the store remembers of controls: only what is open is kept in memory. */
export interface ControlReader {
  receipt(id: string): Promise<Receipt | undefined>;
  /** Those of these receipts that are known, in no particular order. */
  receipts(ids: readonly string[]): Promise<readonly Receipt[]>;
  receiptOf(agent: AgentId, sequence: number): Promise<Receipt | undefined>;
  bulk(id: string): Promise<BulkControl | undefined>;
  /** Up to `limit` receipts of a scoped control, by id, after `after`. */
  receiptsOfBulk(bulkId: string, after: string, limit: number): Promise<readonly Receipt[]>;
  /** How many receipts a scoped control has, by status; a status that none has may be left out. */
  countsOfBulk(bulkId: string): Promise<Readonly<Partial<Record<ReceiptStatus, number>>>>;
}

/** The last number that a message to an agent had. It outlives the registration, so that no number comes twice. */
export interface ControlSequence {
  readonly agent: AgentId;
  readonly sequence: number;
}
