import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { Mutant } from './mutant.ts';
import { MutatedCopy, requireApplicable } from './mutated-copy.ts';

/** What became of a mutant. */
export interface Trial {
  readonly mutant: Mutant;
  /** What the simulation said of it. Undefined: it noticed nothing. */
  readonly caught: string | undefined;
  readonly steps: number;
  readonly seconds: number;
}

/** Some faults show early, some only after much has happened, and some only on a disk or when days end. Later runs are longer. */
const runs = [
  ['--steps', '5000'],
  ['--disk', '--steps', '5000'],
  ['--days', '--steps', '5000'],
  ['--steps', '5000'],
  ['--days', '--steps', '20000'],
] as const;
const endingLine = /^seed \d+: (?:step (?<failedAt>\d+), failed: (?<why>.*)|\d+ steps, ok, )/m;

/**
 * Breaks one mechanism after the other, and lets the simulation run on each until it notices, or the time is over. Each core works
 * on a copy of its own. `tell` learns of each mutant when it is done; the answer is in the order of the mutants.
 */
export async function tryMutants(
  mutants: readonly Mutant[],
  mostMs: number,
  tell: (trial: Trial) => void = () => undefined,
): Promise<readonly Trial[]> {
  for (const mutant of mutants) requireApplicable(mutant);
  const untried = mutants.entries();
  const trials: Trial[] = [];
  const work = async (): Promise<void> => {
    const copy = new MutatedCopy();
    try {
      for (const [place, mutant] of untried) {
        const trial = await tryMutant(copy, mutant, mostMs);
        trials[place] = trial;
        tell(trial);
      }
    } finally {
      copy.remove();
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), mutants.length) }, work));
  return trials;
}

async function tryMutant(copy: MutatedCopy, mutant: Mutant, mostMs: number): Promise<Trial> {
  const began = performance.now();
  const left = () => mostMs - (performance.now() - began);
  const seconds = () => Math.round((performance.now() - began) / 100) / 10;
  const mend = copy.break(mutant);
  let steps = 0;
  try {
    for (let seed = 1; left() > 0; seed++) {
      const { failedAt, why } = await simulate(copy.folder, mutant.name, seed, left());
      steps += failedAt ?? (left() > 0 ? Number(runOf(seed).at(-1)) : 0);
      if (why !== undefined) return { mutant, caught: why, steps, seconds: seconds() };
    }
    return { mutant, caught: undefined, steps, seconds: seconds() };
  } finally {
    mend();
  }
}

function runOf(seed: number): readonly string[] {
  const [run = [], isLater] = [runs[(seed - 1) % runs.length], seed > 2 * runs.length];
  return isLater ? [...run.slice(0, -1), String(4 * Number(run.at(-1)))] : run;
}

interface Ending {
  readonly failedAt?: number;
  readonly why?: string;
}

/** Runs the simulation in the copy. A mutant that does not even run is an error of the table. */
function simulate(folder: string, name: string, seed: number, mostMs: number): Promise<Ending> {
  const args = ['--min-semi-space-size=32', 'tests/simulation/run.ts', '--seed', String(seed), ...runOf(seed)];
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      args,
      { cwd: folder, timeout: Math.ceil(mostMs), killSignal: 'SIGKILL' },
      (error, out, err) => {
        const ending = endingLine.exec(out)?.groups;
        if (ending !== undefined) {
          const { failedAt, why } = ending;
          resolve(why === undefined ? {} : { failedAt: Number(failedAt), why });
        } else if (error?.killed === true) resolve({});
        else reject(new Error(`the mutant "${name}" does not run: ${err.slice(0, 2000)}`));
      },
    );
  });
}
