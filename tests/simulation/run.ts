// A cluster of gateways in one thread, drawn from a seed: npm run simulate -- --help
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { DiskSimulation } from './disk-simulation.ts';
import { allRules, without } from './lanes/lane-rules.ts';
import { LanesSimulation } from './lanes/lanes-simulation.ts';
import { runMutants } from './mutants/run-mutants.ts';
import { Simulation } from './simulation.ts';

const help = `Simulates a cluster of gateways in one thread, with a virtual clock, database and network.

  npm run simulate -- [--seed N] [--steps M] [--counts] [--days | --disk] [--trace TEXT] [--history FILE]
  npm run simulate -- --lanes [--seed N] [--steps M] [--counts] [--without RULE]
  npm run simulate -- --mutants [--only TEXT] [--seconds N] [--report]

  --seed N      draws every step from this number; without it, from the clock
  --steps M     how many steps to take (default 100000)
  --counts      also prints what happened how often
  --days        lets hours pass at once, so that days end
  --disk        simulates one gateway on SQLite instead, on a disk that gets full and a power that fails
  --lanes       simulates the design of lanes instead: a log for each org (docs/scale.md)
  --without RULE  leaves out one of the rules of lanes (tests/simulation/lanes/lane-rules.ts)
  --trace TEXT  also prints the entries of the log that contain this, such as "acme/red/bot-0 t12:s"
  --history FILE  writes what callers asked and were told, as JSON lines
  --mutants     breaks one mechanism after the other in a copy of the sources, and tells when a simulation notices
  --only TEXT   only mutants whose names contain this
  --seconds N   how long a mutant may go unnoticed (default 300)
  --report      writes the table of mutants into docs/trust.md

The same seed always ends with the same line.
`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    steps: { type: 'string', default: '100000' },
    counts: { type: 'boolean', default: false },
    days: { type: 'boolean', default: false },
    disk: { type: 'boolean', default: false },
    lanes: { type: 'boolean', default: false },
    without: { type: 'string' },
    trace: { type: 'string' },
    history: { type: 'string' },
    mutants: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '300' },
    report: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(help);
else if (values.mutants) process.exitCode = await runMutants(values.only, Number(values.seconds), values.report);
else process.exitCode = await simulate(Number(values.seed ?? Date.now() % 2 ** 32), Number(values.steps));

function simulationOf(seed: number): DiskSimulation | LanesSimulation | Simulation {
  if (values.disk) return new DiskSimulation(seed);
  if (values.lanes) return new LanesSimulation(seed, values.without === undefined ? allRules : without(values.without));
  return new Simulation(seed, { passesDays: values.days, keepsHistory: values.history !== undefined });
}

async function simulate(seed: number, steps: number): Promise<number> {
  const simulation = simulationOf(seed);
  const { trace } = values;
  if (trace !== undefined && simulation instanceof Simulation) {
    simulation.watch.onWritten = (line) => {
      if (line.includes(trace)) process.stdout.write(`step ${simulation.step}, ${line}\n`);
    };
  }
  try {
    const states = await simulation.run(steps);
    process.stdout.write(`seed ${seed}: ${steps} steps, ok, state ${states}\n`);
    return 0;
  } catch (error) {
    const why = error instanceof Error ? (error.name === 'Error' ? error.message : String(error.stack)) : String(error);
    process.stdout.write(`seed ${seed}: step ${simulation.step}, failed: ${why}\n`);
    return 1;
  } finally {
    if (values.history !== undefined && !(simulation instanceof LanesSimulation))
      writeFileSync(values.history, `${simulation.history.finish().join('\n')}\n`);
    if (values.counts) process.stdout.write(`${JSON.stringify(simulation.counts, undefined, 1)}\n`);
  }
}
