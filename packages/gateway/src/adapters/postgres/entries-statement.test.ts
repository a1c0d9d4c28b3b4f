import { emptyChain } from '@reeve/core';
import { sampleDraft, sealAll } from '@reeve/core/testkit';
import { expect, test } from 'vitest';
import { entriesStatement } from './entries-statement.ts';

const after = { version: 7, seq: 0, hash: 'before', name: 'f' };
const note = { after, gateway: 'g', events: 2, facts: '{}' };

test('entries that do not follow one another are refused before anything is sent', () => {
  const [first, second, third] = sealAll([sampleDraft(), sampleDraft(), sampleDraft()], emptyChain);
  if (first === undefined || second === undefined || third === undefined) throw new Error('three entries were sealed');
  expect(() => entriesStatement([first, third], note)).toThrow('do not follow one another');
  expect(entriesStatement([first, second, third], note).values.slice(0, 8)).toEqual([
    7,
    3,
    third.hash,
    'g',
    2,
    '{}',
    'before',
    'f',
  ]);
});

test('a commit without entries leaves the head of the chain where it is', () => {
  expect(entriesStatement([], note).values).toEqual([7, null, null, 'g', 2, '{}', 'before', 'f']);
});

test('texts with any characters stay whole, each with its entry', () => {
  const odd = 'a\nb\\n"c"\u0000\u0001\u2028{,}NULL';
  const drafts = [sampleDraft({ opId: 'NULL', claimedOrgId: odd }), sampleDraft({ opId: odd, run: odd })];
  const entries = sealAll(drafts, emptyChain);
  const [opIds, , claimed, issuers, , , runs, , canonical] = entriesStatement(entries, note).values.slice(14);
  expect(String(canonical).split('\n')).toEqual(entries.map((entry) => entry.canonical));
  const written = '"a\nb\\\\n\\"c\\"\u00010\u00011\u2028{,}NULL"';
  expect([opIds, claimed, runs]).toEqual([`{"NULL",${written}}`, `{${written},NULL}`, `{NULL,${written}}`]);
  expect(issuers).toBeNull();
});
