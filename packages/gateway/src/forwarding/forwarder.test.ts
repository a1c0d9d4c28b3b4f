import type { StoredEntry } from '@reeve/core';
import { MemoryStore } from '@reeve/core';
import { sampleDraft, testGovernance } from '@reeve/core/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../adapters/system/system-clock.ts';
import { eventually } from '../../../../tests/harness/eventually.ts';
import { backoffMs } from './backoff.ts';
import { MemoryPositions } from './forward-positions.ts';
import type { ForwarderPorts } from './forwarder.ts';
import { Forwarder } from './forwarder.ts';
import type { Sink } from './sink.ts';
import { SinkError } from './sink.ts';

const key = 'file:/x';
const start = { seq: 0, hash: '' };

/** A target that takes entries unless the test has it do something else. */
class TestSink implements Sink {
  readonly unconfirmed: { entries: number; ms: number };
  readonly taken: number[] = [];
  readonly batches: number[] = [];
  faults: (Error | undefined)[] = [];
  confirmFaults: (Error | undefined)[] = [];
  resets = 0;
  /** Refuses a batch that holds this entry and others. */
  poison = 0;

  constructor(unconfirmed = { entries: 0, ms: 0 }) {
    this.unconfirmed = unconfirmed;
  }

  async send(entries: readonly StoredEntry[]): Promise<void> {
    this.batches.push(entries.length);
    const fault = this.faults.shift();
    if (fault !== undefined) throw fault;
    if (entries.length > 1 && entries.some(({ seq }) => seq === this.poison)) {
      throw new SinkError('status 400', { isAboutBatch: true });
    }
    this.taken.push(...entries.map(({ seq }) => seq));
    return Promise.resolve();
  }

  async confirm(): Promise<void> {
    const fault = this.confirmFaults.shift();
    if (fault !== undefined) throw fault;
    return Promise.resolve();
  }

  async reset(): Promise<void> {
    this.resets++;
    return Promise.resolve();
  }
}

let world: Awaited<ReturnType<typeof testGovernance>>;
let store: MemoryStore;
let positions: MemoryPositions;
let said: string[];
let running: Forwarder[];

beforeEach(async () => {
  store = new MemoryStore();
  world = await testGovernance({ store });
  positions = new MemoryPositions();
  said = [];
  running = [];
});
afterEach(async () => {
  for (const forwarder of running) await forwarder.stop(0);
});

function write(count: number): void {
  for (let i = 0; i < count; i++) world.gov.journal.record(sampleDraft({ at: systemClock.now() }));
  world.turn();
}

async function forward(sink: Sink, ports: Partial<ForwarderPorts> = {}): Promise<Forwarder> {
  const forwarder = new Forwarder({
    key,
    position: await positions.open(key, start),
    sink,
    log: store,
    positions,
    head: () => world.gov.journal.head,
    leads: () => true,
    clock: systemClock,
    random: () => 0,
    report: {
      sent: () => undefined,
      failed: (fault) => said.push(fault),
      recovered: () => said.push('recovered'),
      missed: (from, through) => said.push(`missed ${from}-${through}`),
      wentBack: (was, seq) => said.push(`was at ${was.seq}, goes on after ${seq}`),
    },
    ...ports,
  });
  running.push(forwarder);
  forwarder.start();
  return forwarder;
}

function upTo(last: number, first = 1): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

test('entries go in order and in bounded batches; what failed is sent again', async () => {
  write(500);
  const sink = new TestSink();
  sink.faults = [undefined, new SinkError('status 500'), Object.assign(new Error('x'), { code: 'ECONNRESET' })];
  const forwarder = await forward(sink);
  await eventually(() => expect(sink.taken).toEqual(upTo(500)));
  expect(Math.max(...sink.batches)).toBe(200);
  await eventually(() => expect([forwarder.lagEntries, forwarder.fault]).toEqual([0, undefined]));
  expect(said).toEqual(['status 500', 'ECONNRESET', 'recovered']);
  expect(await positions.read(key)).toMatchObject({ seq: 500 });
});

test('a batch that is refused gets smaller until the entry that it is about is alone', async () => {
  write(6);
  const sink = new TestSink();
  sink.poison = 2;
  await forward(sink);
  await eventually(() => expect(sink.taken).toEqual(upTo(6)));
  expect(sink.batches).toContain(1);
});

test('what is not confirmed when something breaks is sent again', async () => {
  write(3);
  const sink = new TestSink({ entries: 1000, ms: 60_000 });
  sink.confirmFaults = [new SinkError('the receiver has closed the connection')];
  await forward(sink);
  await eventually(() => expect(sink.taken).toEqual([1, 2, 3]));
  expect(await positions.read(key)).toEqual(start);
  await eventually(async () => expect(await positions.read(key)).toMatchObject({ seq: 3 }));
  expect(sink.taken).toEqual([1, 2, 3, 1, 2, 3]);
});

