import { expect, test } from 'vitest';
import { requireAlike } from './requirements.ts';
import { differenceOf } from './state-of.ts';

const one = new Map([
  ['agent a', '{"blocked":false,"record":{"name":"a","token":1}}'],
  ['operation a/t1:s', '{"state":"running"}'],
  ['policies ', '"v1"'],
]);
const other = new Map([
  ['agent a', '{"blocked":false,"record":{"name":"a","token":2}}'],
  ['operation a/t2:s', '{"state":"paused"}'],
  ['policies ', '"v1"'],
]);

test('a difference names what only one has, and the members that differ', () => {
  expect(differenceOf(one, other)).toEqual([
    '± agent a record.token: -1 +2',
    '- operation a/t1:s {"state":"running"}',
    '+ operation a/t2:s {"state":"paused"}',
  ]);
});

test('a failure says how much differs, and shows some of each kind', () => {
  const many = new Map(Array.from({ length: 50 }, (_, nth) => [`operation ${nth}`, '{}']));
  const fail = () => requireAlike({ name: 'A', state: one }, { name: 'B', state: new Map([...other, ...many]) }, 7);
  expect(fail).toThrow('A (-) and B (+) differ after commit 7: 1 × agent, 52 × operation\n± agent a record.token');
  expect(fail).toThrow(/^(?:.*\n){9}.*$/);
});
