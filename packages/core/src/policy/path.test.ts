import { posix } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { resolvePath } from './path.ts';

test.each([
  ['/data/../etc/passwd', '/etc/passwd'],
  ['/data/./x', '/data/x'],
  ['/data//x', '/data/x'],
  ['//etc', '/etc'],
  ['/data/x/', '/data/x'],
  ['/../../etc', '/etc'],
  ['/..', '/'],
  ['/', '/'],
  ['data/../x', 'x'],
  ['data/..', '.'],
  ['../x', '../x'],
  ['a/../../x', '../x'],
  ['./x', 'x'],
  ['.', '.'],
  ['..', '..'],
  ['/data/...', '/data/...'],
  ['/data/.hidden', '/data/.hidden'],
  ['/data/..x', '/data/..x'],
  ['', ''],
])('%j is matched as %j', (path, resolved) => {
  expect(resolvePath(path)).toBe(resolved);
});

const somePath = fc
  .tuple(
    fc.constantFrom('', '/', '//'),
    fc.array(fc.constantFrom('a', 'b', '.', '..', '', '...', '.x'), { maxLength: 7 }),
  )
  .map(([start, parts]) => start + parts.join('/'));

test('agrees with the resolution of the operating system', () => {
  fc.assert(
    fc.property(somePath, (path) => {
      const normal = posix.normalize(path);
      const expected = normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
      expect([path, resolvePath(path)]).toEqual([path, path === '' ? '' : expected]);
    }),
    { numRuns: 2000 },
  );
});

test('a resolved path is resolved', () => {
  fc.assert(
    fc.property(somePath, (path) => {
      expect(resolvePath(resolvePath(path))).toBe(resolvePath(path));
    }),
  );
});
