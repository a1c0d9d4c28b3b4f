import type { BulkControl } from './bulk-control.ts';
import type { ControlSequence } from './control-reader.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { Receipt } from '../ops/receipt.ts';

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
