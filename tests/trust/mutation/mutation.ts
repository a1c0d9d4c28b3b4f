import { globSync, readFileSync } from 'node:fs';
import { Chance } from '../chance.ts';
import type { Limits, Outcome } from '../part.ts';
import type { Mutant } from './stryker.ts';
import { ensureStryker, mutate } from './stryker.ts';

/** The folders of the core where a change that nobody notices would hurt most. */
const folders = ['access', 'budget', 'policy', 'ops', 'approvals', 'control'] as const;
/** What is left alone by a test run that passes, per folder; below this the tests have become worse. */
const leastScore = 60;
/** How many lines of code can be tried in a second, as far as was measured; the rest of the time is for starting. */
const linesPerSecond = 2;
const startSeconds = 40;

/** Changes a sample of the core, and says how much of that its tests notice. `most` are minutes. */
export async function mutation(limits: Limits): Promise<Outcome> {
  const endsAt = Math.min(limits.endsAt, performance.now() + limits.most * 60_000);
  if (!ensureStryker()) return { counts: {}, findings: [], notRun: ['mutation: Stryker cannot be installed here'] };
  const chance = new Chance(limits.seed);
  const counts: Record<string, number> = {};
  const findings: string[] = [];
  const notRun: string[] = [];
  for (const [nth, folder] of folders.entries()) {
    const seconds = (endsAt - performance.now()) / 1000 / (folders.length - nth);
    const files = sampleOf(folder, Math.max(100, (seconds - startSeconds) * linesPerSecond), chance);
    const mutants = seconds < startSeconds ? undefined : await mutate(files, seconds * 1500);
    if (mutants === undefined) {
      notRun.push(`${folder}: the time did not suffice`);
      continue;
    }
    const { score, survivors } = scoreOf(mutants);
    counts[`% of ${folder}`] = score;
    for (const survivor of survivors) limits.say(`${folder}: survived: ${describe(survivor)}`);
    limits.say(`${folder}: ${mutants.length} mutants in ${files.length} files, ${score} % noticed`);
    if (score < leastScore)
      findings.push(`${folder}: tests notice ${score} % of changes, and ${leastScore} % are asked for`);
  }
  return { counts, findings, notRun };
}

/** Files of a folder, by lot, of about so many lines together. */
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
