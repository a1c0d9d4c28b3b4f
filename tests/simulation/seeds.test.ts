import { expect, test } from 'vitest';
import { foundSeeds, simulationOf } from './found-seeds.ts';

test.each(foundSeeds)('seed $seed, on: $on, holds for $steps steps', { timeout: 600_000 }, async (found) => {
  expect(await simulationOf(found).run(found.steps)).toMatch(/^[0-9a-f]{64}$/);
});
