import type { Clock } from '../kernel/clock.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { Agent } from '../tenancy/agent.ts';
import type { OpState, OpTrigger } from './lifecycle.ts';
import { allowedTriggers, isOver, nextState } from './lifecycle.ts';
import type { Op, Undo } from './op.ts';

/**
 * Operations in flight. They are keyed by agent first: the same `trace:span` from another agent is another
 * operation, which this one can neither see nor touch.
 */
export class OpsRegistry {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #counts: Record<OpState, number> = { pending: 0, running: 0, paused: 0, completing: 0, terminated: 0 };
  /** Operations that are over, in the order in which they ended; swept from the front. */
  #ended: Op[] = [];
  #swept = 0;
  /** Operations whose row in the store is missing or out of date, the longest unmoved first. */
  readonly #unsaved = new Set<Op>();

  constructor(clock: Clock, ttlMs: number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  count(state: OpState): number {
    return this.#counts[state];
  }

  find(agent: Agent, opId: string): Op | undefined {
    return agent.ops.get(opId);
  }

  get(agent: Agent, opId: string): Op {
    const op = this.find(agent, opId);
    if (op === undefined) throw new ReeveError('op_not_found', `no operation "${opId}" of this agent is known`);
    return op;
  }

  /** Registers an operation as pending. An existing one is returned unchanged. */
  ingest(agent: Agent, opId: string): { op: Op; created: boolean } {
    const existing = agent.ops.get(opId);
    if (existing !== undefined) return { op: existing, created: false };
    const now = this.#clock.now();
    const op: Op = {
      opId,
      owner: agent,
      state: 'pending',
      registeredAt: now,
      updatedAt: now,
      movedAt: this.#clock.elapsed(),
      actionType: null,
      resource: '',
      summary: '',
      runId: '',
      reason: '',
      costMicros: 0,
      policyRule: '',
      digest: '',
      seq: 0,
      savedSeq: 0,
    };
    this.#keep(op);
    return { op, created: true };
  }

  /** Puts back an operation that a store remembered. */
  restore(op: Op): void {
    this.#keep(op);
    if (isOver(op.state)) this.#ended.push(op);
  }

  /**
   * Moves an operation by the lifecycle table and returns how to take the move back. Terminating what is terminated
   * changes nothing and returns undefined.
   */
  move(op: Op, trigger: OpTrigger): Undo | undefined {
    const from = op.state;
    const to = nextState(from, trigger);
    if (to === undefined) {
      const allowed = allowedTriggers(from);
      const remedy = allowed.length === 0 ? 'nothing more is allowed' : `allowed: ${allowed.join(', ')}`;
      throw new ReeveError('invalid_transition', `cannot ${trigger} an operation that is ${from}; ${remedy}`, {
        state: from,
        allowed,
      });
    }
    if (to === from) return undefined;
    const { updatedAt, movedAt } = op;
    this.#set(op, to, this.#clock.now(), this.#clock.elapsed());
    return () => this.#set(op, from, updatedAt, movedAt);
  }

  forget(op: Op): void {
    if (op.owner.ops.get(op.opId) !== op) return;
    op.owner.ops.delete(op.opId);
    this.#counts[op.state]--;
    this.#unsaved.delete(op);
  }

  /** Removes what has been over for longer than the time to live, and returns it. */
  sweep(): Op[] {
    const deadline = this.#clock.elapsed() - this.#ttlMs;
    const removed: Op[] = [];
    while (this.#swept < this.#ended.length) {
      const op = this.#ended[this.#swept];
      if (op === undefined || op.movedAt > deadline) break;
      this.#swept++;
      if (isOver(op.state)) {
        this.forget(op);
        removed.push(op);
      }
    }
    if (this.#swept > 1024 && this.#swept * 2 > this.#ended.length) {
      this.#ended = this.#ended.slice(this.#swept);
      this.#swept = 0;
    }
    return removed;
  }

  /** The operations to be saved, those that have not moved for the longest time first. */
  unsaved(): Iterable<Op> {
    return this.#unsaved;
  }

  /** Notes that an operation's row is up to date, and returns how to take the note back. */
  markSaved(op: Op): Undo {
    const { savedSeq } = op;
    op.savedSeq = op.seq;
    this.#unsaved.delete(op);
    return () => {
      op.savedSeq = savedSeq;
      this.#unsaved.add(op);
    };
  }

  #keep(op: Op): void {
    op.owner.ops.set(op.opId, op);
    this.#counts[op.state]++;
    this.#noteUnsaved(op);
  }

  /** What is over within moments never gets a row: the log alone brings it back, for as long as it is kept. */
  #noteUnsaved(op: Op): void {
    this.#unsaved.delete(op);
    if (!isOver(op.state) || op.savedSeq > 0) this.#unsaved.add(op);
  }

  #set(op: Op, state: OpState, updatedAt: number, movedAt: number): void {
    this.#counts[op.state]--;
    this.#counts[state]++;
    op.state = state;
    op.updatedAt = updatedAt;
    op.movedAt = movedAt;
    this.#noteUnsaved(op);
    if (isOver(state)) this.#ended.push(op);
  }
}
