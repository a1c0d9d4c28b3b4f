import type { Reservation } from '../budget/index.ts';
import type { ReadonlyChunkedSet } from '../kernel/index.ts';
import type { Agent } from '../tenancy/index.ts';
import type { OpState, OpTrigger } from './lifecycle.ts';
import type { Op } from './op.ts';

/** What rules see of the operations in flight, and of those that ended lately. Only facts change them. */
export interface KnownOps {
  /** The arrival of the operation that became known last. */
  readonly newest: number;
  count(state: OpState): number;
  /** The agents that have operations. */
  owners(): Iterable<Agent>;
  of(agent: Agent): ReadonlyChunkedSet<Op>;
  find(agent: Agent, opId: string): Op | undefined;
  /** The same. Throws if there is none. */
  get(agent: Agent, opId: string): Op;
  /** The operations with this id, of any agent. */
  withId(opId: string): readonly Op[];
  /** Whether this very operation is known, not another one with the same id. */
  holds(op: Op): boolean;
  /** Where a trigger leads by the lifecycle table. Throws if the table has no such move. */
  destination(op: Pick<Op, 'owner' | 'state'>, trigger: OpTrigger): OpState;
  /** Operations that were registered at least `ms` ago and never checked, oldest first. */
  uncheckedFor(ms: number): Iterable<Op>;
  /** Operations that another gateway ended while they waited for people, as long as something about them is left to do. */
  endedWaiting(isLeft: (op: Op) => boolean): Iterable<Op>;
  /** What operations reserve. */
  reservations(): Iterable<Reservation>;
}
