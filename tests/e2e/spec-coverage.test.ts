import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface CoveredRule {
  readonly rule: string;
  readonly proof: string;
}

/** The table lines that have a rule and its proof. */
function rulesOf(page: string): CoveredRule[] {
  return page
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => section.split('\n').filter((line) => line.startsWith('| ')))
    .map((line) =>
      line
        .slice(2, -2)
        .split(' | ')
        .map((cell) => cell.trim()),
    )
    .filter(([rule = '']) => rule !== 'Rule' && !rule.startsWith('---'))
    .map(([rule = '', proof = '']) => ({ rule, proof }));
}

/** The tests that a proof names, each as file and title. */
function testsIn(proof: string): { file: string; title: string }[] {
  return [...proof.matchAll(/`([^`]+(?:(?:\.test|-suite)\.ts|\/(?:test|try)_\w+\.py))` (.+?)(?=<br>|$)/g)].map(
    ([, file = '', title = '']) => ({
      file,
      title,
    }),
  );
}

function hasTest(file: string, title: string): boolean {
  if (!existsSync(file)) return false;
  const source = readFileSync(file, 'utf8');
  if (file.endsWith('.py')) return source.includes(`def ${title}(`);
  return [`'${title}'`, `"${title}"`, `\`${title}\``].some((quoted) => source.includes(quoted));
}

const rules = rulesOf(readFileSync('docs/spec-coverage.md', 'utf8'));

test('every rule of the specification names its test, or the part that is open', () => {
  expect(rules.length).toBeGreaterThan(150);
  const bare = rules.filter(({ proof }) => testsIn(proof).length === 0 && !/^open \((part|later)/.test(proof));
  expect(bare).toEqual([]);
});

test('every test that the coverage page names is there', () => {
  const named = rules.flatMap(({ proof }) => testsIn(proof));
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ file, title }) => !hasTest(file, title))).toEqual([]);
});
