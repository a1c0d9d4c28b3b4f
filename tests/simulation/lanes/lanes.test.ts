import { expect, test } from 'vitest';
import { Broken } from '../broken.ts';
import type { Rule } from './lane-rules.ts';
import { ruleNames, without } from './lane-rules.ts';
import { LanesSimulation } from './lanes-simulation.ts';

/** Seeds that have found something. What each has found, a rule holds by now. */
const foundBefore = [
  // A settlement that took more than was free voided the share that a charge in the same commit used.
  { seed: 4, steps: 3000 },
  // A gateway heard of a change while it asked for newer ones, and took its old answer for a new one.
  { seed: 20, steps: 3000 },
];

test.each(foundBefore)('seed $seed holds for $steps steps with lanes', async ({ seed, steps }) => {
  expect(await new LanesSimulation(seed).run(steps)).toMatch(/^[0-9a-f]{64}$/);
});

test('a fresh seed holds with lanes', async () => {
  const seed = Date.now() % 2 ** 32;
  const simulation = new LanesSimulation(seed);
  await simulation.run(5000).catch((error: unknown) => {
    throw new Error(`npm run simulate -- --lanes --seed ${seed} --steps 5000: failed at step ${simulation.step}`, {
      cause: error,
    });
  });
});

test('the same seed leads to the same logs', async () => {
  const [one, other] = [await new LanesSimulation(42).run(1500), await new LanesSimulation(42).run(1500)];
  expect(one).toBe(other);
});

test('shares are recalled, caps are full, shares become void, and gateways end', async () => {
  const simulation = new LanesSimulation(1);
  await simulation.run(3000);
  const often = expect.any(Number);
  expect(simulation.counts).toMatchObject({ share_given_back: often, overdrawn: often, crashes: often });
  expect(simulation.counts).toMatchObject({ 'charge: denied: global cap': often, 'charge: denied: revoked': often });
});

/** How many seeds may pass before the absence of a rule is noticed. */
const mostSeeds = 80;

/** Where to look first, for rules that few seeds miss. */
const firstSeeds: Partial<Record<Rule, number>> = {
  asksSinceDecided: 13,
  overrunsAlone: 63,
  checkpointsAreCuts: 9,
  ordersByMoments: 7,
};

test.each(ruleNames)('it is noticed when a rule of lanes is left out: %s', async (rule) => {
  const first = firstSeeds[rule] ?? 1;
  for (let seed = first; seed < first + mostSeeds; seed++) {
    const simulation = new LanesSimulation(seed, without(rule));
    const noticed = await simulation.run(1500).catch((error: unknown) => error);
    if (noticed instanceof Broken) return;
    expect(noticed).toMatch(/^[0-9a-f]{64}$/);
  }
  expect.fail(`${mostSeeds} seeds hold without ${rule}`);
});
