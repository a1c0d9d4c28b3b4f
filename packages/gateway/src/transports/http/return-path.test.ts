import { expect, test } from 'vitest';
import { returnPath } from './return-path.ts';

test.each([
  ['/', '/'],
  ['/ops?state=running#row', '/ops?state=running#row'],
  ['/audit?q=a%20b', '/audit?q=a%20b'],
  ['/a//b', '/a//b'],
  ['/ä', '/%C3%A4'],
  ['/x/../ops', '/ops'],
  ['/?u=https://evil.example', '/?u=https://evil.example'],
])('%s is a path of this origin', (text, path) => {
  expect(returnPath(text)).toBe(path);
});

test.each([
  '',
  'ops',
  'https://evil.example',
  'javascript:alert(1)',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\/evil.example',
  '/.//evil.example',
  '/x/..//evil.example',
  '/%2e//evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '/ops\r\nset-cookie: a=b',
  ' /ops',
  '/ops\u0000',
])('%j could lead elsewhere', (text) => {
  expect(returnPath(text)).toBeUndefined();
});
