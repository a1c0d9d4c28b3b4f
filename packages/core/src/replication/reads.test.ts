import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { firsts, turns } from '../testkit/overtaking/deeds.ts';
import { expectInOrder, inOrder, overtaken } from '../testkit/overtaking/overtake.ts';

const names = Object.keys(turns);
const pairs = fc.tuple(fc.constantFrom(...Object.keys(firsts)), fc.constantFrom(...names));

// `every-read.test.ts` tries all of them.
test('whatever was done before something is heard of ends as if it came later', async () => {
  await fc.assert(
    fc.asyncProperty(pairs, ([first, name]) => expectInOrder(first, name)),
    { numRuns: 150 },
  );
});

// Facts that alter the same commute: one can be taken back although the other came between it and its end.
test('nothing stays of what is taken back, whatever came meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(pairs, async ([first, name]) => {
      await overtaken(first, [name], true);
    }),
    { numRuns: 60, examples: [[['a clearing of labels', 'a forgetting of that run']]] },
  );
});

function logOf({ entries, memory }: Awaited<ReturnType<typeof inOrder>>) {
  return { entries, memory };
}

// What the later one was refused for, the earlier one did. It does nothing after the first, which concerns nobody else.
test.each([
  ['another request with its id', 'a counted check', 'another counted check'],
  ['a free check with its id', 'a check near a share of the cap', 'a check by what was spent'],
  ['the same check outside of a run', 'a check in a run', 'a check of a delegate by its run'],
])('after %s, %s is made again, and so is %s', async (first, ...both) => {
  expect(logOf(await overtaken(first, both))).toEqual(logOf(await inOrder(first, both)));
});

test('two turns of one gateway end as in one order of the two, whatever overtakes them', async () => {
  const two = fc.uniqueArray(fc.constantFrom(...names), { minLength: 2, maxLength: 2 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(firsts)), two, async (first, both) => {
      // A termination after a check wins as long as the answer has not left. So only the log is compared.
      const found = logOf(await overtaken(first, both));
      if (isDeepStrictEqual(found, logOf(await inOrder(first, both)))) return;
      expect(found).toEqual(logOf(await inOrder(first, both.toReversed())));
    }),
    { numRuns: 60 },
  );
});
