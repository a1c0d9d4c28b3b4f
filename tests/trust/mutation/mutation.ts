import { globSync, readFileSync } from 'node:fs';
import { Chance } from '../chance.ts';
import type { Limits, Outcome } from '../part.ts';
import type { Mutant } from './stryker.ts';
import { ensureStryker, mutate } from './stryker.ts';

/** The folders of the core where an unnoticed change would hurt most. */
const folders = ['access', 'budget', 'policy', 'ops', 'approvals', 'control'] as const;
/** Tests must notice this many of a hundred changes. A lower score means that the tests of a folder got worse. */
const leastScore = 60;
/** How many lines can be tried per second, after the tests have run once. */
const linesPerSecond = 1.5;
const startSeconds = 60;
/** A score from fewer mutants says little. */
const leastMutants = 20;

/** Mutates a sample of the core, and reports how many changes its tests notice. `most` is in minutes. */
export async function mutation(limits: Limits): Promise<Outcome> {
  const seconds = Math.min(limits.most * 60, (limits.endsAt - performance.now()) / 1000);
  if (seconds < startSeconds) return { counts: {}, findings: [], notRun: ['mutation: the time does not suffice'] };
  if (!ensureStryker()) return { counts: {}, findings: [], notRun: ['mutation: Stryker cannot be installed here'] };
  const chance = new Chance(limits.seed);
  const lines = Math.max(60, ((seconds - startSeconds) * linesPerSecond) / folders.length);
  const files = folders.flatMap((folder) => sampleOf(folder, lines, chance));
  limits.say(`${files.length} files of ${folders.length} folders`);
  const { mutants, says } = await mutate(files, seconds * 1000);
  if (mutants.length === 0) return { counts: {}, findings: [], notRun: [`mutation: nothing was tried: ${says}`] };
  const outcome: { counts: Record<string, number>; findings: string[]; notRun: string[] } = {
    counts: { mutants: mutants.length },
    findings: [],
    notRun: [],
  };
  for (const folder of folders) {
    const own = mutants.filter(({ file }) => file.includes(`/src/${folder}/`));
    const { score, survivors } = scoreOf(own);
    for (const survivor of survivors) limits.say(`survived: ${describe(survivor)}`);
    if (own.length < leastMutants) {
      outcome.notRun.push(`${folder}: ${own.length} mutants say little`);
      continue;
    }
    outcome.counts[`% of ${folder}`] = score;
    if (score < leastScore) {
      outcome.findings.push(`${folder}: tests notice ${score} % of changes, and ${leastScore} % are asked for`);
    }
  }
  return outcome;
}

/** Random files of a folder, of about this many lines in total. */
function sampleOf(folder: string, lines: number, chance: Chance): string[] {
  const files = globSync(`packages/core/src/${folder}/**/*.ts`).filter((file) => !file.endsWith('.test.ts'));
  const drawn: string[] = [];
  let left = lines;
  const byLot = files
    .toSorted()
    .map((file) => [chance.next(), file] as const)
    .toSorted(([one], [other]) => one - other);
  for (const [, file] of byLot) {
    const length = readFileSync(file, 'utf8').split('\n').length;
    if (length > left && drawn.length > 0) continue;
    drawn.push(file);
    left -= length;
  }
  return drawn;
}

function scoreOf(mutants: readonly Mutant[]): { score: number; survivors: Mutant[] } {
  const noticed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length;
  const survivors = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const score = Math.round((100 * noticed) / Math.max(1, noticed + survivors.length));
  return { score, survivors };
}

function describe({ file, line, mutator, replacement, status }: Mutant): string {
  const change = replacement.replaceAll(/\s+/g, ' ').slice(0, 100);
  return `${file}:${line} ${mutator} -> ${change}${status === 'NoCoverage' ? ' (no test comes here)' : ''}`;
}
