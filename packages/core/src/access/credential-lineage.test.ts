import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Maker } from './api-key.ts';
import {
  accountBehind,
  accountsBehind,
  isOfLineage,
  isOfLineageOfAny,
  keyInForceSince,
  makerOf,
  orphansIn,
  peopleBehind,
  personBehind,
  rootsWith,
} from './credential-lineage.ts';

interface Made {
  readonly by?: Maker;
  readonly from?: string;
  readonly org?: string;
}

const account = (id: string): Maker => ({ kind: 'account', id });
const key = (id: string): Maker => ({ kind: 'api_key', id });

function ring(keys: Readonly<Record<string, Made>>) {
  const known = new Map(
    Object.entries(keys).map(([id, { by = null, from = null, org = null }]) => [
      id,
      { id, orgId: org, madeBy: by, rotatedFrom: from },
    ]),
  );
  return { find: (id: string) => known.get(id) };
}

/** The keys of a typical gateway: the operator's, those of two people, those of an org. */
const keys = ring({
  boot: {},
  bootRotated: { by: key('boot'), from: 'boot' },
  bootRotatedByAnn: { by: account('ann'), from: 'bootRotated' },
  ci: { by: key('boot') },
  ciRotated: { by: key('boot'), from: 'ci' },
  annsKey: { by: account('ann') },
  annsKeysKey: { by: key('annsKey') },
  annsRotated: { by: account('bob'), from: 'annsKey' },
  annsOrg: { by: key('annsKeysKey'), org: 'acme' },
  org: { by: key('boot'), org: 'acme' },
  orgRotated: { by: key('org'), from: 'org', org: 'acme' },
  orgsKey: { by: key('org'), org: 'acme' },
  orgsKeysKey: { by: key('orgsKey'), org: 'acme' },
  afterRotation: { by: key('orgRotated'), org: 'acme' },
  orphan: { by: key('forgotten') },
  annsOrphan: { by: key('annsKey'), from: 'forgotten' },
});

describe('a lineage', () => {
  test.each([
    ['boot', 'boot', true],
    ['bootRotated', 'boot', true],
    ['ci', 'boot', false],
    ['ciRotated', 'ci', true],
    ['ciRotated', 'boot', false],
    ['org', 'boot', false],
    ['orgsKey', 'boot', false],
    ['annsKeysKey', 'annsKey', false],
    ['annsOrg', 'ann', true],
    ['boot', 'bootRotated', false],
    ['boot', 'ci', false],
    ['ci', 'org', false],
    ['orgRotated', 'org', true],
    ['orgsKey', 'org', true],
    ['orgsKeysKey', 'org', true],
    ['afterRotation', 'org', true],
    ['org', 'orgsKey', false],
    ['orgsKey', 'orgRotated', false],
    ['annsKeysKey', 'ann', true],
    ['annsRotated', 'ann', true],
    ['annsRotated', 'bob', true],
    ['ann', 'ann', true],
    ['ann', 'annsKey', false],
    ['annsKey', 'bob', false],
    ['orphan', 'forgotten', true],
    ['unknown', 'boot', false],
  ])('%s comes from %s: %s', (credential, root, expected) => {
    expect(isOfLineage(keys, credential, root)).toBe(expected);
  });
});

describe('what something was registered with', () => {
  test.each([
    [[], 'org', ['org']],
    [['org'], 'org', ['org']],
    [['org'], 'orgsKey', ['org']],
    [['orgsKey'], 'org', ['org']],
    [['orgsKey', 'ci'], 'org', ['ci', 'org']],
    [['orgsKey'], 'orgRotated', ['orgsKey', 'orgRotated']],
    [['ci'], 'org', ['ci', 'org']],
  ])('%j and then %s: %j', (roots, credential, after) => {
    expect(rootsWith(keys, roots, credential)).toEqual(after);
  });

  test('hides nobody who was known before', () => {
    const some = fc.constantFrom('boot', 'ci', 'org', 'orgRotated', 'orgsKey', 'orgsKeysKey', 'annsKey', 'ann', 'bob');
    fc.assert(
      fc.property(fc.array(some), some, (registrants, caller) => {
        const roots = registrants.reduce<readonly string[]>((before, each) => rootsWith(keys, before, each), []);
        const isOwn = registrants.some((each) => isOfLineage(keys, caller, each));
        expect(isOfLineageOfAny(keys, caller, roots)).toBe(isOwn);
      }),
    );
  });
});

