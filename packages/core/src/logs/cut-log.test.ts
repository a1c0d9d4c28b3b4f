import { beforeEach, describe, expect, test } from 'vitest';
import type { Access } from '../access/access.ts';
import { SigningKeyRing } from '../access/signing-key.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import type { TestGovernance } from '../testkit/index.ts';
import { portsOf } from '../testkit/ports-of.ts';
import { parseEntry, sampleDraft, testGovernance } from '../testkit/index.ts';
import type { Retention } from './logs.ts';
import { cutLog, lastCut } from './logs.ts';
import { credentialRings } from '../testkit/credential-rings.ts';

const day = 86_400_000;
const signingKey = { kid: 'k', privateJwk: 'private', publicJwk: '', createdAt: 0 };

let world: TestGovernance;
let store: MemoryStore;
let access: Access;
beforeEach(async () => {
  store = new MemoryStore();
  world = await testGovernance({ store });
  access = {
    ...portsOf(world.gov),
    ...credentialRings(world.gov, [], [signingKey]),
    mint: {
      makeKey: () => Promise.resolve(signingKey),
      sign: () => Promise.resolve(''),
      signText: (text, { kid }) => Promise.resolve(`${kid} signed ${text}`),
      verify: () => Promise.resolve(undefined),
    },
    tokenTtlMs: day,
  };
});

function write(count: number): void {
  for (let i = 0; i < count; i++) world.gov.journal.record(sampleDraft({ at: world.clock.now() }));
  world.turn();
}

/** Cuts the log and removes the entries. */
async function cut(retention: Partial<Retention>, neededFrom = Number.POSITIVE_INFINITY): Promise<number | undefined> {
  const cutting = cutLog(
    access,
    { store, reader: store },
    { maxAgeMs: null, maxEntries: null, ...retention },
    neededFrom,
  );
  const state = { settled: false };
  const done = cutting.finally(() => (state.settled = true));
  while (!state.settled) {
    world.turn();
    await Promise.resolve();
  }
  const through = await done;
  if (through !== undefined) store.commit({ entries: [], changes: [{ kind: 'entries_removed', through }] });
  return through;
}

async function kept(): Promise<number[]> {
  return (await store.after(0, 1000)).map((entry) => entry.seq);
}

describe('by number', () => {
  test('the newest stay, behind a signed entry that names the last one given up', async () => {
    write(30);
    const [twentieth] = await store.after(19, 1);
    expect(await cut({ maxEntries: 10 })).toBe(20);
    expect(await kept()).toEqual([21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]);
    const last = (await store.after(30, 1)).map(parseEntry)[0];
    expect(last).toMatchObject({
      event_type: 'AuditLogCut',
      actor: { kind: 'system' },
      payload: {
        through_seq: 20,
        through_hash: twentieth?.hash,
        removed: 20,
        signature: `k signed {"through_hash":"${twentieth?.hash}","through_seq":20}`,
      },
    });
    expect(await lastCut(store)).toBe(20);
  });

  test('no cut ends with an entry that cannot be read: nothing would vouch for it', async () => {
    write(30);
    const after = store.after.bind(store);
    store.after = async (seq, limit) =>
      (await after(seq, limit)).map((entry) => (entry.seq === 20 ? { ...entry, seq: 20, hash: '' } : entry));
    expect(await cut({ maxEntries: 10 })).toBeUndefined();
    write(1);
    expect(await cut({ maxEntries: 10 })).toBe(21);
  });

  test('a cut does not call for the next one, however often it is looked at', async () => {
    write(30);
    await cut({ maxEntries: 10 });
    const after = await kept();
    for (let i = 0; i < 20; i++) expect(await cut({ maxEntries: 10 })).toBeUndefined();
    expect(await kept()).toEqual(after);
    write(5);
    expect(await cut({ maxEntries: 10 })).toBeGreaterThan(20);
  });

  test('nothing is cut while there are few enough', async () => {
    write(10);
    expect(await cut({ maxEntries: 10 })).toBeUndefined();
    expect(await cut({ maxEntries: 1000 })).toBeUndefined();
    expect(await lastCut(store)).toBeUndefined();
  });

  test('what a restart still needs stays', async () => {
    write(30);
    expect(await cut({ maxEntries: 10 }, 7)).toBe(7);
    expect((await kept())[0]).toBe(8);
    expect(await cut({ maxEntries: 10 }, 7)).toBeUndefined();
  });
});

describe('by age', () => {
  test('what is older goes, what is not stays', async () => {
    write(5);
    world.clock.advance(day);
    write(5);
    world.clock.advance(day);
    write(5);
    expect(await cut({ maxAgeMs: 1.5 * day })).toBe(5);
    expect(await cut({ maxAgeMs: 1.5 * day })).toBeUndefined();
    expect(await cut({ maxAgeMs: 10 * day })).toBeUndefined();
  });

  test('a log that is old as a whole goes as a whole', async () => {
    write(5);
    world.clock.advance(2 * day);
    expect(await cut({ maxAgeMs: day })).toBe(5);
    expect(await kept()).toEqual([6]);
  });

  test('no entry that is young goes, even where the clock was once set back after it', async () => {
    write(3);
    world.clock.advance(10 * day);
    write(4);
    world.clock.setWallClock(-9 * day);
    write(2);
    world.clock.setWallClock(9 * day);
    write(1);
    expect(await cut({ maxAgeMs: 2 * day })).toBe(3);
    expect((await kept()).slice(0, 4)).toEqual([4, 5, 6, 7]);
  });
});

test('the stricter of both rules decides', async () => {
  write(20);
  world.clock.advance(2 * day);
  write(5);
  expect(await cut({ maxAgeMs: day, maxEntries: 15 })).toBe(20);
  write(30);
  expect(await cut({ maxAgeMs: day, maxEntries: 15 })).toBeGreaterThan(30);
});

test('without a key to sign with, nothing is cut', async () => {
  write(30);
  access = { ...access, signingKeys: new SigningKeyRing([]) };
  expect(await cut({ maxEntries: 10 })).toBeUndefined();
});
