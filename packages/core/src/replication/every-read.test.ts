import { describe, test } from 'vitest';
import { firsts, turns } from '../testkit/overtaking/deeds.ts';
import { expectInOrder } from '../testkit/overtaking/overtake.ts';

describe.each(Object.keys(firsts))('after %s', (first) => {
  test.each(Object.keys(turns))('%s ends as if it came later', (name) => expectInOrder(first, name));
});
