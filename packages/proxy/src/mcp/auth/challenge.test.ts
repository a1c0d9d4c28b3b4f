import { expect, it } from 'vitest';
import { challengeOf } from './challenge.ts';

const read = (text: string) => challengeOf(401, { 'www-authenticate': text });

it.each([
  ['Bearer resource_metadata="https://a/b", scope="x y"', { resourceMetadata: 'https://a/b', scope: 'x y' }],
  ['Basic realm="a", Bearer error=insufficient_scope, scope="x"', { error: 'insufficient_scope', scope: 'x' }],
  ['bearer scope="a", scope="b"', { scope: 'a' }],
  [String.raw`Bearer error="a\"b"`, { error: 'a"b' }],
  ['Bearer scope="a\u001b[2J"', { scope: undefined }],
  [`Bearer scope="${'x'.repeat(2000)}"`, { scope: undefined }],
  ['Digest scope="x"', { scope: undefined }],
  ['', { error: undefined, scope: undefined, resourceMetadata: undefined }],
])('reads %s', (text, expected) => {
  expect(read(text)).toMatchObject(expected);
});
