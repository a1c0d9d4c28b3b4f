import { describe, expect, test } from 'vitest';
import type { SumChange, SumEvent } from '../testkit/shared-sums.ts';
import { later, SharedSums, theirCommit } from '../testkit/shared-sums.ts';
import type { ForeignCommit } from './shared-log.ts';

describe('a journal that locks the log first', () => {
  test('what happens until the log is locked is in one commit, after those of others', async () => {
    const tested = new SharedSums();
    const { promise, resolve } = Promise.withResolvers<ForeignCommit<SumChange, SumEvent>[]>();
    tested.locks.push(promise);
    const first = tested.add('a/b/one', 4);
    tested.turn();
    await later();
    const second = tested.add('a/b/two', 1);
    tested.turn();
    await later();
    expect(tested.written).toEqual([]);
    resolve([theirCommit(7, { kind: 'summed', agent: 'a/b/one', by: 5 })]);
    expect([await first, await second]).toEqual([9, 1]);
    expect(tested.batches.map(({ entries }) => entries.map(({ seq }) => seq))).toEqual([[8, 9]]);
    expect(tested.journal.repeated).toBe(1);
  });

  test('fails all that waits for a log that cannot be locked, and goes on', async () => {
    const tested = new SharedSums();
    tested.locks.push(Promise.reject(new Error('gone')));
    const answers = [tested.add('a/b/one', 4), tested.add('a/b/two', 1)].map((answer) =>
      answer.catch((error: unknown) => (error as { code: string }).code),
    );
    tested.turn();
    expect(await Promise.all(answers)).toEqual(['store_unavailable', 'store_unavailable']);
    expect(Object.fromEntries(tested.sums)).toEqual({ 'a/b/one': 0, 'a/b/two': 0 });
    const next = tested.add('a/b/one', 2);
    tested.turn();
    expect(await next).toBe(2);
  });

  test('commits nothing any more once it cannot follow', async () => {
    const tested = new SharedSums();
    tested.cannotFollow = true;
    tested.arrived = [theirCommit(1, { kind: 'summed', agent: 'a/b/one', by: 2 })];
    const answer = tested.add('a/b/two', 1);
    expect(() => tested.journal.followReady()).toThrow('unknown step');
    tested.turn();
    await expect(answer).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(tested.written).toEqual([]);
  });

  test('lets go of the log while it prepares to follow others, and locks it again', async () => {
    const tested = new SharedSums();
    const { promise, resolve } = Promise.withResolvers<void>();
    tested.prepared = promise;
    tested.locks.push(
      Promise.resolve([theirCommit(7, { kind: 'summed', agent: 'a/b/one', by: 5 })]),
      Promise.resolve([]),
    );
    const answer = tested.add('a/b/two', 1);
    tested.turn();
    await later();
    expect([tested.letGo, tested.locks.length, tested.written]).toEqual([1, 1, []]);
    resolve();
    expect(await answer).toBe(1);
    expect([tested.letGo, tested.locks.length, tested.written]).toEqual([1, 0, ['1']]);
  });
});
