import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sealer } from '../audit/chain.ts';
import type { Change, Batch, DomainEvent } from '../store.ts';
import { Journal } from '../journal/journal.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { bareRecord } from '../ops/op.ts';
import { agentId } from '../testkit/requests.ts';
import { EventLog } from './event-log.ts';

const kept = 16_384;
const block = 1_000_000;

/** A log on a store that outlives it. The test ends its turns, and can make its commits fail. */
class World {
  readonly store: MemoryStore;
  readonly journal: Journal<Change, DomainEvent>;
  readonly log: EventLog;
  readonly commits: Batch[] = [];
  failing = false;
  #flushes: (() => void)[] = [];

  private constructor(store: MemoryStore, reserved: number) {
    this.store = store;
    this.journal = new Journal<Change, DomainEvent>(
      {
        commit: (batch) => {
          if (this.failing) throw new Error('the disk is full');
          this.commits.push(batch);
          store.commit(batch);
        },
        soon: (flush) => this.#flushes.push(flush),
        apply: () => () => undefined,
        isRedone: () => false,
        touchOf: () => undefined,
        altersOf: () => [],
        claimsOf: () => [],
        seal: sealer((text) => hash('sha256', text, 'hex')),
        publish: (events) => this.log.append(events),
        onCommit: () => undefined,
        onError: () => undefined,
      },
      { seq: 0, hash: '0'.repeat(64) },
    );
    this.log = new EventLog(this.journal, reserved, reserved === 0);
  }

  static async open(store = new MemoryStore()): Promise<World> {
    const world = new World(store, (await store.load()).eventIdsReserved);
    await world.turn();
    return world;
  }

  /** Runs one turn, which is committed or fails as a whole. */
  async turn(events: readonly DomainEvent[] = []): Promise<void> {
    for (const event of events) this.journal.apply(event);
    // A reservation that the turn causes is a turn of its own.
    for (let due = this.#flushes; due.length > 0; due = this.#flushes) {
      this.#flushes = [];
      for (const flush of due) flush();
      await setImmediate();
    }
  }

  /** The process is killed, and another one opens the same store. */
  restart(): Promise<World> {
    return World.open(this.store);
  }

  /** Everything that a stream after `since` would receive now. */
  replay(since: number | undefined): { ids: number[]; gap: boolean } {
    const { from, gap } = this.log.startAfter(since);
    const ids: number[] = [];
    for (let id = from; id <= this.log.newest; id++) if (this.log.at(id) !== undefined) ids.push(id);
    return { ids, gap };
  }
}

const events = (count: number): DomainEvent[] => Array.from({ length: count }, (_, at) => policyEvent(at));

function policyEvent(at: number): DomainEvent {
  return { type: 'policy', at, version: 'v', error: null, document: null };
}

/** An operation that is decided as it arrives. All of its events tell its number. */
function decidedAtOnce(number: number): DomainEvent {
  const agent = agentId('acme/red/bot');
  const op = { ...bareRecord(agent, `t:${number}`, -number), state: 'running' } as const;
  return { type: 'ops_change', at: number, agent, op, checked: true, shows: 'arrival and decision' };
}

/** The times of what live views are shown of an event. */
function timesOf(event: DomainEvent): readonly number[] {
  return event.type === 'ops_change' ? [event.op.registeredAt, event.at, event.at] : [event.at];
}

