import { expect, test } from 'vitest';
import { ManualClock } from '../testkit/manual-clock.ts';
import { sha256 } from '../testkit/test-governance.ts';
import type { ApiKeyRecord, Maker } from './api-key.ts';
import { KeyRing } from './key-ring.ts';

const clock = new ManualClock();

function record(id: string, members: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
  return {
    id,
    hash: '',
    label: id,
    scopes: ['read'],
    orgId: null,
    teamId: null,
    createdAt: 0,
    expiresAt: null,
    lastUsedAt: null,
    revokedAt: null,
    madeBy: null,
    rotatedFrom: null,
    ...members,
  };
}

const ring = (...keys: ApiKeyRecord[]) => new KeyRing(clock, sha256, keys);
const by = (kind: Maker['kind'], id: string): Partial<ApiKeyRecord> => ({ madeBy: { kind, id } });

test('keys are listed in the order of their creation, however they were stored', () => {
  const keys = ring(record('c', { createdAt: 3 }), record('a', { createdAt: 1 }), record('b', { createdAt: 2 }));
  expect(keys.all().map(({ id }) => id)).toEqual(['a', 'b', 'c']);
});

test('a use shows at once, and is to be written once', () => {
  const keys = ring(record('a'), record('b'));
  keys.noteUse('a');
  keys.noteUse('gone');
  const usedAt = clock.now();
  expect(keys.find('a')?.lastUsedAt).toBe(usedAt);
  expect(keys.find('b')?.lastUsedAt).toBeNull();
  expect(keys.unwritten()).toEqual([{ id: 'a', at: usedAt }]);
  keys.written('a', usedAt);
  expect(keys.unwritten()).toEqual([]);
  expect(keys.find('a')?.lastUsedAt).toBe(usedAt);
  expect(keys.find('gone')).toBeUndefined();
});

test('a key that comes from an unknown one is not in force, in any number of steps, until that is known', () => {
  const keys = ring(
    record('child', by('api_key', 'mother')),
    record('rotated', { rotatedFrom: 'child' }),
    record('beside', by('account', 'acc_1')),
  );
  expect(['child', 'rotated', 'beside'].map((id) => keys.isInForce(id))).toEqual([false, false, true]);
  keys.put(record('mother', { revokedAt: 1 }));
  expect(['child', 'rotated'].map((id) => keys.isInForce(id))).toEqual([true, true]);
  keys.remove('mother');
  expect(keys.isInForce('rotated')).toBe(false);
});

test('keys that are read again stand for all, but for what has changed meanwhile', () => {
  const keys = ring(record('lost'), record('ended'), record('kept'), record('changed'));
  keys.beginReading();
  keys.put(record('made'));
  keys.put(record('changed', { label: 'new' }));
  keys.renew([record('ended', { revokedAt: 1 }), record('kept'), record('changed', { label: 'old' })]);
  expect(keys.all().map(({ id, label, revokedAt }) => [id, label, revokedAt])).toEqual([
    ['ended', 'ended', 1],
    ['kept', 'kept', null],
    ['changed', 'new', null],
    ['made', 'made', null],
  ]);
});

test('the accounts behind a key are found once, and anew where a key above it arrives or is removed', () => {
  const keys = ring(record('child', by('api_key', 'mother')));
  expect(keys.accountsBehind('child')).toEqual([]);
  keys.put(record('other', by('account', 'acc_2')));
  const before = keys.accountsBehind('child');
  expect(keys.accountsBehind('child')).toBe(before);
  keys.put(record('mother', by('account', 'acc_1')));
  expect(keys.accountsBehind('child')).toEqual(['acc_1']);
  expect(keys.accountsBehind('other')).toEqual(['acc_2']);
  keys.remove('other');
  keys.put(record('other', by('account', 'acc_3')));
  expect(keys.accountsBehind('other')).toEqual(['acc_3']);
});

test('whether a key is in force costs a few looks at each key that it comes from, whichever are asked about', () => {
  const length = 2000;
  let looks = 0;
  const chain = Array.from({ length }, (_, n) => ({
    ...record(`k${n}`),
    get rotatedFrom() {
      looks++;
      return n === 0 ? null : `k${n - 1}`;
    },
  }));
  const keys = ring(...chain);
  for (const { id } of chain) expect(keys.isInForce(id)).toBe(true);
  expect(looks).toBeLessThan(10 * length);
  const others = ring(...chain);
  for (const { id } of chain.toReversed()) expect(others.isInForce(id)).toBe(true);
  expect(looks).toBeLessThan(20 * length);
});

test('a key that is asked about before it has arrived is judged anew once it is there', () => {
  const keys = ring();
  expect(keys.accountsBehind('late')).toEqual([]);
  keys.put(record('late', by('account', 'ann')));
  expect(keys.accountsBehind('late')).toEqual(['ann']);
});
