import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** A longer cell is unreadable as text. Its content belongs in a paragraph or a list beside the table. */
const longestCell = 400;

interface Cell {
  readonly place: string;
  readonly text: string;
}

/** The cells of all tables of a page, without the separator lines. */
function cellsOf(file: string, page: string): Cell[] {
  let isCode = false;
  return page.split('\n').flatMap((line, index) => {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
    if (isCode || !line.trimStart().startsWith('|')) return [];
    return line
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim())
      .filter((cell) => !/^:?-+:?$/.test(cell))
      .map((text) => ({ place: `${file}:${index + 1}`, text }));
  });
}

const files = execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' }).split('\n').filter(Boolean);
const cells = files.flatMap((file) => cellsOf(file, readFileSync(file, 'utf8')));

test(`every cell of a table in the docs is shorter than ${longestCell} characters`, () => {
  expect(cells.length).toBeGreaterThan(1000);
  const long = cells.filter(({ text }) => text.length >= longestCell);
  expect(long.map(({ place, text }) => `${place}: ${text.length} characters`)).toEqual([]);
});

test('cells are found between pipes, and neither in code nor in the line below the head', () => {
  const page = '| a | b \\| c |\n| --- | :-: |\n| d | |\n\n```text\n| no |\n```\n';
  expect(cellsOf('x.md', page).filter(({ text }) => text !== '')).toEqual([
    { place: 'x.md:1', text: 'a' },
    { place: 'x.md:1', text: 'b \\| c' },
    { place: 'x.md:3', text: 'd' },
  ]);
});

/** The file names on a page, in code spans. A path may omit its start. */
function namedFiles(page: string): string[] {
  return [...page.matchAll(/`([\w.-]+(?:\/[\w.-]+)*\.(?:ts|tsx|mjs|proto|json|md))`/g)].map(([, name = '']) => name);
}

const tracked = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n').filter(Boolean);

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'])('every file that %s names is there', (page) => {
  const named = namedFiles(readFileSync(page, 'utf8'));
  expect(named.length).toBeGreaterThan(0);
  const missing = named.filter((name) => !tracked.some((file) => file === name || file.endsWith(`/${name}`)));
  expect(missing).toEqual([]);
});
