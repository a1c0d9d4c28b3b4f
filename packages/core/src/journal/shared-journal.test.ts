import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../audit/canonical-json.ts';
import { emptyChain, sealer } from '../audit/chain.ts';
import { draftOf, system } from '../audit/entry.ts';
import { sha256 } from '../testkit/test-governance.ts';
import type { Batch } from './journal-ports.ts';
import { Journal } from './journal.ts';
import type { ForeignCommit, Touched } from './shared-log.ts';
import { HeadMoved, restsOn } from './shared-log.ts';

interface Change {
  readonly agent: string;
  readonly by: number;
}

interface Event {
  readonly type: 'sum';
  readonly of: string;
}

/** A journal of sums, one for each agent, on a log that another gateway writes, too. */
class SharedJournal {
  readonly sums = new Map<string, number>();
  readonly published: string[] = [];
  readonly done: string[] = [];
  readonly batches: Batch<Change, Event>[] = [];
  /** What the store answers to the next commits. */
  readonly answers: (Error | undefined)[] = [];
  /** The answer to the next commit, if it takes its time. */
  later: Promise<void> | undefined;
  arrived: ForeignCommit<Change, Event>[] = [];
  unread: ForeignCommit<Change, Event>[] = [];
  prepared: Promise<void> | undefined;
  /** How often the store was told that nothing is to be written, so that others can go on. */
  letGo = 0;
  #due: (() => void)[] = [];

  readonly journal = new Journal<Change, Event>(
    {
      commit: (batch) => {
        const { later: late } = this;
        this.later = undefined;
        if (late !== undefined) return late;
        const answer = this.answers.shift();
        if (answer !== undefined) return Promise.reject(answer);
        if (batch.entries.length > 0) this.batches.push(batch);
        else this.letGo++;
        return Promise.resolve();
      },
      soon: (flush) => this.#due.push(flush),
      seal: sealer(sha256),
      publish: (events) => this.published.push(...events.map(({ of }) => of)),
      onCommit: () => undefined,
      onError: () => undefined,
      sharing: {
        touchOf: (step) => ('change' in step ? { agent: step.change.agent } : undefined),
        ready: () => this.arrived.splice(0),
        read: () => Promise.resolve(this.unread.splice(0)),
        prepare: () => this.prepared,
        failed: () => undefined,
        follow: ({ steps }) => {
          for (const step of steps) if ('change' in step) this.#add(step.change);
        },
      },
    },
    emptyChain,
  );

  #add({ agent, by }: Change): void {
    this.sums.set(agent, (this.sums.get(agent) ?? 0) + by);
  }

  sumOf(agent: string): number {
    return this.sums.get(agent) ?? 0;
  }

  /** Adds to an agent's sum, which may not pass 10, and answers with it. */
  add(agent: string, by: number): Promise<number | 'full'> {
    return this.journal.turn(() => {
      if (this.sumOf(agent) + by > 10) {
        this.#record(agent, 'full');
        return 'full' as const;
      }
      this.#add({ agent, by });
      this.journal.onFailure(() => this.#add({ agent, by: -by }));
      this.journal.write({ agent, by });
      this.journal.publish({ type: 'sum', of: agent });
      this.journal.onCommitted(() => this.done.push(agent));
      this.#record(agent, String(this.sumOf(agent)));
      return this.sumOf(agent);
    });
  }

  #record(agent: string, reason: string): void {
    const payload = canonicalJson({ agent });
    this.journal.record(draftOf({ at: 0, eventType: 'PolicyReloaded', actor: system, reason, payload }));
  }

  turn(): void {
    const due = this.#due;
    this.#due = [];
    for (const flush of due) flush();
  }

  /** The events of the other gateway, in the order in which they were followed. */
  get theirs(): string[] {
    return this.published.filter((of) => of.startsWith('their '));
  }

  get written(): (string | null)[] {
    return this.batches.flatMap(({ entries }) => entries.map(({ draft }) => draft.reason));
  }
}

