import { expect, test } from 'vitest';
import { foreignIn, namedIn } from './markers.ts';

const foreign = { prefixes: ['canary-run-b'], exact: ['canary-run-same'], values: ['keyid2345678'] };

test('names by their beginning, names as a whole, and ids', () => {
  expect(foreignIn('{"org":"canary-run-b"}', foreign)).toBe('canary-run-b');
  expect(foreignIn('x Canary-Run-B-one-root y', foreign)).toBe('canary-run-b-one-root');
  expect(foreignIn('a/canary-run-same/b', foreign)).toBe('canary-run-same');
  expect(foreignIn('kid: keyid2345678.', foreign)).toBe('keyid2345678');
});

test('names that only begin alike are not foreign', () => {
  expect(foreignIn('canary-run-a canary-run-both canary-run-same-too canary-other-b', foreign)).toBeUndefined();
});

test('what was sent may come back, and nothing more of the same', () => {
  expect(foreignIn('no agent "canary-run-b/x"', foreign, ['canary-run-b'])).toBeUndefined();
  expect(foreignIn('canary-run-b/canary-run-b-one', foreign, ['canary-run-b'])).toBe('canary-run-b-one');
  expect(foreignIn('keyid2345678', foreign, ['keyid2345678'])).toBeUndefined();
});

test('what is encoded is found, too, where it counts', () => {
  const cursor = Buffer.from('{"after":"canary-run-b-one"}').toString('base64url');
  expect(foreignIn(`{"next_cursor":"${cursor}"}`, foreign)).toBe('canary-run-b-one');
  expect(namedIn(`{"next_cursor":"${cursor}"}`, foreign)).toBeUndefined();
});
