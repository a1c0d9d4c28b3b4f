import type { Undo } from '../journal/index.ts';
import type { Reservation } from '../budget/index.ts';
import type { Clock, EpochMs, ReadonlyChunkedSet } from '../kernel/index.ts';
import { ChunkedSet, ReeveError } from '../kernel/index.ts';
import type { MutableOp, OpMembers, OpRecord, OpState, OpTrigger, Op } from './op.ts';
import {
  changesRow,
  hasEnded,
  isOver,
  isUnchecked,
  membersLike,
  newOp,
  nextState,
  refuseMove,
  restoredOp,
  uncheckedSlot,
} from './op.ts';
import { KnownOps } from './known-ops.ts';
import { UnsavedOps } from './unsaved-ops.ts';
import { inOrderOf, ordinalOf } from './op-order.ts';
import type { Agent } from '../tenancy/index.ts';

/** The row of an operation in the store. */
export type OpRow = Pick<Op, 'owner' | 'opId' | 'savedSeq'>;

/** The operations in flight, and those that ended lately. */
export class OpsRegistry {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #isShared: boolean;
  readonly #counts: Record<OpState, number> = { pending: 0, running: 0, paused: 0, completing: 0, terminated: 0 };
  /** Operations that are over, in the order in which they ended. The sweep takes them from the front. */
  #ended: Op[] = [];
  #swept = 0;
  readonly #forgottenRows: OpRow[] = [];
  readonly #unsaved = new UnsavedOps();
  /** Operations that were registered before their check, oldest first. Checked ones are removed later. */
  readonly #unchecked = new ChunkedSet(uncheckedSlot);
  readonly #known: KnownOps;
  #newest = 0;

