import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPath, resolvePath } from './path.ts';

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

test.each([
  ['file:///etc/passwd', '/etc/passwd'],
  ['FILE:///etc/passwd', '/etc/passwd'],
  ['file:/etc/passwd', '/etc/passwd'],
  ['file:etc/passwd', '/etc/passwd'],
  ['file://localhost/etc/passwd', '/etc/passwd'],
  ['file://LOCALHOST/etc/passwd', '/etc/passwd'],
  ['file:////etc/passwd', '/etc/passwd'],
  ['file:\\\\\\etc\\passwd', '/etc/passwd'],
  ['file:///data/../etc/passwd', '/etc/passwd'],
  ['file:///data/%2e%2E/etc/%70asswd', '/etc/passwd'],
  ['file:///data%2f..%2fetc/passwd', '/etc/passwd'],
  ['file:///etc/passwd?x#y', '/etc/passwd'],
  [' \tfile:///etc/passwd', '/etc/passwd'],
  ['fi\nle:///etc/pass\twd', '/etc/passwd'],
  ['file:///C:/x', 'C:/x'],
  ['file:///a%20b', '/a b'],
  ['/a%20b', '/a%20b'],
  ['files:/x', 'files:/x'],
  ['./file:/x', 'file:/x'],
])('%j is read as %j', (path, read) => {
  expect(readPath(path)).toBe(read);
});

test.each(['file://server/etc/passwd', 'file:///%ff', 'file:///%zz', 'file://a b/x'])('%j cannot be read', (path) => {
  expect(readPath(path)).toBeUndefined();
});

test('a file URL is read as the operating system reads it', () => {
  const part = fc.constantFrom('a', '..', '.', '%2e', '%61', '/', '//', '\\', '?', '#', ' ', 'ü');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const url = `file:///${parts.join('')}`;
      const expected = resolvePath(fileURLToPath(url, { windows: false }));
      expect([url, readPath(url)]).toEqual([url, expected]);
    }),
    { numRuns: 1000 },
  );
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
