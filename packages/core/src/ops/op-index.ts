import type { Op } from './op.ts';

/** Operations by id. An id is nearly always one agent's, and then costs one entry of a map and nothing else. */
export class OpIndex {
  readonly #byId = new Map<string, Op | Set<Op>>();

  withId(opId: string): readonly Op[] {
    const found = this.#byId.get(opId);
    if (found === undefined) return [];
    return found instanceof Set ? [...found] : [found];
  }

  add(op: Op): void {
    const found = this.#byId.get(op.opId);
    if (found === undefined) this.#byId.set(op.opId, op);
    else if (found instanceof Set) found.add(op);
    else this.#byId.set(op.opId, new Set([found, op]));
  }

  remove(op: Op): void {
    const found = this.#byId.get(op.opId);
    if (found === op) this.#byId.delete(op.opId);
    if (!(found instanceof Set)) return;
    found.delete(op);
    if (found.size === 0) this.#byId.delete(op.opId);
  }
}
