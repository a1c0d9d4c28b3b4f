import type { DomainEvent, Principal } from '@reeve/core';
import { EventLog } from '@reeve/core';
import { ManualClock, operator } from '@reeve/core/testkit';
import { SharedRoom } from '@reeve/grpc-server';
import { beforeEach, describe, expect, test } from 'vitest';
import { EventHub } from './event-hub.ts';
import type { Ending, EventStream } from './event-stream.ts';
import { sseFormat } from './stream-format.ts';

/** A client in memory. What it is sent stays buffered until the test takes it. */
class TestStream implements EventStream {
  readonly format = sseFormat;
  readonly beatEveryMs = 30_000;
  readonly writes: string[] = [];
  readonly endings: Ending[] = [];
  beats = 0;
  answers = true;
  /** Whether it takes at once all that it is sent. */
  reads = true;
  buffered = 0;
  largest = 0;
  isDestroyed = false;

  write(bytes: Uint8Array): void {
    this.writes.push(Buffer.from(bytes).toString());
    if (!this.reads) this.buffered += bytes.length;
    this.largest = Math.max(this.largest, this.buffered);
  }

  beat(): boolean {
    this.beats++;
    return this.answers;
  }

  end(why: Ending): void {
    this.endings.push(why);
  }

  destroy(): void {
    this.isDestroyed = true;
  }

