import type { AgentId } from '../kernel/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { MutableOp } from './mutable-op.ts';
import type { Op } from './op.ts';

/** The row of an operation in the store. Its agent may have left. */
export interface OpRow extends Pick<Op, 'opId' | 'savedSeq'> {
  readonly id: AgentId;
}

export function rowOf({ owner, opId, savedSeq }: Pick<Op, 'owner' | 'opId' | 'savedSeq'>): OpRow {
  return { id: owner.record.id, opId, savedSeq };
}

/** The rows of operations that are forgotten here, and that are still to be removed. */
export class ForgottenRows {
  readonly #rows: OpRow[] = [];

  get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  add(row: OpRow): void {
    this.#rows.push(row);
  }

  /**
   * Takes those of all agents, or of the one with this key. `namesakeOf` finds an operation with the id of a row: it is
   * back, or another one. Then the row goes with that one.
   */
  *take(namesakeOf: (row: OpRow) => MutableOp | undefined, key?: string): Iterable<OpRow> {
    for (const row of this.#rows.splice(0)) {
      const op = namesakeOf(row);
      if (key !== undefined && agentKey(row.id) !== key) this.add(row);
      else if (op === undefined) yield row;
      else if (op.savedSeq === 0) op.savedSeq = row.savedSeq;
    }
  }
}
