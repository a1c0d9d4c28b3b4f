import { expect, test } from 'vitest';
import { nextPath } from './next-path.ts';

test.each(['/ops', '/ops?state=running&q=a%20b', '/audit#x', '/policies?name=..%2F..'])('%s is gone back to', (path) =>
  expect(nextPath(path)).toBe(path),
);

test.each([
  undefined,
  '',
  'ops',
  '//evil.example',
  '/\\evil.example',
  '/.//evil.example',
  '/x/..//evil.example',
  '/\t/evil.example',
  'https://evil.example/ops',
  'javascript:alert(1)',
  '/sign-in?next=/ops',
  '/reset',
])('%j leads to the start', (next) => expect(nextPath(next)).toBe('/'));
