import { describe, expect, test } from 'vitest';
import { later, SharedSums, theirCommit } from '../testkit/shared-sums.ts';
import { HeadMoved } from './shared-log.ts';
import { ownWork } from './warrant.ts';

describe('a journal on a shared log', () => {
  test('commits after what came first, and does again only what rests on it', async () => {
    const tested = new SharedSums();
    const [one, two] = [tested.add('a/b/one', 4), tested.add('a/b/two', 4)];
    tested.answers.push(new HeadMoved([theirCommit(7, { kind: 'summed', agent: 'a/b/one', by: 5 })]));
    tested.turn();
    await later();
    expect([await one, await two]).toEqual([9, 4]);
    // What stands comes first; what was done again follows it, in the next commit.
    expect(tested.written).toEqual(['4', '9']);
    expect(tested.batches[0]?.entries[0]?.seq).toBe(8);
    expect(tested.published).toEqual(['their a/b/one', 'a/b/two', 'a/b/one']);
    expect(tested.done).toEqual(['a/b/two', 'a/b/one']);
    expect(Object.fromEntries(tested.sums)).toEqual({ 'a/b/one': 9, 'a/b/two': 4 });
  });

  test('answers as it is the second time', async () => {
    const tested = new SharedSums();
    const answer = tested.add('a/b/one', 4);
    tested.answers.push(new HeadMoved([theirCommit(1, { kind: 'summed', agent: 'a/b/one', by: 8 })]));
    tested.turn();
    await later();
    expect(await answer).toBe('full');
    expect(tested.sumOf('a/b/one')).toBe(8);
  });

  test('takes back what rests on what it takes back', async () => {
    const tested = new SharedSums();
    const answers = [tested.add('a/b/one', 4), tested.add('a/b/one', 4), tested.add('a/b/two', 1)];
    tested.answers.push(new HeadMoved([theirCommit(1, { kind: 'summed', agent: 'a/b/one', by: 5 })]));
    tested.turn();
    await later();
    expect(await Promise.all(answers)).toEqual([9, 'full', 1]);
  });

  test('does again what has read everything, once', async () => {
    const tested = new SharedSums();
    let times = 0;
    const answer = tested.journal.turn(ownWork, () => {
      tested.journal.reads('everything');
      tested.journal.apply({ kind: 'summed', agent: 'x/y/z', by: 0 });
      return ++times;
    });
    tested.answers.push(new HeadMoved([theirCommit(1, { kind: 'summed', agent: 'a/b/one', by: 5 })]));
    tested.turn();
    await later();
    expect(await answer).toBe(2);
  });

  test('asks for news before it answers that nothing was to be done', async () => {
    const tested = new SharedSums();
    tested.unread = [theirCommit(3, { kind: 'summed', agent: 'a/b/one', by: 5 })];
    const sum = await tested.journal.turn(ownWork, () => tested.sumOf('a/b/one'));
    expect(sum).toBe(5);
    expect(tested.journal.head.seq).toBe(3);
    const refused = tested.journal.turn(ownWork, () => {
      throw new Error('there is none');
    });
    await expect(refused).rejects.toThrow('there is none');
  });

  test('asks for news beside work that has nothing to write, which a commit would not ask for', async () => {
    const tested = new SharedSums();
    tested.unread = [theirCommit(3, { kind: 'summed', agent: 'a/b/one', by: 5 })];
    tested.journal.onCommitted(() => undefined);
    const caughtUp = tested.journal.catchUp();
    // It waits for the work.
    await later();
    tested.turn();
    await later();
    expect(await caughtUp).toBe(true);
    expect(tested.sumOf('a/b/one')).toBe(5);
  });

  test('asks for no news for work of its own that changed nothing', async () => {
    const tested = new SharedSums();
    tested.unread = [theirCommit(3, { kind: 'summed', agent: 'a/b/one', by: 5 })];
    expect(await tested.journal.ownTurn(() => tested.sumOf('a/b/one'))).toBe(0);
    expect(tested.journal.head.seq).toBe(0);
  });

  test('does work of its own again if another gateway changed what it rests on', async () => {
    const tested = new SharedSums();
    tested.answers.push(new HeadMoved([theirCommit(1, { kind: 'summed', agent: 'a/b/one', by: 5 })]));
    const sum = tested.journal.ownTurn(() => {
      tested.journal.apply({ kind: 'summed', agent: 'a/b/one', by: 1 });
      return tested.sumOf('a/b/one');
    });
    tested.turn();
    await later();
    expect(await sum).toBe(6);
  });

  test('answers what changed nothing again if a turn that it has seen ends in another way', async () => {
    const tested = new SharedSums();
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof theirCommit>[]>();
    tested.locks.push(undefined, promise);
    tested.answers.push(new HeadMoved([theirCommit(1, { kind: 'summed', agent: 'a/b/two', by: 1 })]));
    const first = tested.add('a/b/one', 4);
    const seen = tested.journal.turn(ownWork, () => tested.sumOf('a/b/one'));
    tested.turn();
    const second = tested.add('a/b/one', 2);
    await later();
    // By now it was done again, and has seen the second turn, which another gateway overtakes.
    resolve([theirCommit(3, { kind: 'summed', agent: 'a/b/one', by: 5 })]);
    await later();
    expect([await first, await second, await seen]).toEqual([4, 'full', 9]);
  });

  test('tells nobody what it has read of a turn that ends in another way', async () => {
    const tested = new SharedSums();
    const answer = tested.add('a/b/one', 4);
    const read = tested.journal.durable(() => tested.sumOf('a/b/one'));
    tested.answers.push(new HeadMoved([theirCommit(1, { kind: 'summed', agent: 'a/b/one', by: 8 })]));
    tested.turn();
    expect([await answer, await read]).toEqual(['full', 8]);
  });

  test.each(['durable', 'fresh'] as const)('refuses no %s reading for a turn that ends in another way', async (how) => {
    const tested = new SharedSums();
    const answer = tested.add('a/b/one', 4);
    const read = tested.journal[how](() => {
      const sum = tested.sumOf('a/b/one');
      if (sum === 4) throw new Error('there are four');
      return sum;
    });
    tested.answers.push(new HeadMoved([theirCommit(1, { kind: 'summed', agent: 'a/b/one', by: 8 })]));
    tested.turn();
    expect([await answer, await read]).toEqual(['full', 8]);
  });

  test('reads over several turns again, too, whatever became of a turn in between', async () => {
    const tested = new SharedSums();
    const gate = Promise.withResolvers<void>();
    const read = tested.journal.durable(async () => {
      const first = tested.sumOf('a/b/one');
      await gate.promise;
      return [first, tested.sumOf('a/b/one')];
    });
    const answer = tested.add('a/b/one', 4).catch(() => 'failed');
    tested.answers.push(new Error('gone'));
    tested.turn();
    expect(await answer).toBe('failed');
    const next = tested.add('a/b/one', 3);
    tested.turn();
    await next;
    gate.resolve();
    expect(await read).toEqual([3, 3]);
  });

  test('follows what arrives, and waits for what must be prepared', async () => {
    const tested = new SharedSums();
    tested.arrived = [theirCommit(1, { kind: 'summed', agent: 'a/b/one', by: 2 })];
    tested.journal.followReady();
    expect(tested.sumOf('a/b/one')).toBe(2);
    const { promise, resolve } = Promise.withResolvers<void>();
    tested.prepared = promise;
    tested.arrived = [theirCommit(2, { kind: 'summed', agent: 'a/b/one', by: 3 })];
    tested.journal.followReady();
    const answer = tested.add('a/b/one', 1);
    tested.turn();
    await later();
    expect([tested.sumOf('a/b/one'), tested.written]).toEqual([3, []]);
    resolve();
    await later();
    expect(await answer).toBe(6);
  });

  test('follows what arrives after what it has to prepare first', async () => {
    const tested = new SharedSums();
    const { promise, resolve } = Promise.withResolvers<void>();
    tested.prepared = promise;
    tested.answers.push(new HeadMoved([theirCommit(1, { kind: 'summed', agent: 'a/b/one', by: 2 })]));
    const answer = tested.add('a/b/one', 1);
    tested.turn();
    await later();
    tested.prepared = undefined;
    tested.arrived = [theirCommit(2, { kind: 'summed', agent: 'a/b/two', by: 3 })];
    tested.journal.followReady();
    expect(tested.published).toEqual([]);
    resolve();
    await later();
    expect(await answer).toBe(3);
    expect(tested.theirs).toEqual(['their a/b/one', 'their a/b/two']);
  });

  test('follows in order what arrived, what it was told and what arrived then, and keeps nobody waiting', async () => {
    const tested = new SharedSums();
    const { promise, resolve } = Promise.withResolvers<void>();
    const refused = Promise.withResolvers<void>();
    tested.later = refused.promise;
    const answer = tested.add('a/b/one', 1);
    tested.turn();
    tested.prepared = promise;
    tested.arrived = [theirCommit(1, { kind: 'summed', agent: 'a/b/one', by: 2 })];
    tested.journal.followReady();
    await later();
    tested.prepared = undefined;
    refused.reject(new HeadMoved([theirCommit(2, { kind: 'summed', agent: 'a/b/two', by: 1 })]));
    await later();
    expect([tested.letGo, tested.published]).toEqual([1, []]);
    tested.arrived = [theirCommit(3, { kind: 'summed', agent: 'a/b/three', by: 1 })];
    resolve();
    await later();
    expect(await answer).toBe(3);
    expect(tested.theirs).toEqual(['their a/b/one', 'their a/b/two', 'their a/b/three']);
  });

  test('fails all callers if the store does, and leaves nothing of them', async () => {
    const tested = new SharedSums();
    const answers = [tested.add('a/b/one', 4), tested.add('a/b/two', 1)].map((answer) =>
      answer.catch((error: unknown) => (error as { code: string }).code),
    );
    tested.answers.push(
      new HeadMoved([theirCommit(1, { kind: 'summed', agent: 'a/b/one', by: 5 })]),
      new Error('gone'),
    );
    tested.turn();
    await later();
    expect(await Promise.all(answers)).toEqual(['store_unavailable', 'store_unavailable']);
    expect(Object.fromEntries(tested.sums)).toEqual({ 'a/b/one': 5, 'a/b/two': 0 });
    expect(tested.done).toEqual([]);
  });

  test('holds still while memory is restored', async () => {
    const tested = new SharedSums();
    const release = tested.journal.hold();
    const answer = tested.add('a/b/one', 4);
    tested.turn();
    await later();
    expect(tested.written).toEqual([]);
    release();
    expect(await answer).toBe(4);
  });
});
