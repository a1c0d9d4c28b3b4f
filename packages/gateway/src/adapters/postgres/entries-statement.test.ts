import { emptyChain } from '@reeve/core';
import { sampleDraft, sealAll } from '@reeve/core/testkit';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { entriesStatement, headBefore } from './entries-statement.ts';

const slot = { number: 1, holder: 'h' };

test('what an entry was sealed onto is read from its text, whatever else that text says', () => {
  const confusing = fc.oneof(
    fc.string(),
    fc.constantFrom('"prev_hash":"', '","prev_hash":"', '\\"prev_hash\\":\\"', `"prev_hash":"${'0'.repeat(64)}"`),
  );
  fc.assert(
    fc.property(confusing, confusing, confusing, (reason, opId, value) => {
      const payload = JSON.stringify({ prev_hash: value, z: { prev_hash: reason } }) as never;
      const draft = sampleDraft({ reason, opId, spanId: value, traceId: reason, payload });
      const [first, second] = sealAll([sampleDraft(), draft], emptyChain);
      expect(headBefore(second === undefined ? [] : [second])).toEqual({ seq: first?.seq, hash: first?.hash });
    }),
  );
});

test('entries that do not follow one another are refused before anything is sent', () => {
  const [first, second, third] = sealAll([sampleDraft(), sampleDraft(), sampleDraft()], emptyChain);
  if (first === undefined || second === undefined || third === undefined) throw new Error('three entries were sealed');
  expect(() => entriesStatement([second, third, first], slot)).toThrow('do not follow one another');
  expect(() => entriesStatement([first, third], slot)).toThrow('do not follow one another');
  expect(entriesStatement([first, second, third], slot).values.slice(0, 6)).toEqual([
    0,
    emptyChain.hash,
    3,
    third.hash,
    1,
    'h',
  ]);
});
