import { expect, test } from 'vitest';
import { DiskSimulation } from './disk-simulation.ts';
import { Simulation } from './simulation.ts';

/** Steps are many, and the machine may be busy. */
const patienceMs = 600_000;

/** Seeds that have found something are in `found-seeds.ts`. */
test.each([
  ['', false, 40_000],
  [' while days end', true, 20_000],
])(
  'a fresh seed holds%s',
  async (_, passesDays, steps) => {
    const seed = Date.now() % 2 ** 32;
    const simulation = new Simulation(seed, { passesDays });
    await simulation.run(steps).catch((error: unknown) => {
      const command = `npm run simulate -- ${passesDays ? '--days ' : ''}--seed ${seed} --steps ${steps}`;
      throw new Error(`${command}: failed at step ${simulation.step}`, { cause: error });
    });
  },
  patienceMs,
);

test('the same seed leads to the same states', async () => {
  const [one, other] = [await new Simulation(42).run(3000), await new Simulation(42).run(3000)];
  expect(one).toBe(other);
});

test('a fresh seed holds on a disk that fails', async () => {
  const seed = Date.now() % 2 ** 32;
  const simulation = new DiskSimulation(seed);
  await simulation.run(20_000).catch((error: unknown) => {
    throw new Error(`npm run simulate -- --disk --seed ${seed} --steps 20000: failed at step ${simulation.step}`, {
      cause: error,
    });
  });
});

test('the power fails in commits, also in some that are written whole', async () => {
  // What is drawn decides which seeds have both.
  const simulation = new DiskSimulation(16);
  await simulation.run(8000);
  expect(simulation.counts).toMatchObject({ 'in a commit': expect.any(Number), whole: expect.any(Number) });
});

test('the same seed leads to the same states on a disk that fails', async () => {
  const [one, other] = [await new DiskSimulation(42).run(3000), await new DiskSimulation(42).run(3000)];
  expect(one).toBe(other);
});

test('a history has a call for each return, and takes no part in what happens', async () => {
  const silent = await new Simulation(7).run(8000);
  const told = new Simulation(7, { keepsHistory: true });
  expect(await told.run(8000)).toBe(silent);
  const lines = told.history.finish().map((line) => JSON.parse(line) as { type: string; id: number; time: number });
  const calls = new Map(lines.filter(({ type }) => type === 'invoke').map(({ id, time }) => [id, time]));
  const returns = lines.filter(({ type }) => type === 'return');
  expect(returns.length).toBeGreaterThan(500);
  expect(returns.every(({ id, time }) => time > (calls.get(id) ?? time))).toBe(true);
});
