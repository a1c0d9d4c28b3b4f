import type { Op } from './op.ts';

/** Operations by id. Nearly every id belongs to one agent, and then costs one map entry and nothing else. */
export class OpIndex {
  readonly #byId = new Map<string, Op | Set<Op>>();

  withId(opId: string): readonly Op[] {
    const found = this.#byId.get(opId);
    if (found === undefined) return [];
    return found instanceof Set ? [...found] : [found];
  }

  /** The only operation with this id, or `several`: looking through them would take longer the more agents use the id. */
  only(opId: string): Op | 'several' | undefined {
    const found = this.#byId.get(opId);
    return found instanceof Set ? 'several' : found;
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

/** Operations of one millisecond have one of so many places. */
const placesPerMs = 4096;

/** A place in time that does not depend on who asks. Two operations of the same millisecond may share one. */
export function ordinalOf(registeredAt: number, name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return registeredAt * placesPerMs + ((hash >>> 0) % placesPerMs);
}

/**
 * The earliest first; those of one time stay in their order, and a list in order stays what it is. Where time and place
 * fit into one number, numbers alone are sorted: a function that compares would be called millions of times.
 */
export function inOrderOf(ops: readonly Op[], time: 'registeredAt' | 'updatedAt'): readonly Op[] {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [isSorted, isWhole] = [true, true];
  for (const { [time]: at } of ops) {
    isSorted &&= at >= last;
    isWhole &&= Number.isInteger(at);
    first = Math.min(first, at);
    last = Math.max(last, at);
  }
  if (isSorted) return ops;
  const fits = (last - first + 1) * ops.length <= Number.MAX_SAFE_INTEGER;
  if (!fits || !isWhole) return ops.toSorted((a, b) => a[time] - b[time]);
  const keys = new Float64Array(ops.length);
  for (const [at, op] of ops.entries()) keys[at] = (op[time] - first) * ops.length + at;
  const sorted: Op[] = [];
  for (const key of keys.sort()) {
    const op = ops[key % ops.length];
    if (op !== undefined) sorted.push(op);
  }
  return sorted;
}