describe('whom a verdict counts as', () => {
  test.each([
    ['ann', 'ann'],
    ['boot', 'boot'],
    ['bootRotated', 'boot'],
    ['bootRotatedByAnn', 'boot'],
    ['ci', 'ci'],
    ['ciRotated', 'ci'],
    ['annsKey', 'ann'],
    ['annsKeysKey', 'ann'],
    ['annsRotated', 'ann'],
    ['annsOrg', 'ann'],
    ['org', 'org'],
    ['orgRotated', 'org'],
    ['orgsKey', 'org'],
    ['orgsKeysKey', 'org'],
    ['afterRotation', 'org'],
    ['orphan', 'forgotten'],
    ['annsOrphan', 'ann'],
    ['unknown', 'unknown'],
  ])('%s counts as %s', (credentialId, expected) => {
    expect(personBehind(keys, { credentialId })).toBe(expected);
  });

  test('an account that rotates the key of another may hold it, and cannot vote twice with it', () => {
    expect(peopleBehind(keys, { credentialId: 'annsRotated' })).toEqual(['ann', 'bob']);
    expect(peopleBehind(keys, { credentialId: 'bootRotatedByAnn' })).toEqual(['boot', 'ann']);
    expect(peopleBehind(keys, { credentialId: 'orgRotated' })).toEqual(['org']);
    expect(peopleBehind(keys, { credentialId: 'ann' })).toEqual(['ann']);
  });
});

test('the account behind a key is the one that it goes back to', () => {
  expect(accountBehind(keys, 'annsOrg')).toBe('ann');
  expect(accountBehind(keys, 'annsRotated')).toBe('ann');
  expect(accountBehind(keys, 'orgsKey')).toBeNull();
  expect(accountBehind(keys, 'unknown')).toBeNull();
  expect(accountsBehind(keys, 'annsRotated')).toEqual(['bob', 'ann']);
  expect(accountsBehind(keys, 'orgsKeysKey')).toEqual([]);
});

test('whoever is logged in makes things as the account, everybody else as the key', () => {
  const login = { accountId: 'acc_1', sessionId: 'ses_1', role: 'admin' } as const;
  expect(makerOf({ credentialId: 'acc_1', login })).toEqual(account('acc_1'));
  expect(makerOf({ credentialId: 'abcdefghijkl' })).toEqual(key('abcdefghijkl'));
});

const names = ['a', 'b', 'c', 'd', 'e'];

/** Arbitrary rows, including cycles of keys that descend from each other. */
const anyKeys = fc.dictionary(
  fc.constantFrom(...names),
  fc.record(
    {
      by: fc.oneof(fc.constantFrom(...names).map(key), fc.constantFrom('ann', 'bob').map(account)),
      from: fc.constantFrom(...names),
      org: fc.constant('acme'),
    },
    { requiredKeys: [] },
  ),
);

test('whatever the rows say, every question has an answer', () => {
  fc.assert(
    fc.property(anyKeys, fc.constantFrom(...names), fc.constantFrom(...names), (rows, a, b) => {
      const any = ring(rows);
      const person = personBehind(any, { credentialId: a });
      expect(peopleBehind(any, { credentialId: a })).toContain(person);
      if (isOfLineage(any, a, b))
        expect(accountsBehind(any, a)).toEqual(expect.arrayContaining([...accountsBehind(any, b)]));
      const behind = accountBehind(any, a);
      if (behind !== null) expect(person).toBe(behind);
    }),
  );
});

test('a rotation counts as what it was made in place of, whoever rotates and however often', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('boot', 'ci', 'annsKey', 'org', 'orgsKey'),
      fc.array(fc.constantFrom('boot', 'org')),
      (root, by) => {
        const rotations = by.map((maker, index) => ({
          [`r${index}`]: { by: key(maker), from: index === 0 ? root : `r${index - 1}` },
        }));
        const later = ring(Object.assign({}, ...rotations));
        const all = { find: (id: string) => later.find(id) ?? keys.find(id) };
        const newest = by.length === 0 ? root : `r${by.length - 1}`;
        expect(personBehind(all, { credentialId: newest })).toBe(personBehind(keys, { credentialId: root }));
      },
    ),
  );
});

test('keys without one of those that they come from are found, in any number of steps and however they were made', () => {
  const all = [
    { id: 'whole', madeBy: account('ann'), rotatedFrom: null },
    { id: 'made', madeBy: key('whole'), rotatedFrom: null },
    { id: 'loop', madeBy: key('loop'), rotatedFrom: null },
    { id: 'last', madeBy: key('made'), rotatedFrom: 'next' },
    { id: 'next', madeBy: key('first'), rotatedFrom: null },
    { id: 'first', madeBy: account('ann'), rotatedFrom: 'gone' },
  ];
  expect(orphansIn(all).toSorted()).toEqual(['first', 'last', 'next']);
  expect(orphansIn(all.slice(0, 3))).toEqual([]);
});

test('a chain of rotations costs a few looks at each key, however long a tenant makes it', () => {
  const length = 2000;
  let looks = 0;
  const all = Array.from({ length }, (_, n) => ({
    id: `k${n}`,
    madeBy: n === 0 ? null : key(`k${n - 1}`),
    get rotatedFrom() {
      looks++;
      return n === 0 ? null : `k${n - 1}`;
    },
  }));
  expect(orphansIn(all)).toEqual([]);
  expect(orphansIn(all.slice(1))).toHaveLength(length - 1);
  expect(keyInForceSince({ all: () => all, isInForce: (id) => id === `k${length - 1}` }, 'k0')).toBe(`k${length - 1}`);
  expect(looks).toBeLessThan(10 * length);
});
