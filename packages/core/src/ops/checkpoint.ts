import type { Operations } from './operations.ts';
import type { SavedOp } from './ops-slice.ts';
import { isOver, recordOf } from './op.ts';
import type { Op } from './op.ts';

/** Most operations need no row. A step looks at no more than this many for each row that it may write. */
const lookedPerRow = 10;

/**
 * A restart recovers operations by replaying the audit log, which is durable before any answer. To keep the replay
 * short, operations that outlive `settleMs` get a row in the store, written aside from the decision path. The rest never
 * get one. Entries behind a mark need no replay; the mark follows at a safe distance.
 */
export class OpsCheckpoint {
  readonly #gov: Operations;
  readonly #settleMs: number;
  /** A tick may be late by almost a tick. */
  readonly #endsAtOnceMs: number;
  /** The sweep removes an operation without a row a time to live and a tick after its end. Two ticks are spare. */
  readonly #windowMs: number;
  #marks: { readonly elapsed: number; readonly seq: number }[] = [];

  /** Where a restart starts to replay. Entries up to here are not needed to restore operations. */
  #replayFrom = 0;

  /** `settleMs`: how long an operation is left to the log alone. */
  constructor(gov: Operations, tickMs: number, ttlMs: number, settleMs = tickMs) {
    this.#gov = gov;
    this.#settleMs = settleMs;
    this.#endsAtOnceMs = settleMs + tickMs;
    this.#windowMs = this.#endsAtOnceMs + ttlMs + 3 * tickMs;
  }

  /** Writes up to `limit` rows into this turn's batch. Returns false when nothing is left to write. */
  step(limit: number): boolean {
    const { clock, journal, ops } = this.#gov;
    const settledBy = clock.elapsed() - this.#settleMs;
    let written = 0;
    let looked = 0;
    for (const [op, since] of ops.unsaved()) {
      if (since > settledBy) break;
      if (looked++ === limit * lookedPerRow) return true;
      if (op.seq === 0) continue;
      if (this.#endedAtOnce(op, since)) {
        ops.needsNoRow(op);
        continue;
      }
      if (written === limit) return true;
      journal.write({ kind: 'op_saved', op: savedOf(op) });
      journal.onFailure(ops.markSaved(op));
      written++;
    }
    return false;
  }

  /** The log alone restores such an operation while it is kept. */
  #endedAtOnce(op: Op, since: number): boolean {
    return isOver(op.state) && op.savedSeq === 0 && op.movedAt - since <= this.#endsAtOnceMs;
  }

  get replayFrom(): number {
    return this.#replayFrom;
  }

  /** Moves the mark, once `step` has written everything. */
  advance(): void {
    const { clock, journal } = this.#gov;
    const now = clock.elapsed();
    const old = this.#marks.findLast((mark) => mark.elapsed <= now - this.#windowMs);
    if (old !== undefined) {
      const before = this.#replayFrom;
      this.#replayFrom = old.seq;
      journal.onFailure(() => {
        this.#replayFrom = before;
      });
      journal.write({ kind: 'ops_replay_from', seq: old.seq });
      this.#marks = this.#marks.filter((mark) => mark.elapsed > old.elapsed);
    }
    this.#marks.push({ elapsed: now, seq: journal.head.seq });
  }
}

function savedOf(op: Op): SavedOp {
  const { control, stale: _, ...record } = recordOf(op);
  return { ...record, seq: op.seq, controlId: control?.id ?? null };
}

/**
 * Removes operations that have been over for long enough: from memory, and from the store if they have a row. Of several
 * gateways on a store, one removes the rows.
 */
export function sweepOps(gov: Operations, most?: number, removesRows = true): number {
  const removed = gov.ops.sweep(most);
  for (const op of removed) {
    if (op.savedSeq === 0 || !removesRows) continue;
    gov.journal.write({ kind: 'op_removed', id: op.owner.record.id, opId: op.opId });
    gov.journal.onFailure(() => gov.ops.unsweep(op));
  }
  return removed.length;
}