  get ids(): number[] {
    return [...this.writes.join('').matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  }
}

let clock: ManualClock;
let log: EventLog;
let hub: EventHub;
let works: (() => void)[];
let rests: number[];
let valid: (principal: Principal) => boolean | Promise<boolean>;
const counted = { sent: 0, dropped: 0, ended: [] as Ending[] };

beforeEach(async () => {
  clock = new ManualClock();
  log = new EventLog({ apply: () => undefined, committed: () => Promise.resolve() }, 0, true);
  await Promise.resolve();
  works = [];
  rests = [];
  valid = () => true;
  Object.assign(counted, { sent: 0, dropped: 0, ended: [] });
  hub = new EventHub({
    log,
    clock,
    unsent: new SharedRoom({ ofStrangers: 0, ofAccount: 4 * 1024 * 1024 }),
    isStillValid: (principal) => valid(principal),
    soon: (work) => works.push(work),
    later: (work, ms) => {
      rests.push(ms);
      works.push(work);
    },
    onSent: (events) => (counted.sent += events),
    onDropped: (events) => (counted.dropped += events),
    onEnded: (why) => counted.ended.push(why),
  });
});

/** Runs deferred work, and the work that it defers, until nothing is left. */
function settle(): number {
  let turns = 0;
  for (let work = works.shift(); work !== undefined; work = works.shift(), turns++) work();
  return turns;
}

const agent = { orgId: 'acme', teamId: '', agentId: 'bot' };
const events = (count: number, reason = ''): DomainEvent[] =>
  Array.from({ length: count }, () => ({
    type: 'decision',
    at: 1,
    agent,
    decision: 'allow',
    reason,
    policyRule: 'r',
    opId: 't:s',
  }));
const join = (since?: number, stream = new TestStream(), principal: Principal = operator) => {
  hub.join(stream, { principal, filter: {}, since });
  return stream;
};
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

describe('sending', () => {
  test('does nothing where nobody follows', () => {
    log.append(events(10));
    expect(works).toEqual([]);
    const stream = join();
    hub.leave(stream);
    log.append(events(10));
    expect(works).toEqual([]);
  });

  test('puts all events of a turn into one write, with the same bytes for all', () => {
    const streams = [join(), join(), join()];
    log.append(events(5));
    settle();
    for (const stream of streams) {
      expect(stream.writes).toHaveLength(2);
      expect(stream.writes[1]).toBe(streams[0]?.writes[1]);
      expect(stream.ids).toEqual([1, 2, 3, 4, 5]);
    }
    expect(counted.sent).toBe(15);
  });

  test('is the same in replay and live, and who comes in between misses nothing', () => {
    log.append(events(2000));
    const early = join(500);
    log.append(events(10));
    const late = join(1900);
    log.append(events(10));
    settle();
    log.append(events(10));
    settle();
    expect(early.ids).toEqual(range(501, 2030));
    expect(late.ids).toEqual(range(1901, 2030));
  });

  test('writes nothing to who is not concerned, and goes on from there', () => {
    const stranger = join(undefined, new TestStream(), { ...operator, orgId: 'umbrella' });
    log.append(events(5000));
    settle();
    expect(stranger.writes).toHaveLength(1);
    log.append([{ type: 'agent', at: 1, agent: { ...agent, orgId: 'umbrella' }, change: 'registered' }]);
    settle();
    expect(stranger.ids).toEqual([5001]);
  });

  test('gives way to other work while there is much of it, and rests for a multiple of what it took', () => {
    const streams = Array.from({ length: 20 }, () => join());
    const slow = new TestStream();
    slow.write = () => clock.advance(2);
    hub.join(slow, { principal: operator, filter: {}, since: undefined });
    log.append(events(1));
    const turns = settle();
    expect(turns).toBeGreaterThan(2);
    expect(rests).toEqual([6]);
    for (const stream of streams) expect(stream.ids).toEqual([1]);
  });
});

describe('a client that reads slowly', () => {
  const summary = 'x'.repeat(1000);
  const bound = 1024 * 1024;

  test('has a bounded number of bytes buffered, and gets the rest from the log as it reads', () => {
    const stream = join();
    stream.reads = false;
    for (let i = 0; i < 40; i++) {
      log.append(events(100, summary));
      settle();
    }
    expect(stream.largest).toBeLessThanOrEqual(bound);
    expect(stream.largest).toBeGreaterThan(bound / 2);
    for (let reads = 0; reads < 20; reads++) {
      stream.buffered = 0;
      hub.wake();
      settle();
    }
    expect(stream.ids).toEqual(range(1, 4000));
    expect(stream.largest).toBeLessThanOrEqual(bound);
  });

  test('is closed when it takes nothing for seconds, and others get everything meanwhile', () => {
    const stuck = join();
    stuck.reads = false;
    const other = join();
    log.append(events(4000, summary));
    settle();
    expect(other.ids).toEqual(range(1, 4000));
    for (let second = 0; second < 3; second++) {
      hub.tick();
      expect(stuck.endings).toEqual([]);
      clock.advance(1000);
    }
    hub.tick();
    expect(stuck.endings).toEqual(['slow']);
    expect(counted.ended).toEqual(['slow']);
    expect(counted.dropped).toBe(4000 - stuck.ids.length);
    const sent = stuck.writes.length;
    log.append(events(1));
    settle();
    expect(stuck.writes).toHaveLength(sent);
    expect(other.ids).toHaveLength(4001);
  });

  test('is cut off at once if its tenant leaves too much unread, and others of the tenant read on', () => {
    const reader = join();
    const streams = Array.from({ length: 8 }, () => join());
    for (const stream of streams) stream.reads = false;
    for (let i = 0; i < 20; i++) {
      log.append(events(100, summary));
      settle();
    }
    const kept = streams.filter(({ isDestroyed }) => !isDestroyed);
    expect(kept.reduce((sum, { buffered }) => sum + buffered, 0)).toBeLessThanOrEqual(4 * bound);
    expect(kept.length).toBeLessThan(streams.length);
    expect([reader.ids.length, reader.isDestroyed]).toEqual([2000, false]);
  });

  test('is ended once, and told nothing more, if it is cut off while its turn for a beat has come', () => {
    const streams = Array.from({ length: 5 }, () => join());
    for (const stream of streams) stream.reads = false;
    clock.advance(30_000);
    // They left this unread since they were last looked at, and the last of them most.
    for (const [at, stream] of streams.entries()) stream.buffered = 900_000 + at;
    hub.tick();
    expect(streams.at(-1)).toMatchObject({ isDestroyed: true, endings: ['slow'], beats: 0 });
    expect(counted.ended).toEqual(streams.filter(({ isDestroyed }) => isDestroyed).map(() => 'slow'));
  });

  test('is closed when it takes nothing for a minute, however little that is', () => {
    const stream = join();
    stream.reads = false;
    log.append(events(1));
    settle();
    for (let second = 0; second < 59; second++) {
      clock.advance(1000);
      hub.tick();
      // What is sent meanwhile is not taken, either.
      stream.buffered += 1;
    }
    expect(stream.endings).toEqual([]);
    clock.advance(2000);
    hub.tick();
    expect(stream.endings).toEqual(['slow']);
  });

  test('is left alone as long as it gets on, however slowly', () => {
    const stream = join();
    stream.reads = false;
    log.append(events(4000, summary));
    settle();
    for (let second = 0; second < 30; second++) {
      stream.buffered -= 20_000;
      hub.wake();
      settle();
      hub.tick();
      clock.advance(1000);
    }
    expect(stream.endings).toEqual([]);
  });

  test('is closed when the log has gone on without it', () => {
    const stream = join();
    stream.reads = false;
    for (let i = 0; i < 20; i++) {
      log.append(events(1000, summary));
      settle();
    }
    expect(stream.endings).toEqual(['slow']);
    expect(stream.ids).toEqual(range(1, stream.ids.length));
    expect((counted.dropped + stream.ids.length) % 1000, 'all that there was when it was closed').toBe(0);
    expect(counted.dropped).toBeGreaterThan(10_000);
  });
});

describe('time', () => {
  test('brings a beat every thirty seconds, and the end of who does not answer', () => {
    const alive = join();
    const dead = join();
    dead.answers = false;
    clock.advance(29_999);
    hub.tick();
    expect([alive.beats, dead.beats]).toEqual([0, 0]);
    clock.advance(1);
    hub.tick();
    expect([alive.beats, dead.beats]).toEqual([1, 1]);
    expect(dead.endings).toEqual(['silent']);
    clock.advance(30_000);
    hub.tick();
    expect([alive.beats, dead.beats]).toEqual([2, 1]);
    expect(alive.endings).toEqual([]);
  });

  test.each([
    ['at once', (yes: boolean) => yes],
    ['when it is known', (yes: boolean) => Promise.resolve(yes)],
  ])('brings the end of those whose credential has ended, told %s', async (_, tell) => {
    const keeps = join();
    const loses = join(undefined, new TestStream(), { ...operator, credentialId: 'revoked' });
    // The same credential, opened while its account had another tenant.
    const elsewhere = join(undefined, new TestStream(), { ...operator, orgId: 'before' });
    valid = ({ credentialId, orgId }) => tell(credentialId !== 'revoked' && orgId !== 'before');
    await hub.checkCredentials();
    expect([loses.endings, elsewhere.endings]).toEqual([['credential'], ['credential']]);
    expect(keeps.endings).toEqual([]);
    log.append(events(1));
    settle();
    expect(loses.ids).toEqual([]);
    expect(keeps.ids).toEqual([1]);
  });

  test('looks at each credential once, and not again before it knows', async () => {
    for (let i = 0; i < 5; i++) join();
    join(undefined, new TestStream(), { ...operator, credentialId: 'another' });
    const login = { accountId: 'a', role: 'viewer' } as const;
    for (const sessionId of ['one', 'two'])
      join(undefined, new TestStream(), { ...operator, login: { ...login, sessionId } });
    const asked: Principal[] = [];
    const known = Promise.withResolvers<boolean>();
    valid = (principal) => {
      asked.push(principal);
      return known.promise;
    };
    hub.tick();
    hub.tick();
    expect(asked).toHaveLength(4);
    known.resolve(true);
    await hub.checkCredentials();
    expect(asked).toHaveLength(8);
  });

  test('looks at what a credential may do, of which its streams may have more or less', async () => {
    const less = join(undefined, new TestStream(), { ...operator, scopes: ['read'] });
    const more = join(undefined, new TestStream(), operator);
    valid = ({ scopes }) => scopes.includes('read');
    await hub.checkCredentials();
    expect([less.endings, more.endings]).toEqual([[], ['credential']]);
  });

  test('does not end a stream whose credential cannot be looked at just now', async () => {
    const stream = join();
    valid = () => Promise.reject(new Error('the store is away'));
    hub.tick();
    await hub.checkCredentials();
    expect(stream.endings).toEqual([]);
  });
});

test('draining ends all streams, once', () => {
  const streams = [join(), join()];
  hub.drain();
  hub.drain();
  expect(streams.map((stream) => stream.endings)).toEqual([['drain'], ['drain']]);
  expect(hub.draining).toBe(true);
  expect(hub.count('sse')).toBe(0);
});