test('an end sends and confirms what is left, and gives a silent target little time', async () => {
  write(2);
  const sink = new TestSink({ entries: 1000, ms: 60_000 });
  const forwarder = await forward(sink);
  await eventually(async () => expect(await positions.read(key)).toMatchObject({ seq: 2 }));
  write(1);
  await forwarder.stop(5000);
  expect(sink.taken).toEqual([1, 2, 3]);
  expect(await positions.read(key)).toMatchObject({ seq: 3 });
  write(1);
  const silent = new TestSink();
  silent.send = (_entries, signal?: AbortSignal) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  await (await forward(silent)).stop(50);
  expect(await positions.read(key)).toMatchObject({ seq: 3 });
});

test('of two that think they forward, neither takes the other back', async () => {
  write(300);
  const [one, two] = [new TestSink(), new TestSink()];
  await forward(one);
  await forward(two);
  await eventually(async () => expect(await positions.read(key)).toMatchObject({ seq: 300 }));
  for (const { taken } of [one, two]) expect(taken).toEqual(taken.toSorted((a, b) => a - b));
  expect(new Set([...one.taken, ...two.taken]).size).toBe(300);
});

test('one that does not lead sends nothing, knows how far the other is, and takes over from there', async () => {
  write(5);
  const [one, two] = [new TestSink(), new TestSink()];
  let leader = 1;
  await forward(one, { leads: () => leader === 1 });
  const watching = await forward(two, { leads: () => leader === 2 });
  await eventually(() => expect(one.taken).toEqual(upTo(5)));
  await eventually(() => expect(watching.lagEntries).toBe(0));
  leader = 2;
  write(5);
  await eventually(() => expect(two.taken).toEqual(upTo(10, 6)));
  expect(one.taken).toEqual(upTo(5));
});

test('entries that retention has removed are named once, and retention waits for a target that is on its way', async () => {
  write(10);
  await positions.open(key, { seq: 2, hash: (await store.after(1, 1))[0]?.hash ?? '' });
  const sink = new TestSink();
  sink.faults = [new SinkError('status 503')];
  const forwarder = await forward(sink);
  expect(forwarder.removableThrough).toBe(2);
  store.commit({ entries: [], changes: [{ kind: 'entries_removed', through: 6 }] });
  await eventually(() => expect(sink.taken).toEqual(upTo(10, 7)));
  expect(said.filter((text) => text.startsWith('missed'))).toEqual(['missed 3-6']);
  await eventually(() => expect(forwarder.removableThrough).toBe(Number.POSITIVE_INFINITY));
});

test('a log that was set back is taken up at its end, one that was replaced from its beginning', async () => {
  write(4);
  await positions.open(key, { seq: 9, hash: 'f'.repeat(64) });
  const back = new TestSink();
  const forwarder = await forward(back);
  await eventually(() => expect(said).toEqual(['was at 9, goes on after 4']));
  write(1);
  await eventually(() => expect(back.taken).toEqual([5]));
  await forwarder.stop(1000);
  await positions.move(key, await positions.read(key), { seq: 3, hash: 'f'.repeat(64) });
  const replaced = new TestSink();
  await forward(replaced);
  await eventually(() => expect(replaced.taken).toEqual(upTo(5)));
  expect(said.at(-1)).toBe('was at 3, goes on after 0');
});

test('pauses grow, vary, and are as long as the target asks', () => {
  expect([1, 2, 3, 8, 50].map((failures) => backoffMs(failures, 0, () => 1))).toEqual([250, 500, 1000, 30_000, 30_000]);
  expect(backoffMs(3, 0, () => 0)).toBe(500);
  expect(backoffMs(1, 5000, () => 1)).toBe(5000);
  expect(backoffMs(1, 1e12, () => 1)).toBe(3_600_000);
});

test('a position at an entry that cannot be read is kept, and so is one that was confirmed there', async () => {
  write(6);
  const after = store.after.bind(store);
  let damaged = 4;
  store.after = async (seq, limit) =>
    (await after(seq, limit)).map((entry) => (entry.seq === damaged ? { ...entry, seq: damaged, hash: '' } : entry));
  const [fourth] = await after(3, 1);
  await positions.open(key, { seq: 4, hash: fourth?.hash ?? '' });
  const sink = new TestSink();
  await forward(sink);
  await eventually(async () => expect(await positions.read(key)).toMatchObject({ seq: 6 }));
  expect([sink.taken, said]).toEqual([[5, 6], []]);

  damaged = 7;
  write(1);
  await eventually(async () => expect(await positions.read(key)).toEqual({ seq: 7, hash: '' }));
  await Promise.all(running.map((forwarder) => forwarder.stop(0)));
  damaged = 0;
  write(1);
  await forward(sink);
  await eventually(async () => expect(await positions.read(key)).toMatchObject({ seq: 8 }));
  expect([sink.taken, said]).toEqual([[5, 6, 7, 8], []]);
});
