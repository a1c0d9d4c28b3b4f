import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { emptyChain } from '@reeve/core';
import { sampleDraft, sealAll } from '@reeve/core/testkit';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AuditReaderThread } from './audit-reader-thread.ts';
import { keptWal } from './open-sqlite.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import { SqliteStore } from './sqlite-store.ts';
import { Pauses, startCheckpointer } from './wal-checkpointer.ts';

let folder: string;
let path: string;
let store: SqliteStore;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-wal-'));
  path = join(folder, 'reeve.db');
  store = new SqliteStore({ path, sync: 'process' });
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const reason = 'x'.repeat(1000);
/** A log that begins anew has done so long before the database is as large as this. */
const mostBytes = 400 * 1024 * 1024;
let head = emptyChain;

/** Commits without a break, as a busy gateway does. The log takes about 100 kB each time. */
async function commitUntil(isEnough: () => boolean): Promise<void> {
  while (!isEnough()) {
    const entries = sealAll(
      Array.from({ length: 80 }, () => sampleDraft({ reason })),
      head,
    );
    head = entries.at(-1) ?? head;
    await store.commit({ entries, changes: [] });
    await setImmediate();
  }
}

/** Nobody reads. */
const nobody = { rest: () => ({ idle: Promise.resolve(), goOn: () => undefined }) };

/** How often the log has begun anew, as its file says. */
function beginnings(): number {
  const header = Buffer.alloc(16);
  const file = openSync(`${path}-wal`, 'r');
  try {
    readSync(file, header, 0, header.length, 0);
  } finally {
    closeSync(file);
  }
  return header.readUInt32BE(12);
}

test('the write-ahead log of a writer that never rests begins anew, again and again', async () => {
  head = emptyChain;
  const checkpointer = startCheckpointer(path, store, nobody, { everyMs: 5, mostFrames: 500 });
  try {
    await commitUntil(() => beginnings() >= 5 || statSync(path).size > mostBytes);
  } finally {
    await checkpointer.end();
  }
  expect(beginnings()).toBeGreaterThanOrEqual(5);
  expect((await store.after(0, Number.MAX_SAFE_INTEGER)).at(0)?.seq).toBe(1);
});

test('a log that cannot be copied is reported once, and how long a log is, always', async () => {
  const failures: string[] = [];
  const onFailure = (error: string) => failures.push(error);
  const damaged = join(folder, 'damaged.db');
  writeFileSync(damaged, 'no database'.repeat(100));
  writeFileSync(`${damaged}-wal`, 'x'.repeat(123));
  const failing = startCheckpointer(damaged, store, nobody, { everyMs: 1, onFailure });
  await expect.poll(() => failures.length).toBe(1);
  await expect.poll(() => failing.walBytes).toBe(123);
  await setTimeout(50);
  await failing.end();
  expect(failures).toEqual([expect.stringContaining('file is not a database')]);
  const working = startCheckpointer(path, store, nobody, { everyMs: 1, onFailure });
  await expect.poll(() => working.walBytes).toBe(statSync(`${path}-wal`).size);
  await working.end();
  expect(failures).toHaveLength(1);
});

test('a reader that leaves no gap makes one when it is asked to, and the log begins anew', async () => {
  head = emptyChain;
  const reading = new DatabaseSync(path);
  const state = { isResting: false, rests: 0 };
  const read = () => {
    reading.exec('BEGIN');
    reading.prepare('SELECT max(seq) FROM audit').get();
  };
  const rest = () => {
    reading.exec('COMMIT');
    Object.assign(state, { isResting: true, rests: state.rests + 1 });
    const goOn = () => {
      state.isResting = false;
      read();
    };
    return { idle: Promise.resolve(), goOn };
  };
  read();
  const checkpointer = startCheckpointer(path, store, { rest }, { everyMs: 5, mostFrames: 500 });
  try {
    await commitUntil(() => {
      if (!state.isResting) {
        reading.exec('COMMIT');
        read();
      }
      return beginnings() >= 5 || statSync(path).size > mostBytes;
    });
  } finally {
    await checkpointer.end();
    reading.close();
  }
  expect(beginnings()).toBeGreaterThanOrEqual(5);
  expect(state.rests).toBeGreaterThanOrEqual(2);
});

test('the thread that reads the log rests once it has answered, until it may go on', async () => {
  store.commitNow({ entries: sealAll([sampleDraft()], emptyChain), changes: [] });
  const reader = new AuditReaderThread(path, join(folder, 'audit-index.db'), { everyMs: 1 });
  const answered: string[] = [];
  const ask = async (name: string) => {
    await reader.latest({ limit: 1 });
    answered.push(name);
  };
  const before = ask('before');
  const { idle, goOn } = reader.rest();
  await idle;
  expect(answered).toEqual(['before']);
  const after = ask('after');
  await setTimeout(20);
  expect(answered).toEqual(['before']);
  goOn();
  await Promise.all([before, after]);
  expect(answered).toEqual(['before', 'after']);
  await reader.close();
});