function commit(seq: number, ...changes: Change[]): ForeignCommit<Change, Event> {
  const touched = { agents: changes.map(({ agent }) => agent), orgs: [], everything: false };
  const steps = changes.flatMap((change) => [
    { change },
    { event: { type: 'sum', of: `their ${change.agent}` } as const },
  ]);
  return { head: { seq, hash: String(seq).padStart(64, '0') }, steps, touched };
}

const later = () => new Promise((resolve) => setImmediate(resolve));

describe('a journal on a shared log', () => {
  test('commits after what came first, and does again only what rests on it', async () => {
    const tested = new SharedJournal();
    const [one, two] = [tested.add('a/b/one', 4), tested.add('a/b/two', 4)];
    tested.answers.push(new HeadMoved([commit(7, { agent: 'a/b/one', by: 5 })]));
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
    const tested = new SharedJournal();
    const answer = tested.add('a/b/one', 4);
    tested.answers.push(new HeadMoved([commit(1, { agent: 'a/b/one', by: 8 })]));
    tested.turn();
    await later();
    expect(await answer).toBe('full');
    expect(tested.sumOf('a/b/one')).toBe(8);
  });

  test('takes back what rests on what it takes back', async () => {
    const tested = new SharedJournal();
    const answers = [tested.add('a/b/one', 4), tested.add('a/b/one', 4), tested.add('a/b/two', 1)];
    tested.answers.push(new HeadMoved([commit(1, { agent: 'a/b/one', by: 5 })]));
    tested.turn();
    await later();
    expect(await Promise.all(answers)).toEqual([9, 'full', 1]);
  });

  test('does again what a guard refuses, once', async () => {
    const tested = new SharedJournal();
    let times = 0;
    const answer = tested.journal.turn(() => {
      tested.journal.onlyIf(() => false);
      tested.journal.write({ agent: 'x/y/z', by: 0 });
      return ++times;
    });
    tested.answers.push(new HeadMoved([commit(1, { agent: 'a/b/one', by: 5 })]));
    tested.turn();
    await later();
    expect(await answer).toBe(2);
  });

  test('asks for news before it answers that nothing was to be done', async () => {
    const tested = new SharedJournal();
    tested.unread = [commit(3, { agent: 'a/b/one', by: 5 })];
    const sum = await tested.journal.turn(() => tested.sumOf('a/b/one'));
    expect(sum).toBe(5);
    expect(tested.journal.head.seq).toBe(3);
    const refused = tested.journal.turn(() => {
      throw new Error('there is none');
    });
    await expect(refused).rejects.toThrow('there is none');
  });

  test('tells nobody what it has read of a turn that ends in another way', async () => {
    const tested = new SharedJournal();
    const answer = tested.add('a/b/one', 4);
    const read = tested.journal.durable(() => tested.sumOf('a/b/one'));
    tested.answers.push(new HeadMoved([commit(1, { agent: 'a/b/one', by: 8 })]));
    tested.turn();
    expect([await answer, await read]).toEqual(['full', 8]);
  });

  test('follows what arrives, and waits for what must be prepared', async () => {
    const tested = new SharedJournal();
    tested.arrived = [commit(1, { agent: 'a/b/one', by: 2 })];
    tested.journal.followReady();
    expect(tested.sumOf('a/b/one')).toBe(2);
    const { promise, resolve } = Promise.withResolvers<void>();
    tested.prepared = promise;
    tested.arrived = [commit(2, { agent: 'a/b/one', by: 3 })];
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
    const tested = new SharedJournal();
    const { promise, resolve } = Promise.withResolvers<void>();
    tested.prepared = promise;
    tested.answers.push(new HeadMoved([commit(1, { agent: 'a/b/one', by: 2 })]));
    const answer = tested.add('a/b/one', 1);
    tested.turn();
    await later();
    tested.prepared = undefined;
    tested.arrived = [commit(2, { agent: 'a/b/two', by: 3 })];
    tested.journal.followReady();
    expect(tested.published).toEqual([]);
    resolve();
    await later();
    expect(await answer).toBe(3);
    expect(tested.theirs).toEqual(['their a/b/one', 'their a/b/two']);
  });

  test('follows in order what arrived, what it was told and what arrived then, and keeps nobody waiting', async () => {
    const tested = new SharedJournal();
    const { promise, resolve } = Promise.withResolvers<void>();
    const refused = Promise.withResolvers<void>();
    tested.later = refused.promise;
    const answer = tested.add('a/b/one', 1);
    tested.turn();
    tested.prepared = promise;
    tested.arrived = [commit(1, { agent: 'a/b/one', by: 2 })];
    tested.journal.followReady();
    await later();
    tested.prepared = undefined;
    refused.reject(new HeadMoved([commit(2, { agent: 'a/b/two', by: 1 })]));
    await later();
    expect([tested.letGo, tested.published]).toEqual([1, []]);
    tested.arrived = [commit(3, { agent: 'a/b/three', by: 1 })];
    resolve();
    await later();
    expect(await answer).toBe(3);
    expect(tested.theirs).toEqual(['their a/b/one', 'their a/b/two', 'their a/b/three']);
  });

  test('fails all callers if the store does, and leaves nothing of them', async () => {
    const tested = new SharedJournal();
    const answers = [tested.add('a/b/one', 4), tested.add('a/b/two', 1)].map((answer) =>
      answer.catch((error: unknown) => (error as { code: string }).code),
    );
    tested.answers.push(new HeadMoved([commit(1, { agent: 'a/b/one', by: 5 })]), new Error('gone'));
    tested.turn();
    await later();
    expect(await Promise.all(answers)).toEqual(['store_unavailable', 'store_unavailable']);
    expect(Object.fromEntries(tested.sums)).toEqual({ 'a/b/one': 5, 'a/b/two': 0 });
    expect(tested.done).toEqual([]);
  });

  test('holds still while memory is restored', async () => {
    const tested = new SharedJournal();
    const release = tested.journal.hold();
    const answer = tested.add('a/b/one', 4);
    tested.turn();
    await later();
    expect(tested.written).toEqual([]);
    release();
    expect(await answer).toBe(4);
  });
});

