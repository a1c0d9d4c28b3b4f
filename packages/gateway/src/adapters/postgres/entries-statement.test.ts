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