describe('ids', () => {
  test('start at 1 and grow by one', async () => {
    const world = await World.open();
    expect(world.log.newest).toBe(0);
    await world.turn(events(3));
    await world.turn(events(2));
    expect(world.log.newest).toBe(5);
    expect(world.log.at(4)).toEqual(policyEvent(0));
    expect(world.log.at(0)).toBeUndefined();
    expect(world.log.at(6)).toBeUndefined();
  });

  test('are three for an operation that is decided as it arrives, and two for one that was known', async () => {
    const world = await World.open();
    const known = { ...decidedAtOnce(3), shows: 'decision' } as DomainEvent;
    await world.turn([policyEvent(1), decidedAtOnce(2), known]);
    expect(world.log.newest).toBe(6);
    const agent = agentId('acme/red/bot');
    expect(world.log.at(2)).toStrictEqual({ type: 'ops_change', at: -2, agent, op: bareRecord(agent, 't:2', -2) });
    expect(world.log.at(3)).toMatchObject({ type: 'ops_change', at: 2, op: { opId: 't:2', state: 'running' } });
    const decision = { type: 'decision', agent, decision: 'allow', reason: '', policyRule: '' };
    expect(world.log.at(4)).toStrictEqual({ ...decision, at: 2, opId: 't:2' });
    expect(world.log.at(5)).toMatchObject({ type: 'ops_change', at: 3, op: { opId: 't:3', state: 'running' } });
    expect(world.log.at(6)).toStrictEqual({ ...decision, at: 3, opId: 't:3' });
    // A place that held part of an event holds something else later.
    for (let turn = 0; turn < 3; turn++) await world.turn(events(kept / 2));
    for (const id of [2, 3, 4]) expect(world.log.at(kept + id)).toMatchObject({ type: 'policy' });
  });

  test('of one operation are reserved together: none is shown without the others, nor what comes after them', async () => {
    const commits: (() => void)[] = [];
    const journal = { apply: () => undefined, committed: () => new Promise<void>((done) => commits.push(done)) };
    const log = new EventLog(journal, 0, true);
    commits[0]?.();
    await setImmediate();
    log.append(events(block - 2));
    log.append([decidedAtOnce(7), policyEvent(8)]);
    expect(log.newest).toBe(block - 2);
    commits[1]?.();
    await setImmediate();
    expect([-1, 0, 1, 2].map((beyond) => log.at(block + beyond)?.at)).toEqual([-7, 7, 7, 8]);
  });

  test('of earlier runs are counted as they were shown', () => {
    const log = new EventLog(undefined, 100, false);
    log.restore([policyEvent(1), decidedAtOnce(2)]);
    expect([96, 97, 98, 99, 100, 101].map((id) => log.at(id)?.at)).toEqual([undefined, 1, -2, 2, 2, undefined]);
  });

  test('go on after all that could have been given out before a kill', async () => {
    const first = await World.open();
    await first.turn(events(5));
    const second = await first.restart();
    expect(second.log.newest).toBe(block);
    await second.turn(events(1));
    expect(second.log.newest).toBe(block + 1);
    expect((await second.restart()).log.newest).toBe(2 * block);
  });

  test('are reserved anew when half of a block is used, and not before', async () => {
    const world = await World.open();
    await world.turn(events(block / 2 - 1));
    expect((await world.store.load()).eventIdsReserved).toBe(block);
    await world.turn(events(2));
    expect((await world.store.load()).eventIdsReserved).toBe(2 * block);
  });

  test('are reserved in the end, however often that has failed before', async () => {
    const world = await World.open();
    await world.turn(events(block / 2 - 10));
    world.journal.apply(policyEvent(0));
    world.log.append(events(20));
    world.failing = true;
    await world.turn();
    await world.turn(events(5));
    expect((await world.store.load()).eventIdsReserved).toBe(block);
    world.failing = false;
    await world.turn(events(5));
    expect((await world.store.load()).eventIdsReserved).toBe(2 * block);
    expect(world.log.newest).toBe(block / 2 + 15);
  });

  test('beyond what is reserved are not given out: events wait for them, in order', async () => {
    const world = await World.open();
    world.failing = true;
    world.log.append(events(block + 3));
    world.log.append([policyEvent(-1)]);
    await world.turn();
    expect(world.log.newest).toBe(block);
    world.failing = false;
    await world.turn([policyEvent(-2)]);
    expect(world.log.newest).toBe(block + 5);
    const last = [1, 2, 3, 4, 5].map((past) => world.log.at(block + past)?.at);
    expect(last).toEqual([block, block + 1, block + 2, -1, -2]);
    expect((await world.store.load()).eventIdsReserved).toBe(2 * block);
  });

  test('are not used up by turns that fail', async () => {
    const world = await World.open();
    world.failing = true;
    await world.turn(events(3));
    world.failing = false;
    await world.turn(events(1));
    expect(world.log.newest).toBe(1);
  });
});

