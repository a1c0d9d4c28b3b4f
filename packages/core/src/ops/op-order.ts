import { hashOf } from '../kernel/index.ts';
import type { Op } from './op.ts';

/** Operations of one millisecond have one of so many places. */
const placesPerMs = 4096;

/** A place in time that does not depend on who asks. Two operations of the same millisecond may share one. */
export function ordinalOf(registeredAt: number, name: string): number {
  return registeredAt * placesPerMs + (hashOf(name) % placesPerMs);
}

/**
 * The earliest first; those of one time stay in their order, and a list in order stays what it is. Where time and place
 * fit into one number, numbers alone are sorted: a function that compares would be called millions of times.
 */
export function inOrderOf<Item extends Pick<Op, 'registeredAt' | 'updatedAt'>>(
  ops: readonly Item[],
  time: 'registeredAt' | 'updatedAt',
): readonly Item[] {
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
  const sorted: Item[] = [];
  for (const key of keys.sort()) {
    const op = ops[key % ops.length];
    if (op !== undefined) sorted.push(op);
  }
  return sorted;
}
