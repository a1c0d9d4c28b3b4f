import type { Undo } from '../journal/index.ts';
import type { Reservation } from '../budget/index.ts';
import type { Clock, ReadonlyChunkedSet } from '../kernel/index.ts';
import { agentKey, ChunkedSet, ReeveError } from '../kernel/index.ts';
import type { OpState, OpTrigger } from './lifecycle.ts';
import type { OpBody, OpMove, Put } from './mutable-op.ts';
import { assignBody, bodyOf, MutableOp, uncheckedSlot } from './mutable-op.ts';
import { isOver, nextState, refuseMove } from './lifecycle.ts';
import type { OpMembers, OpRecord, Op, OpTraits } from './op.ts';
import { changesRow, isAnother, isUnchecked, membersLike, membersOf } from './op.ts';
import { EndedOps } from './ended-ops.ts';
import { ForgottenRows, rowOf, type OpRow } from './forgotten-rows.ts';
import type { KnownOps } from './known-ops.ts';
import { ordinalOf } from './op-order.ts';
import { OpsIndex } from './ops-index.ts';
import { SharedTraits } from './shared-traits.ts';
import { UnsavedOps } from './unsaved-ops.ts';
import type { Receipt } from './receipt.ts';
import type { Agent } from '../tenancy/index.ts';

/** The operations in flight, and those that ended lately. Facts change them (`ops-facts.ts`). */
export class OpsRegistry implements KnownOps {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #isShared: boolean;
  readonly #counts: Record<OpState, number> = { pending: 0, running: 0, paused: 0, completing: 0, terminated: 0 };
  readonly #ended = new EndedOps((op) => this.holds(op));
  readonly #forgottenRows = new ForgottenRows();
  readonly #unsaved = new UnsavedOps();
  /** Operations that were registered before their check, oldest first. Checked ones are removed later. */
  readonly #unchecked = new ChunkedSet(uncheckedSlot);
  readonly #known: OpsIndex;
  readonly #traits = new SharedTraits();
  #newest = 0;

