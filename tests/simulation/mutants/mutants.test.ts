import { describe, expect, test } from 'vitest';
import { requireApplicable } from './mutated-copy.ts';
import { mutants } from './mutants.ts';
import { tryMutants } from './try-mutants.ts';

test.each(mutants)('the mutant "$name" breaks what is there', (mutant) => {
  requireApplicable(mutant);
});

test('each mutant has a name of its own', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
});

test('a mutant whose text is gone fails at once, and by its name', async () => {
  const gone = { name: 'gone', file: 'package.json', text: 'this was never there', replacement: '' };
  await expect(tryMutants([gone], 1000)).rejects.toThrow('the mutant "gone": its text is 0 times');
});

describe('a simulation on a copy of the sources', () => {
  test('notices a mechanism that is broken, and tells how', { timeout: 180_000 }, async () => {
    const chosen = mutants.filter(({ name }) => name.startsWith('suspensions: a suspended agent'));
    const [trial] = await tryMutants(chosen, 120_000);
    expect(trial).toMatchObject({ caught: expect.stringContaining('is suspended'), steps: expect.any(Number) });
  });

  test('does not notice what changes nothing', { timeout: 180_000 }, async () => {
    const harmless = {
      name: 'none',
      file: 'packages/core/src/ops/lifecycle.ts',
      text: 'completing: {},',
      replacement: 'completing: { },',
    };
    const [trial] = await tryMutants([harmless], 3000);
    expect(trial).toMatchObject({ caught: undefined });
  });
});
