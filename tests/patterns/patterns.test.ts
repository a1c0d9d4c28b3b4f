import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { literalPatterns, pythonPatterns } from './list-patterns.ts';
import { superLinear } from './super-linear.ts';

const folders = globSync('packages/*/src');

test('no regular expression of the packages can be made to take more than linear time', () => {
  const patterns = literalPatterns(folders);
  expect(patterns.length).toBeGreaterThan(400);
  expect(faultsIn(patterns)).toEqual([]);
});

test('nor one that a module makes of parts', { timeout: 120_000 }, () => {
  const files = globSync('packages/{cli,contract,core,gateway,grpc-server,proxy,sdk}/src/**/*.ts')
    .filter((file) => !file.endsWith('.test.ts'))
    .filter((file) => readFileSync(file, 'utf8').includes('new RegExp('));
  const made = execFileSync(process.execPath, ['tests/patterns/record-patterns.ts', ...files], { encoding: 'utf8' });
  expect(faultsIn(JSON.parse(made) as Parameters<typeof faultsIn>[0])).toEqual([]);
});

test('nor one of the client for Python', () => {
  const patterns = pythonPatterns('clients/python/src');
  expect(patterns.length).toBeGreaterThan(8);
  expect(faultsIn(patterns)).toEqual([]);
});

test('patterns that are known to take long are found', () => {
  const slow = [
    '(a*)*b',
    '(a|a)*b',
    '(?:a+)+$',
    '(?:a?b?)*c',
    '^(\\w+\\s?)*$',
    'a*a*b',
    '\\s+$',
    '^\\d+\\d+$',
    'x.*y',
    ',\\s*\\s*}',
    '(.*)\\1',
    '(?=.*a)b',
    '"(?:\\\\.|[^"\\\\])*"',
    '[sy]([^\\w\\s])(?:\\\\.|(?!\\1).)*\\1',
  ];
  for (const source of slow) expect(superLinear(source, ''), source).toBeDefined();
});

test('patterns that take linear time are not', () => {
  const fast = [
    '^a*$',
    'a+',
    '(?<!a)a+$',
    '^(?:a|b)*c$',
    '^[^=]*=.*$',
    '^\\s*(?:\\w+ )*x',
    '\\d{1,3}(?:\\.\\d{1,3}){3}',
    'x[^]*$',
    '(?<![\\w-])(?=[\\w-]*?eyJ)',
    '(["\'])x\\1',
    '"(?:\\\\[^]|[^"\\\\])*(?:"|\\\\?$)',
  ];
  for (const source of fast) expect(superLinear(source, ''), source).toBeUndefined();
});

function faultsIn(patterns: readonly { file: string; line?: number; source: string; flags: string }[]): string[] {
  return patterns.flatMap(({ file, line, source, flags }) => {
    const why = superLinear(source, flags);
    return why === undefined ? [] : [`${file}:${line ?? 'at load'}: /${source}/${flags}: ${why}`];
  });
}
