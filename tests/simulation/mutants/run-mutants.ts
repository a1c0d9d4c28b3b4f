import { readFileSync, writeFileSync } from 'node:fs';
import { mutants } from './mutants.ts';
import type { Trial } from './try-mutants.ts';
import { tryMutants } from './try-mutants.ts';

/** Tries the mutants whose names contain this text, each for so many seconds at most. Returns the exit code. */
export async function runMutants(only: string, seconds: number, isReported: boolean): Promise<number> {
  const chosen = mutants.filter(({ name }) => name.includes(only));
  const trials = await tryMutants(chosen, seconds * 1000, (trial) => {
    process.stdout.write(`${trial.mutant.name}: ${outcomeOf(trial)}${whyOf(trial)}\n`);
  });
  const survivors = trials.filter(({ caught }) => caught === undefined);
  process.stdout.write(`${trials.length} mutants, ${survivors.length} not noticed\n`);
  if (isReported) writeFileSync(page, withTable(readFileSync(page, 'utf8'), tableOf(trials)));
  return survivors.length === 0 ? 0 : 1;
}

function outcomeOf({ caught, steps, seconds }: Trial): string {
  const after = `${steps.toLocaleString('en')} steps, ${seconds} s`;
  return caught === undefined ? `not noticed, ${after}` : `noticed after ${after}`;
}

function whyOf({ caught }: Trial): string {
  return caught === undefined ? '' : `: ${caught.slice(0, 300)}`;
}

const page = 'docs/trust.md';
const begin = '<!-- mutants: npm run simulate -- --mutants --report -->';
const end = '<!-- end of mutants -->';

function withTable(text: string, table: string): string {
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${page} has no place for the table: ${begin}`);
  return `${before}${begin}\n\n${table}\n${end}${after}`;
}

function tableOf(trials: readonly Trial[]): string {
  const rows = trials.map(({ mutant: { name }, caught, steps, seconds }) => {
    const [mechanism = '', broken = ''] = name.split(': ');
    const after = caught === undefined ? ['**not noticed**', ''] : [steps.toLocaleString('en'), seconds.toFixed(1)];
    return `| ${[mechanism, broken, ...after].join(' | ')} |`;
  });
  return `${['| Mechanism | What is broken | Steps | Seconds |', '| --- | --- | ---: | ---: |', ...rows].join('\n')}\n`;
}
