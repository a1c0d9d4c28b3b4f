import type { Closure } from './closure.ts';
import { bool, priceOfFault } from './closure.ts';
import type { Expression } from './expression.ts';
import { sizeOf } from './expression.ts';
import { isOutweighable, weightier } from './faults.ts';
import type { Frame } from './frame.ts';
import { itemsOf } from './values.ts';

type Loop = Expression & { kind: 'loop' };

/** One turn of a loop costs this much per part. Work that depends on the request is charged where it is done. */
const priceOfPart = 3;

/** `build` compiles the parts of the loop, which are expressions themselves. */
export function buildLoop(loop: Loop, build: (part: Expression) => Closure): Closure {
  const range = build(loop.range);
  const test = loop.test === null ? null : build(loop.test);
  const result = loop.result === null ? null : build(loop.result);
  const { macro, slot } = loop;
  const parts = (loop.test === null ? 0 : sizeOf(loop.test)) + (loop.result === null ? 0 : sizeOf(loop.result));
  const price = (1 + parts) * priceOfPart;

  const passes = (frame: Frame, item: unknown) => {
    frame.charge(price);
    frame.variables[slot] = item;
    return test === null || bool(test(frame), `the test of ${macro}`);
  };

  switch (macro) {
    case 'all':
      return (frame) => decide(frame, itemsOf(frame, range(frame)), passes, false);
    case 'exists':
      return (frame) => decide(frame, itemsOf(frame, range(frame)), passes, true);
    case 'exists_one':
      return (frame) => {
        let found = 0;
        for (const item of itemsOf(frame, range(frame))) if (passes(frame, item)) found++;
        return found === 1;
      };
    case 'map':
    case 'filter':
      return (frame) => {
        const made: unknown[] = [];
        for (const item of itemsOf(frame, range(frame))) {
          if (passes(frame, item)) made.push(result === null ? item : result(frame));
        }
        return made;
      };
  }
}

/** As with `&&` and `||`, an element that decides outweighs elements whose test fails. */
function decide(
  frame: Frame,
  items: readonly unknown[],
  passes: (frame: Frame, item: unknown) => boolean,
  decisive: boolean,
): boolean {
  let failure: Error | undefined;
  for (const item of items) {
    try {
      if (passes(frame, item) === decisive) return decisive;
    } catch (error) {
      if (!isOutweighable(error)) throw error;
      frame.charge(priceOfFault);
      failure = weightier(failure, error);
    }
  }
  if (failure !== undefined) throw failure;
  return !decisive;
}
