import type { BulkControl } from './bulk-control.ts';
import type { Departure } from './departures.ts';
import type { RunControl } from './run-controls.ts';
import type { EpochMs, AgentId } from '../kernel/index.ts';
import type { Receipt, ReceiptStatus } from '../ops/index.ts';

/** The facts of controls. No live view gets them. */
export type ControlChange =
  | { readonly kind: 'receipt_saved'; readonly receipt: Receipt }
  | { readonly kind: 'bulk_control_saved'; readonly bulk: BulkControl }
  | { readonly kind: 'control_sequence_saved'; readonly sequence: ControlSequence }
  | { readonly kind: 'run_control_saved'; readonly control: RunControl }
  /** It has refused a check. Nobody's decision rests on when. */
  | { readonly kind: 'run_control_used'; readonly control: RunControl }
  | { readonly kind: 'run_control_removed'; readonly control: RunControl }
  | { readonly kind: 'departure_saved'; readonly departure: Departure }
  | { readonly kind: 'departure_removed'; readonly departure: Departure }
  /**
   * Retention removes up to `most` receipts, and as many scoped controls, that were requested before `before`. Receipts
   * that wait, that block, or whose operation has a row stay.
   */
  | { readonly kind: 'receipts_removed'; readonly before: EpochMs; readonly most: number };

/** The controls that a start loads from the store. */
export interface ControlSnapshot {
  /** The receipts that wait or block. */
  readonly receipts: readonly Receipt[];
  /** The newest 10,000 finished scoped controls with an idempotency key. */
  readonly bulkControls: readonly BulkControl[];
  readonly controlSequences: readonly ControlSequence[];
  readonly runControls: readonly RunControl[];
  readonly departures: readonly Departure[];
}

/** Reads controls from the store. Memory holds only the open ones. */
export interface ControlReader {
  receipt(id: string): Promise<Receipt | undefined>;
  /** The known ones among these receipts, in no particular order. */
  receipts(ids: readonly string[]): Promise<readonly Receipt[]>;
  receiptOf(agent: AgentId, sequence: number): Promise<Receipt | undefined>;
  bulk(id: string): Promise<BulkControl | undefined>;
  /** Up to `limit` receipts of a scoped control, by id, after `after`. */
  receiptsOfBulk(bulkId: string, after: string, limit: number): Promise<readonly Receipt[]>;
  /** The number of receipts of a scoped control, by status. A status without receipts may be absent. */
  countsOfBulk(bulkId: string): Promise<Readonly<Partial<Record<ReceiptStatus, number>>>>;
}

/**
 * The sequence number of the last message to an agent. It outlives the registration, so that no number is used twice.
 */
export interface ControlSequence {
  readonly agent: AgentId;
  readonly sequence: number;
}
