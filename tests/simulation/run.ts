// A cluster of gateways in one thread, drawn from a seed: npm run simulate -- --help
import { parseArgs } from 'node:util';
import { Simulation } from './simulation.ts';

const help = `Simulates a cluster of gateways in one thread, with a virtual clock, database and network.

  npm run simulate -- [--seed N] [--steps M] [--counts] [--days]

  --seed N    draws every step from this number; without it, from the clock
  --steps M   how many steps to take (default 100000)
  --counts    also prints what happened how often
  --days      lets hours pass at once, so that days end

The same seed always ends with the same line.
`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    steps: { type: 'string', default: '100000' },
    counts: { type: 'boolean', default: false },
    days: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(help);
else process.exitCode = await simulate(Number(values.seed ?? Date.now() % 2 ** 32), Number(values.steps));

async function simulate(seed: number, steps: number): Promise<number> {
  const simulation = new Simulation(seed, values.days);
  try {
    const states = await simulation.run(steps);
    process.stdout.write(`seed ${seed}: ${steps} steps, ok, state ${states}\n`);
    return 0;
  } catch (error) {
    const why = error instanceof Error ? (error.name === 'Error' ? error.message : String(error.stack)) : String(error);
    process.stdout.write(`seed ${seed}: step ${simulation.step}, failed: ${why}\n`);
    return 1;
  } finally {
    if (values.counts) process.stdout.write(`${JSON.stringify(simulation.counts, undefined, 1)}\n`);
  }
}