test('commits wait for a pause, and are in the log once it is over', async () => {
  const goOn = store.pause();
  const committing = store.commit({ entries: sealAll([sampleDraft()], emptyChain), changes: [] });
  await setTimeout(5);
  expect(await store.after(0, 10)).toHaveLength(0);
  goOn();
  await committing;
  expect(await store.after(0, 10)).toHaveLength(1);
  expect(store.commit({ entries: [], changes: [] })).toBeUndefined();
});

test('a commit that fails after a pause says so', async () => {
  const entries = sealAll([sampleDraft()], emptyChain);
  store.commitNow({ entries, changes: [] });
  const goOn = store.pause();
  const committing = store.commit({ entries, changes: [] });
  goOn();
  await expect(committing).rejects.toThrow('UNIQUE');
});

test('a thread that is ended in the middle of a pause leaves no commit waiting', async () => {
  const pauses: string[] = [];
  const writer = {
    pause: () => {
      pauses.push('begun');
      const goOn = store.pause();
      return () => {
        pauses.push('ended');
        goOn();
      };
    },
    trimWal: () => undefined,
  };
  head = emptyChain;
  const checkpointer = startCheckpointer(path, writer, nobody, { everyMs: 5, mostFrames: 1 });
  await commitUntil(() => pauses.length > 0);
  await checkpointer.end();
  expect(pauses).toEqual(pauses.map((_, at) => (at % 2 === 0 ? 'begun' : 'ended')));
  expect(pauses.at(-1)).toBe('ended');
  expect(store.commit({ entries: [], changes: [] })).toBeUndefined();
});

test('a commit in the middle of a transaction of the accounts waits for its end', async () => {
  const accounts = new SqliteDatabase({ path, sync: 'process' });
  const entries = sealAll([sampleDraft()], emptyChain);
  const committing = await accounts.transaction([], async (sql) => {
    await sql.run(`INSERT INTO meta (name, value) VALUES ('x', 1)`);
    return { done: store.commit({ entries, changes: [] }) };
  });
  expect(committing.done).toBeInstanceOf(Promise);
  await committing.done;
  expect(await store.after(0, 10)).toHaveLength(1);
  await accounts.close();
});

test('the accounts leave it to the store to truncate the log', async () => {
  const accounts = new SqliteDatabase({ path, sync: 'process' });
  const limits = await accounts.transaction([], (sql) => sql.all('PRAGMA journal_size_limit'));
  expect(limits).toEqual([{ journal_size_limit: -1 }]);
  await accounts.close();
});

describe('a pause', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Readers that are busy until told otherwise, and what happened to them and to the writer. */
  function world() {
    const happened: string[] = [];
    const idle = Promise.withResolvers<void>();
    const reader = { rest: () => ({ idle: idle.promise, goOn: () => void happened.push('reads go on') }) };
    const writer = {
      pause: () => {
        happened.push('commits wait');
        return () => void happened.push('commits go on');
      },
    };
    return { happened, idle, pauses: new Pauses(writer, reader) };
  }

  test('begins once the last read is done, and ends by itself', async () => {
    const { happened, idle, pauses } = world();
    const resting = pauses.rest();
    await vi.advanceTimersByTimeAsync(5000);
    expect(happened).toEqual([]);
    idle.resolve();
    expect(await resting).toBe(true);
    expect(pauses.begin()).toBe(true);
    await vi.advanceTimersByTimeAsync(499);
    expect(happened).toEqual(['commits wait']);
    await vi.advanceTimersByTimeAsync(1);
    expect(happened).toEqual(['commits wait', 'reads go on', 'commits go on']);
    pauses.end();
    expect(happened).toHaveLength(3);
  });

  test('is given up if a read takes too long', async () => {
    const { happened, idle, pauses } = world();
    const resting = pauses.rest();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(happened).toEqual(['reads go on']);
    idle.resolve();
    expect(await resting).toBe(false);
    expect(pauses.begin()).toBe(false);
    expect(happened).toEqual(['reads go on']);
  });
});

test('a log that grew too long gives its room back a little at a time', () => {
  const mebibyte = 1024 * 1024;
  expect(keptWal(0)).toBe(keptWal(100 * mebibyte));
  expect(keptWal(1000 * mebibyte)).toBe(992 * mebibyte);
});