describe('what came after an id', () => {
  test('is replayed whole while it is there', async () => {
    const world = await World.open();
    await world.turn(events(10));
    expect(world.replay(7)).toEqual({ ids: [8, 9, 10], gap: false });
    expect(world.replay(0)).toEqual({ ids: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], gap: false });
  });

  test.each([undefined, 10, 11, 1e12, Number.MAX_SAFE_INTEGER, 1e20])(
    'is nothing for %s, the newest being 10',
    async (since) => {
      const world = await World.open();
      await world.turn(events(10));
      expect(world.replay(since)).toEqual({ ids: [], gap: false });
    },
  );

  test('is at least the last ten thousand, and has a gap where more is asked for', async () => {
    const world = await World.open();
    await world.turn(events(kept + 100));
    expect(kept).toBeGreaterThanOrEqual(10_000);
    expect(world.replay(100)).toMatchObject({ gap: false, ids: { length: kept } });
    const tooOld = world.replay(99);
    expect(tooOld.gap).toBe(true);
    expect(tooOld.ids).toHaveLength(kept);
    expect(tooOld.ids[0]).toBe(101);
  });

  test('has a gap after a restart, except for who knows all that was before', async () => {
    const first = await World.open();
    await first.turn(events(10));
    const second = await first.restart();
    await second.turn(events(2));
    for (const since of [0, 5, 10, 500_000]) {
      expect(second.replay(since)).toEqual({ ids: [block + 1, block + 2], gap: true });
    }
    // The newest id that a stream was told before this run had any event.
    expect(second.replay(block)).toEqual({ ids: [block + 1, block + 2], gap: false });
  });

  test('where nothing is remembered of earlier runs, is all there is from the beginning, and a gap for who knows of one', async () => {
    const journal = { apply: () => undefined, committed: () => Promise.resolve() };
    const log = new EventLog(journal, 5_000_000, true);
    await Promise.resolve();
    expect(log.startAfter(0)).toEqual({ from: 5_000_001, gap: false });
    log.append(events(1));
    expect(log.startAfter(0)).toEqual({ from: 5_000_001, gap: false });
    expect(log.startAfter(4_000_000)).toEqual({ from: 5_000_001, gap: true });
  });
});

test('listeners are told once for each turn that has brought something', async () => {
  const world = await World.open();
  let told = 0;
  const stop = world.log.subscribe(() => told++);
  await world.turn(events(100));
  expect(told).toBe(1);
  await world.turn();
  world.log.append([]);
  expect(told).toBe(1);
  stop();
  await world.turn(events(1));
  expect(told).toBe(1);
});

/** One step of a test on the log. */
type Step =
  | { readonly do: 'turn'; readonly events: number }
  | { readonly do: 'failing turn'; readonly events: number }
  | { readonly do: 'follow'; readonly back: number }
  | { readonly do: 'restart' };

const someStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('turn' as const), events: fc.nat({ max: 50 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('turn' as const), events: fc.nat({ max: 2 * kept }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('failing turn' as const), events: fc.nat({ max: 50 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('follow' as const), back: fc.nat({ max: 2 * kept }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

test('replay and live together are the whole history, once and in order, over kills and failures', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someStep, { maxLength: 40 }), async (steps) => {
      let world = await World.open();
      /** The number of each event that became durable, by its id. */
      const history: (readonly [id: number, number: number])[] = [];
      let made = 0;
      const follow = (since: number) => ({ since, ...world.log.startAfter(since), seen: [] as number[] });
      let followers: ReturnType<typeof follow>[] = [];
      const readOn = (follower: ReturnType<typeof follow>) => {
        for (let id = follower.from + follower.seen.length; id <= world.log.newest; id++) {
          follower.seen.push(world.log.at(id)?.at ?? Number.NaN);
        }
      };
      for (const step of steps) {
        if (step.do === 'restart') {
          world = await world.restart();
          followers = [];
        } else if (step.do === 'follow') {
          followers.push(follow(Math.max(0, world.log.newest - step.back)));
        } else {
          const batch = Array.from({ length: step.events }, (_, at) => {
            const number = made + at;
            return number % 3 === 1 ? decidedAtOnce(number) : policyEvent(number);
          });
          made += step.events;
          const times = batch.flatMap(timesOf);
          const before = world.log.newest;
          world.failing = step.do === 'failing turn';
          // A follower that lags by one turn still finds everything, as long as the turn fits.
          await world.turn(batch);
          world.failing = false;
          if (step.do === 'failing turn') expect(world.log.newest).toBe(before);
          else times.forEach((time, at) => history.push([before + 1 + at, time]));
          if (times.length > kept) followers = [];
        }
        followers.forEach(readOn);
      }
      const ids = history.map(([id]) => id);
      expect(ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? 0))).toBe(true);
      for (const { since, gap, from, seen } of followers) {
        const wanted = history.filter(([id]) => id > since);
        const there = wanted.filter(([id]) => id >= from).map(([, number]) => number);
        expect(seen).toEqual(there);
        if (!gap) expect(there).toHaveLength(wanted.length);
      }
    }),
    { numRuns: 60 },
  );
});

test('a log holds so much text and no more', async () => {
  const commits: (() => void)[] = [];
  const journal = { apply: () => undefined, committed: () => new Promise<void>((resolve) => commits.push(resolve)) };
  const log = new EventLog(journal, 0, true, 100_000);
  commits[0]?.();
  await setImmediate();
  const long = (at: number, length: number): DomainEvent => ({
    type: 'policy',
    at,
    version: 'v',
    error: 'x'.repeat(length),
    document: null,
  });
  for (let at = 1; at <= 100; at++) log.append([long(at, 20_000)]);
  expect([log.newest, log.oldest]).toEqual([100, 97]);
  expect(log.at(96)).toBeUndefined();
  expect(log.at(97)?.at).toBe(97);
  expect(log.startAfter(50)).toEqual({ from: 97, gap: true });
  expect(log.startAfter(98)).toEqual({ from: 99, gap: false });
  log.append([long(101, 1_000_000)]);
  expect([log.newest, log.oldest, log.at(101)?.at]).toEqual([101, 101, 101]);
  log.append([long(102, 10)]);
  expect([log.newest, log.oldest, log.at(102)?.at]).toEqual([102, 102, 102]);
});

test('the texts of an operation count once, however many events tell of it', async () => {
  const journal = { apply: () => undefined, committed: () => Promise.resolve() };
  const log = new EventLog(journal, 0, true, 100_000);
  await setImmediate();
  const long = (number: number): DomainEvent => {
    const event = decidedAtOnce(number);
    return event.type === 'ops_change' ? { ...event, op: { ...event.op, resource: 'x'.repeat(20_000) } } : event;
  };
  for (let number = 1; number <= 10; number++) log.append([long(number)]);
  expect([log.newest, log.oldest]).toEqual([30, 18]);
  expect(log.at(18)).toMatchObject({ type: 'decision', at: 6 });
});

test('where several gateways count alike, what another one has shown already is not sent again', () => {
  const log = new EventLog(undefined, 0, true);
  const event = (at: number): DomainEvent => ({ type: 'policy', at, version: 'v', error: null, document: null });
  log.append([event(1), event(2)]);
  // The follower comes from a gateway that has three events more.
  expect(log.startAfter(5)).toEqual({ from: 6, gap: false });
  expect(log.startAfter(2)).toEqual({ from: 3, gap: false });
  // Nobody can have seen this one.
  expect(log.startAfter(3 + kept)).toEqual({ from: 3, gap: false });
});
