import type { Agent } from '../tenancy/index.ts';
import type { Operations, OpsState } from './operations.ts';
import type { SavedOp } from './ops-slice.ts';
import { recordOf } from './op.ts';
import type { Op } from './op.ts';
import { rowOf } from './forgotten-rows.ts';

/** Most operations need no row. A step looks at no more than this many for each row that it may write. */
const lookedPerRow = 10;

/**
 * Each gateway forgets operations by its own clock, and knows by itself which rows it owes. Only what becomes of the rows
 * is a fact.
 */
export type Housekeeping = Operations & Pick<OpsState, 'ops'>;

/**
 * A restart restores operations from the audit log, which is durable before any answer. To keep that short, operations
 * that outlive `settleMs` get a row, written aside from decisions. The others never get one. A mark follows at a safe
 * distance: entries before it need no replay.
 */
export class OpsCheckpoint {
  readonly #gov: Housekeeping;
  readonly #settleMs: number;
  /** A tick may be late by almost a tick. */
  readonly #endsAtOnceMs: number;
  /** The sweep removes an operation without a row a time to live and a tick after its end. Two ticks are spare. */
  readonly #windowMs: number;
  #marks: { readonly elapsed: number; readonly seq: number }[] = [];

  /** Where a restart starts to replay. Entries up to here are not needed to restore operations. */
  #replayFrom = 0;

  /** `settleMs`: how long an operation is left to the log alone. */
  constructor(gov: Housekeeping, tickMs: number, ttlMs: number, settleMs = tickMs) {
    this.#gov = gov;
    this.#settleMs = settleMs;
    this.#endsAtOnceMs = settleMs + tickMs;
    this.#windowMs = this.#endsAtOnceMs + ttlMs + 3 * tickMs;
  }

  /**
   * Saves operations for up to `limit` rows, in a turn. When nothing is left to write, it moves the mark and returns
   * false. A gateway that is behind leaves that to others: it would write over their rows, and mark what it has not read.
   */
  step(limit: number): boolean {
    if (this.#gov.directory.outOfService.isBehind) return false;
    const hasMore = this.#save(limit);
    if (!hasMore) this.#advance();
    return hasMore;
  }

  #save(limit: number): boolean {
    const { clock, journal, ops } = this.#gov;
    const settledBy = clock.elapsed() - this.#settleMs;
    let saved = 0;
    let hasMore = false;
    let looked = 0;
    for (const [op, since] of ops.unsaved()) {
      if (since > settledBy) break;
      hasMore = looked++ === limit * lookedPerRow || saved === limit;
      if (hasMore) break;
      if (op.seq === 0) continue;
      if (this.#endedAtOnce(op, since)) {
        ops.needsNoRow(op);
        continue;
      }
      journal.apply({ kind: 'op_saved', op: savedOf(op) });
      saved++;
    }
    return hasMore;
  }

  /** The log alone restores such an operation while it is kept. An end that is not durable yet may be taken back. */
  #endedAtOnce(op: Op, since: number): boolean {
    return op.hasEnded && op.savedSeq === 0 && op.movedAt - since <= this.#endsAtOnceMs;
  }

  get replayFrom(): number {
    return this.#replayFrom;
  }

  #advance(): void {
    const { clock, journal, ops } = this.#gov;
    // A restart would read such a row, and no longer the entry that says how the operation ended. Asking also notes that
    // the mark rests on all rows that are written and not durable yet.
    if (ops.hasRowsToRemove) return;
    const now = clock.elapsed();
    const marks = this.#marks;
    const old = marks.findLast((mark) => mark.elapsed <= now - this.#windowMs);
    const newer = old === undefined ? marks : marks.filter((mark) => mark.elapsed > old.elapsed);
    const { seq } = journal.head;
    journal.onCommitted(() => {
      this.#marks = [...newer, { elapsed: now, seq }];
      this.#replayFrom = old?.seq ?? this.#replayFrom;
    });
    if (old !== undefined) journal.apply({ kind: 'ops_replay_from', seq: old.seq });
  }
}

function savedOf(op: Op): SavedOp {
  const { control, stale: _, ...record } = recordOf(op);
  return { ...record, seq: op.seq, controlId: control?.id ?? null };
}

/**
 * Removes up to `most` operations that have been over for long enough, in a turn: from memory, and from the store if they
 * have a row. Whichever gateway sweeps first removes the row, and the others follow. A row whose operation nobody
 * remembers would come back at the next start as whatever it says.
 */
export function sweepOps(gov: Housekeeping, most = Number.POSITIVE_INFINITY): number {
  const { journal, ops } = gov;
  const removed = ops.sweep(most);
  const saved = [...ops.takeForgottenRows(), ...removed.filter(({ savedSeq }) => savedSeq > 0).map(rowOf)];
  for (const { id, opId } of saved) journal.apply({ kind: 'op_removed', id, opId });
  return removed.length;
}

/**
 * Removes all rows of an agent, in the turn in which it leaves. If another gateway has written one meanwhile, the turn runs
 * again, and knows of it.
 */
export function removeRowsOf({ journal, ops }: Housekeeping, agent: Agent): void {
  const { key, record } = agent;
  const forgotten = [...ops.takeForgottenRows(key)];
  const saved = [...ops.of(agent)].filter(({ savedSeq }) => savedSeq > 0);
  for (const { opId } of [...forgotten, ...saved]) journal.apply({ kind: 'op_removed', id: record.id, opId });
}
