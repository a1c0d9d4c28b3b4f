import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

/** The text of a page without what is code. */
function prose(page: string): string {
  return page.replaceAll(/^\s*```.*?^\s*```/gms, '').replaceAll(/`[^`\n]*`/g, '');
}

/** The names that headings have as targets of links. Equal ones are numbered. */
function anchorsOf(page: string): Set<string> {
  const counts = new Map<string, number>();
  const headings = page.replaceAll(/^\s*```.*?^\s*```/gms, '').matchAll(/^#{1,6} (.*)$/gm);
  const names = [...headings].map(([, heading = '']) => {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const name = text.replaceAll(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  });
  return new Set(names);
}

/** The links of a page that lead nowhere. */
function brokenLinks(file: string, page: string): string[] {
  const targets = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => {
    if (/^(?:https?|mailto):/.test(target)) return false;
    const [path = '', anchor] = target.split('#');
    const found = join(dirname(file), path);
    if (path !== '' && !existsSync(found)) return true;
    return anchor !== undefined && !anchorsOf(path === '' ? page : readFileSync(found, 'utf8')).has(anchor);
  });
}

test.each(files)('every link of %s leads somewhere', (file) => {
  expect(brokenLinks(file, readFileSync(file, 'utf8'))).toEqual([]);
});

test('a link to what is not there is found, be it a page or a heading', () => {
  const page =
    '# One\n\n## `Two` of it!\n\n[a](#one) [b](#two-of-it) [c](#three) [d](nowhere.md) `[e](no)` [f](https://x)';
  expect(brokenLinks('x.md', page)).toEqual(['#three', 'nowhere.md']);
});
