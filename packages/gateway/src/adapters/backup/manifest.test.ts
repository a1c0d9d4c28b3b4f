import { expect, test } from 'vitest';
import { parseManifest } from './manifest.ts';

const sha256 = '0'.repeat(64);
const part = (name: string) => ({ name, bytes: 1, sha256 });
const good = {
  format: 1,
  reeve_version: '0.1.0',
  created_at: '2026-01-01T00:00:00.000Z',
  schema_version: 1,
  head: { seq: 0, hash: sha256 },
  entries: 0,
  policies: 'included',
  parts: [part('reeve.db'), part('policies/a.yaml'), part('policies/teams/ä b.yaml')],
};
const parse = (change: object) => parseManifest(JSON.stringify({ ...good, ...change }));

test('is read as it was written', () => {
  expect(parse({})).toEqual(good);
});

test('of a newer form names the version that can read it', () => {
  expect(() => parse({ format: 2, reeve_version: '9.9.9' })).toThrow('it was made by Reeve 9.9.9');
});

test.each([
  '../x',
  '/etc/passwd',
  'policies/../../x',
  'policies/./x',
  'policies//x',
  'policies',
  'gateway.lock',
  'policies/a\\b',
  'policies/\n',
  'policies/..',
  'reeve.db',
])('cannot make a restore write to %j', (name) => {
  expect(() => parse({ parts: [part('reeve.db'), part(name)] })).toThrow('parts that cannot be');
});

test('without a store, or malformed, is refused', () => {
  expect(() => parse({ parts: [] })).toThrow('parts that cannot be');
  expect(() => parse({ parts: [{ ...part('reeve.db'), bytes: -1 }] })).toThrow('malformed');
  expect(() => parse({ head: null })).toThrow('malformed');
  expect(() => parseManifest('{')).toThrow('not JSON');
});