  /**
   * `isShared`: other gateways hold the same operations, and list them in the same order. `seed`: a number that agents
   * cannot guess.
   */
  constructor(clock: Clock, ttlMs: number, isShared = false, seed = 0) {
    this.#known = new OpsIndex(seed);
    this.#isShared = isShared;
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  get newest(): number {
    return this.#newest;
  }

  count(state: OpState): number {
    return this.#counts[state];
  }

  owners(): Iterable<Agent> {
    return this.#known.owners();
  }

  of(agent: Agent): ReadonlyChunkedSet<Op> {
    return this.#known.of(agent);
  }

  find(agent: Agent, opId: string): Op | undefined {
    return this.#known.find(agent, opId);
  }

  holds(op: Op): boolean {
    return this.find(op.owner, op.opId) === op;
  }

  withId(opId: string): readonly Op[] {
    return this.#known.withId(opId);
  }

  get(agent: Agent, opId: string): Op {
    const op = this.find(agent, opId);
    if (op === undefined) throw new ReeveError('op_not_found', `no operation "${opId}" of this agent is known`);
    return op;
  }

  *reservations(): Generator<Reservation> {
    for (const owner of this.owners()) {
      for (const { opId, delegators, reservedMicros, seq } of this.of(owner)) {
        if (reservedMicros !== 0) yield { agent: owner.record.id, delegators, opId, reservedMicros, seq };
      }
    }
  }

  /**
   * Brings an operation to a record, and returns how to take that back. `known` is the operation with that id, if any.
   * If it is over and begins anew, it is another one: the first was forgotten elsewhere.
   */
  put(owner: Agent, known: MutableOp | undefined, record: Omit<OpRecord, 'agent'>, put: Put): Undo {
    if (known === undefined || isAnother(known, record)) return this.#begin(owner, known, record, put);
    const before = bodyOf(known);
    const { traits, state, updatedAt, movedAt, hasEnded } = known;
    this.#bring(known, this.#traits.of(record), record, {
      state: record.state,
      updatedAt: record.updatedAt,
      movedAt: put.movedAt,
      hasEnded: put.isDurable && isOver(record.state),
    });
    if (put.seq !== undefined) known.seq = put.seq;
    // Nobody is asked before the first check.
    const hasWaited = state === 'pending' && before.digest !== '';
    if (put.isDurable && hasWaited && isOver(known.state)) this.#ended.noteWaited(known);
    // The sequence stays: an entry before this record may have become durable since.
    return () => this.#bring(known, traits, before, { state, updatedAt, movedAt, hasEnded });
  }

  #begin(
    owner: Agent,
    known: Op | undefined,
    record: Omit<OpRecord, 'agent'>,
    { movedAt, seq = 0, isDurable }: Put,
  ): Undo {
    const putBack = known === undefined ? undefined : this.forget(known);
    const savedSeq = known?.savedSeq ?? 0;
    const op = new MutableOp(owner, record, this.#traits.of(record), {
      movedAt,
      seq,
      savedSeq,
      hasEnded: isDurable && isOver(record.state),
    });
    this.#number(op);
    this.#keep(op);
    this.#noteUnsaved(op);
    if (isOver(op.state)) this.#ended.note(op);
    if (isUnchecked(op)) this.#unchecked.add(op);
    return () => {
      this.forget(op);
      // It had taken over a row that was owed.
      if (op.savedSeq > savedSeq) this.noteRowToRemove(rowOf(op));
      putBack?.();
    };
  }

  #bring(op: MutableOp, traits: OpTraits, body: OpBody, to: OpMove): void {
    assignBody(op, traits, body);
    if (to.state !== op.state) this.#set(op, to.state, to.movedAt);
    else this.#touch(op);
    op.updatedAt = to.updatedAt;
    op.hasEnded = to.hasEnded;
    if (isUnchecked(op)) this.#unchecked.add(op);
    else if (op.uncheckedPart !== undefined) this.#unchecked.delete(op);
  }

  /** The end of an operation is durable. */
  noteEnded(op: MutableOp): void {
    op.hasEnded = isOver(op.state);
  }

  /** After a restart: what became of the last control of an operation. */
  restoreControl(op: MutableOp, control: Receipt | null): void {
    op.traits = this.#traits.of({ ...op.traits, control });
  }

  /** After a restart: those that are over go in the order in which they ended. */
  sortEnded(): void {
    this.#ended.sort();
  }

  /** Changes an operation without a move, and returns how to take that back. Its row, if any, is then out of date. */
  change(op: Op, members: Partial<OpMembers>): Undo {
    const before = membersLike(members, op);
    this.#assign(op, members);
    return () => this.#assign(op, before);
  }

  #assign(op: MutableOp, members: Partial<OpMembers>): void {
    const isRowOld = changesRow(op, members);
    const all = { ...membersOf(op), ...members };
    assignBody(op, this.#traits.of(all), all);
    if (isRowOld) this.#touch(op);
  }

  destination({ state }: Pick<Op, 'state'>, trigger: OpTrigger): OpState {
    return nextState(state, trigger) ?? refuseMove(state, trigger);
  }

  /** Removes an operation and returns how to take that back. */
  forget(op: Op): Undo {
    if (!this.holds(op)) return () => undefined;
    const wasUnsaved = this.#unsaved.delete(op);
    // Only the gateway that leads looks at those that waited. All gateways forget them.
    const hasWaited = this.#ended.forgetWaited(op);
    this.#known.remove(op);
    this.#counts[op.state]--;
    return () => {
      this.#keep(op);
      if (wasUnsaved) this.#unsaved.noteOverdue(op);
      if (hasWaited) this.#ended.noteWaited(op);
    };
  }

  /** Removes up to `most` operations that have been over for longer than the time to live, and returns them. */
  sweep(most = Number.POSITIVE_INFINITY): Op[] {
    const removed: Op[] = [];
    if (most < 1) return removed;
    for (const op of this.#ended.takeUntil(this.#clock.elapsed() - this.#ttlMs)) {
      this.forget(op);
      if (removed.push(op) >= most) break;
    }
    return removed;
  }

  /** The rows of operations that are forgotten here, of all agents or of one. Whoever takes them removes them. */
  takeForgottenRows(key?: string): Iterable<OpRow> {
    // The agent may have left and returned since. The row has the same name.
    return this.#forgottenRows.take(
      (row) => this.withId(row.opId).find(({ owner }) => owner.key === agentKey(row.id)),
      key,
    );
  }

  /** Whether the store still has rows of operations that are forgotten here. */
  get hasRowsToRemove(): boolean {
    return !this.#forgottenRows.isEmpty;
  }

  noteRowToRemove(row: OpRow): void {
    this.#forgottenRows.add(row);
  }

  /** The operations whose row is missing or out of date, and since when. Longest first. */
  *unsaved(): Iterable<readonly [Op, number]> {
    for (const [op, since] of this.#unsaved.all()) {
      // A change of a forgotten operation was taken back. Its id may be another's by now, and so may its row.
      if (this.holds(op)) yield [op, since];
      else this.#unsaved.delete(op);
    }
  }

  /**
   * The row of an operation is written as of an entry. Returns how to take that back. If the operation is forgotten here
   * already, its row is owed. `isWhole`: the row has all that is known here, what is not durable yet included.
   */
  noteSaved(owner: Agent, opId: string, seq: number, isWhole: boolean): Undo {
    const op: MutableOp | undefined = this.find(owner, opId);
    if (op === undefined) {
      this.noteRowToRemove({ id: owner.record.id, opId, savedSeq: seq });
      return () => undefined;
    }
    const { savedSeq } = op;
    op.savedSeq = seq;
    const wasUnsaved = isWhole && this.#unsaved.delete(op);
    return () => {
      // Another gateway may have written the row meanwhile. Some day it is to be removed.
      op.savedSeq = Math.max(savedSeq, 1);
      if (wasUnsaved) this.#unsaved.noteOverdue(op);
    };
  }

  *uncheckedFor(ms: number): Iterable<Op> {
    const deadline = this.#clock.elapsed() - ms;
    for (const op of this.#unchecked) {
      if (!isUnchecked(op) || !this.holds(op)) this.#unchecked.delete(op);
      else if (op.movedAt > deadline) return;
      else yield op;
    }
  }

  endedWaiting(isLeft: (op: Op) => boolean): Iterable<Op> {
    return this.#ended.waited(isLeft);
  }

  needsNoRow(op: Op): void {
    this.#unsaved.delete(op);
  }

  #touch(op: Op): void {
    this.#unsaved.note(op, Math.floor(this.#clock.elapsed()));
  }

  /** Gives an operation its place among the others. */
  #number(op: MutableOp): void {
    op.arrival = ++this.#newest;
    op.ordinal = this.#isShared ? ordinalOf(op.registeredAt, `${op.owner.key}/${op.opId}`) : op.arrival;
  }

  #keep(op: Op): void {
    this.#known.add(op);
    this.#counts[op.state]++;
  }

  #noteUnsaved(op: Op): void {
    if (!isOver(op.state) || op.savedSeq > 0) this.#unsaved.note(op, op.movedAt);
  }

  #set(op: MutableOp, state: OpState, movedAt: number): void {
    this.#counts[op.state]--;
    this.#counts[state]++;
    op.state = state;
    op.movedAt = Math.floor(movedAt);
    this.#noteUnsaved(op);
    if (isOver(state)) this.#ended.note(op);
  }
}
