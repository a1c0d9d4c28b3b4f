import { expect, test } from 'vitest';
import { foundSeeds, simulationOf } from './found-seeds.ts';

/** A seed takes a second or two. As long as each took to find its fault, they run in `seeds.test.ts`. */
const steps = 3000;

test.each(foundSeeds)('seed $seed, on: $on, which found a fault, holds', { timeout: 120_000 }, async (found) => {
  expect(await simulationOf(found).run(steps)).toMatch(/^[0-9a-f]{64}$/);
});