describe('what rests on what', () => {
  const touched = (members: Partial<Touched>): Touched => ({ agents: [], orgs: [], everything: false, ...members });

  test.each<[string, Partial<Touched>, Partial<Touched>, boolean]>([
    ['an agent on itself', { agents: ['a/b/c'] }, { agents: ['a/b/c'] }, true],
    ['an agent not on another', { agents: ['a/b/c'] }, { agents: ['a/b/d'] }, false],
    ['an agent on its org', { agents: ['a/b/c'] }, { orgs: ['a'] }, true],
    ['an agent not on another org', { agents: ['a/b/c'] }, { orgs: ['ab'] }, false],
    ['an agent without an org on those without', { agents: ['/b/c'] }, { orgs: [''] }, true],
    ['an org on its agents', { orgs: ['a'] }, { agents: ['a/b/c'] }, true],
    ['an org on itself', { orgs: ['a'] }, { orgs: ['a'] }, true],
    ['an org not on another', { orgs: ['a'] }, { orgs: ['b'], agents: ['b/b/c'] }, false],
    ['everything on anything', { everything: true }, { agents: ['a/b/c'] }, true],
    ['anything on everything', { agents: ['a/b/c'] }, { everything: true }, true],
    ['nothing on everything', {}, { everything: true }, false],
    ['everything not on nothing', { everything: true }, {}, false],
  ])('%s', (_, read, changed, expected) => {
    expect(restsOn(touched(read), touched(changed))).toBe(expected);
  });
});
