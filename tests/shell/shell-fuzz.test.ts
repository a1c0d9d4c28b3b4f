import { describe, expect, test } from 'vitest';
import { briefly } from '../trust/part.ts';
import { namesIn, unseenIn } from './compare.ts';
import { everyday, hidden } from './corpus.ts';
import { fuzzLines } from './fuzz-lines.ts';
import { Jail, isInstalled } from './jail.ts';

const shells = (['bash', 'dash'] as const).filter(isInstalled);

describe.each(shells)('what %s runs, the hook has found or doubted', (shell) => {
  test('in lines that hide it', async () => {
    using jail = new Jail();
    for (const line of [...hidden, ...everyday]) expect((await unseenIn(line, shell, jail)) ?? [], line).toEqual([]);
  });
});

test('lines of every day are understood', () => {
  for (const line of everyday) expect(namesIn(line, 'bash'), line).toBeDefined();
});

test('the jail records what runs', async () => {
  using jail = new Jail();
  expect([...(await jail.run('bash', 'rm x; say "$(ls)" | cat'))].toSorted()).toEqual(['cat', 'ls', 'rm', 'say']);
});

test('in lines that are drawn', async () => {
  const seed = Date.now() % 1_000_000_000;
  process.stdout.write(`lines for shells: seed ${seed}\n`);
  const { findings, counts } = await fuzzLines(briefly(seed, 700));
  expect(findings, `seed ${seed}`).toEqual([]);
  expect(counts['lines compared']).toBeGreaterThan(0);
});