  /**
   * `isShared`: other gateways hold the same operations, and list them in the same order. `seed`: a number that agents
   * cannot guess.
   */
  constructor(clock: Clock, ttlMs: number, isShared = false, seed = 0) {
    this.#known = new KnownOps(seed);
    this.#isShared = isShared;
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  /** The arrival of the operation that became known last. */
  get newest(): number {
    return this.#newest;
  }

  count(state: OpState): number {
    return this.#counts[state];
  }

  /** The agents that have operations. */
  owners(): Iterable<Agent> {
    return this.#known.owners();
  }

  of(agent: Agent): ReadonlyChunkedSet<Op> {
    return this.#known.of(agent);
  }

  find(agent: Agent, opId: string): Op | undefined {
    return this.#known.find(agent, opId);
  }

  /** Whether the registry holds this very operation, not another one with the same id. */
  holds(op: Op): boolean {
    return this.find(op.owner, op.opId) === op;
  }

  /** The operations with this id, of any agent. */
  withId(opId: string): readonly Op[] {
    return this.#known.withId(opId);
  }

  get(agent: Agent, opId: string): Op {
    const op = this.find(agent, opId);
    if (op === undefined) throw new ReeveError('op_not_found', `no operation "${opId}" of this agent is known`);
    return op;
  }

  /** Registers an operation as pending. Returns an existing one unchanged. */
  ingest(agent: Agent, opId: string, now: EpochMs = this.#clock.now()): { op: Op; created: boolean } {
    const existing = this.find(agent, opId);
    if (existing !== undefined) return { op: existing, created: false };
    const op = newOp(agent, opId, now, this.#clock.elapsed());
    this.#number(op);
    this.#keep(op);
    this.#noteUnsaved(op);
    return { op, created: true };
  }

  *reservations(): Generator<Reservation> {
    for (const owner of this.owners()) {
      for (const { opId, reservedMicros, seq } of this.of(owner)) {
        if (reservedMicros !== 0) yield { agent: owner.record.id, opId, reservedMicros, seq };
      }
    }
  }

  /** Puts back all operations from the store, in the order in which they became known, as far as that is known. */
  adopt(all: readonly Op[]): void {
    const asRegistered = inOrderOf(all, 'registeredAt');
    for (const op of asRegistered) this.#number(op);
    for (const op of inOrderOf(asRegistered, 'updatedAt')) {
      this.#keep(op);
      this.#noteRestored(op);
    }
  }

  #noteRestored(op: Op): void {
    if (op.savedSeq !== op.seq) this.#noteUnsaved(op);
    if (isOver(op.state)) this.#ended.push(op);
    if (isUnchecked(op)) this.#unchecked.add(op);
  }

  /**
   * Brings an operation in step with another gateway, where it became known or moved. An operation that is over and
   * begins anew is another one: the other gateway has forgotten the first.
   */
  follow(owner: Agent, record: Omit<OpRecord, 'agent'>, seq: number): Op {
    const known = this.find(owner, record.opId);
    if (known === undefined || (isOver(known.state) && !isOver(record.state))) {
      if (known !== undefined) this.forget(known);
      const { control, stale } = record;
      const savedSeq = known?.savedSeq ?? 0;
      const op = restoredOp(owner, record, { movedAt: this.#clock.elapsed(), seq, savedSeq, control, stale });
      this.#number(op);
      this.#keep(op);
      this.#noteRestored(op);
      return op;
    }
    const { opId: _, registeredAt: __, state, updatedAt, ...told } = record;
    if (state !== known.state) this.#set(known, state, updatedAt, this.#clock.elapsed());
    else this.#touch(known);
    return Object.assign(known, told, { updatedAt, seq, endedAfter: -1 });
  }

  /** Changes an operation without a move, and returns how to take that back. Its row, if any, is then out of date. */
  change(op: Op, members: Partial<OpMembers>): Undo {
    const before = membersLike(members, op);
    this.#assign(op, members);
    return () => this.#assign(op, before);
  }

  #assign(op: Op, members: Partial<OpMembers>): void {
    const isRowOld = changesRow(op, members);
    Object.assign(op, members);
    if (isRowOld) this.#touch(op);
  }

  /** Another gateway has written the row of an operation. If that is forgotten here already, its row is owed. */
  followSaved(owner: Agent, opId: string, savedSeq: number): void {
    const op: MutableOp | undefined = this.find(owner, opId);
    if (op === undefined) this.owesRemoval({ owner, opId, savedSeq });
    else op.savedSeq = savedSeq;
  }

  /** Where a trigger leads by the lifecycle table. Throws if the table has no such move. */
  destination({ state }: Op, trigger: OpTrigger): OpState {
    return nextState(state, trigger) ?? refuseMove(state, trigger);
  }

  /**
   * Moves an operation by the lifecycle table and returns how to take the move back. Terminating a terminated operation
   * changes nothing and returns undefined.
   */
  move(op: Op, trigger: OpTrigger, now: EpochMs = this.#clock.now()): Undo | undefined {
    const { state: from, updatedAt, movedAt } = op;
    const to = this.destination(op, trigger);
    if (to === from) return undefined;
    this.#set(op, to, now, this.#clock.elapsed());
    return () => this.#set(op, from, updatedAt, movedAt);
  }

  /** Removes an operation and returns how to take that back. */
  forget(op: Op): Undo {
    if (!this.holds(op)) return () => undefined;
    const wasUnsaved = this.#unsaved.delete(op);
    this.#known.remove(op);
    this.#counts[op.state]--;
    return () => {
      this.#keep(op);
      if (wasUnsaved) this.#unsaved.noteOverdue(op);
    };
  }

  /** Removes up to `most` operations that have been over for longer than the time to live, and returns them. */
  sweep(most = Number.POSITIVE_INFINITY): Op[] {
    const deadline = this.#clock.elapsed() - this.#ttlMs;
    const removed: Op[] = [];
    while (this.#swept < this.#ended.length && removed.length < most) {
      const op = this.#ended[this.#swept];
      if (op === undefined) break;
      // The end of an operation may have been taken back, among later ones that stand.
      const isLeft = isOver(op.state) && this.holds(op);
      if (isLeft && (op.movedAt > deadline || !hasEnded(op))) break;
      this.#swept++;
      if (!isLeft) continue;
      this.forget(op);
      removed.push(op);
    }
    if (this.#swept > 1024 && this.#swept * 2 > this.#ended.length) {
      this.#ended = this.#ended.slice(this.#swept);
      this.#swept = 0;
    }
    return removed;
  }

  /** The rows of operations that are forgotten here. Whoever takes them removes them. */
  *takeForgottenRows(): Iterable<OpRow> {
    for (const row of this.#forgottenRows.splice(0)) {
      const op: MutableOp | undefined = this.find(row.owner, row.opId);
      // It is back, or another one with its id is there. Then the row goes with that one.
      if (op === undefined) yield row;
      else if (op.savedSeq === 0) op.savedSeq = row.savedSeq;
    }
  }

  owesRemoval(row: OpRow): void {
    this.#forgottenRows.push(row);
  }

  /** The operations whose row is missing or out of date, and since when. Longest first. */
  unsaved(): Iterable<readonly [Op, number]> {
    return this.#unsaved.all();
  }

  /** Notes that an operation's row is up to date, and returns how to take that back. */
  markSaved(op: MutableOp): Undo {
    const { savedSeq } = op;
    op.savedSeq = op.seq;
    this.needsNoRow(op);
    return () => {
      op.savedSeq = savedSeq;
      this.#unsaved.noteOverdue(op);
    };
  }

  /** Notes that a registered operation waits for its first check. */
  awaitCheck(op: Op): void {
    this.#unchecked.add(op);
  }

  /** Operations that were registered at least `ms` ago and never checked, oldest first. */
  *uncheckedFor(ms: number): Iterable<Op> {
    const deadline = this.#clock.elapsed() - ms;
    for (const op of this.#unchecked) {
      if (!isUnchecked(op) || !this.holds(op)) this.#unchecked.delete(op);
      else if (op.movedAt > deadline) return;
      else yield op;
    }
  }

  needsNoRow(op: Op): void {
    this.#unsaved.delete(op);
  }

  #touch(op: Op): void {
    this.#unsaved.note(op, this.#clock.elapsed());
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

  #set(op: MutableOp, state: OpState, updatedAt: number, movedAt: number): void {
    this.#counts[op.state]--;
    this.#counts[state]++;
    op.state = state;
    op.updatedAt = updatedAt;
    op.movedAt = movedAt;
    this.#noteUnsaved(op);
    op.endedAfter = isOver(state) ? op.seq : -1;
    if (isOver(state)) this.#ended.push(op);
  }
}
