import { expect, test } from 'vitest';
import { filterOf, parsePeopleSearch, queryOf } from './people-search.ts';

test('the address holds filters and the open person, and an unknown period is none', () => {
  const search = parsePeopleSearch({
    org_id: 'acme',
    within: 'year',
    sub: 'u-1',
    issuer: 'https://id.example.com',
    x: 1,
  });
  expect(search).toMatchObject({ org_id: 'acme', within: undefined, sub: 'u-1', issuer: 'https://id.example.com' });
  expect(filterOf(search)).toEqual({ org_id: 'acme' });
});

test('a period becomes the moment from which on entries count', () => {
  const now = Date.parse('2026-11-15T08:00:00.000Z');
  expect(queryOf({ user: 'ann', within: 'hour' }, now)).toEqual({ user: 'ann', from: '2026-11-15T07:00:00.000Z' });
  expect(queryOf({ user: 'ann' }, now)).toEqual({ user: 'ann' });
});
