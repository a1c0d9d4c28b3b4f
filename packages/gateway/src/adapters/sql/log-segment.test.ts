import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SegmentEntry } from './log-segment.ts';
import { LogSegment, mostEntries, orgUser, rowOf } from './log-segment.ts';

const name = fc.constantFrom('a', 'b', 'Ä', '🦊', 'a'.repeat(100));
const someEntry: fc.Arbitrary<SegmentEntry> = fc.record({
  seq: fc.constant(0),
  at: fc.constant(0),
  event_type: fc.constantFrom('ActionAllowed', 'ApiKeyCreated'),
  org_id: fc.option(name),
  agent_id: fc.oneof(name, fc.constant('')),
  op_id: fc.option(name),
  user_sub: fc.option(name),
  user_email: fc.option(name),
  run: fc.option(name),
});

function written(segment: LogSegment): Map<number, Uint8Array> {
  return new Map(segment.rows());
}

/** Where a text stands by the rows of a segment. */
function inRows(rows: ReadonlyMap<number, Uint8Array>, ...key: Parameters<typeof rowOf>): number[] {
  const [row, placesIn] = rowOf(...key);
  return [...placesIn(rows.get(row) ?? new Uint8Array())];
}

test('what is found in a segment, in its rows and in what was loaded from them is where it stands', () => {
  fc.assert(
    fc.property(
      fc.array(someEntry, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 2 ** 40 }),
      (some, first) => {
        const entries = some.map((entry, at) => ({ ...entry, seq: first + at }));
        const segment = new LogSegment(0);
        for (const entry of entries) segment.add(entry);
        const rows = written(segment);
        const loaded = new LogSegment(first + some.length - 1);
        for (const [row, items] of rows) loaded.load(row, items);
        const stands = (holds: (entry: SegmentEntry) => boolean) =>
          [...entries.keys()].filter((at) => holds(some[at] as never));
        for (const text of ['a', 'b', 'Ä', 'ä', '🦊', 'a'.repeat(100), 'nowhere']) {
          const isUser = ({ user_sub: sub, user_email: email }: SegmentEntry) =>
            sub?.toLowerCase() === text || email === text;
          const expected = [
            ['org', text, stands(({ org_id: org }) => org === text)],
            ['agent', text, stands(({ agent_id: agent }) => agent === text)],
            ['op', text, stands(({ op_id: op }) => op === text)],
            ['run', text, stands(({ run }) => run === text)],
            ['user', text, stands(isUser)],
            ['org user', orgUser('a', text), stands((entry) => entry.org_id === 'a' && isUser(entry))],
          ] as const;
          for (const [kind, key, places] of expected) {
            expect([...segment.places(kind, key)]).toEqual(places);
            expect(inRows(rows, kind, key)).toEqual(places);
            expect([...loaded.places(kind, key)]).toEqual(places);
          }
        }
        expect(inRows(rows, 'event', 'ApiKeyCreated')).toEqual(stands((entry) => entry.event_type === 'ApiKeyCreated'));
        expect(inRows(rows, 'event', 'ActionAllowed')).toEqual([]);
      },
    ),
  );
});

test('a full segment has a place for each entry, whatever they share', () => {
  const segment = new LogSegment(10);
  const entry = {
    at: 0,
    event_type: 'ActionAllowed',
    org_id: 'acme',
    agent_id: '',
    user_sub: null,
    user_email: null,
    run: null,
  };
  for (let seq = 11; segment.fits(seq); seq++) segment.add({ ...entry, seq, op_id: `t:${seq}` });
  expect(segment.through).toBe(10 + mostEntries);
  const rows = written(segment);
  expect(inRows(rows, 'org', 'acme')).toEqual(Array.from({ length: mostEntries }, (_, at) => at));
  for (const at of [0, 1, 7919, mostEntries - 1]) expect(inRows(rows, 'op', `t:${at + 11}`)).toEqual([at]);
  expect(inRows(rows, 'op', 't:1')).toEqual([]);
});
