import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { emptyChain } from '@reeve/core';
import { sampleDraft, sealAll } from '@reeve/core/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keptWal } from './open-sqlite.ts';
import { SqliteStore } from './sqlite-store.ts';
import { startCheckpointer } from './wal-checkpointer.ts';

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
  const end = startCheckpointer(path, store, { everyMs: 5, mostFrames: 500 });
  try {
    await commitUntil(() => beginnings() >= 5 || statSync(path).size > mostBytes);
  } finally {
    await end();
  }
  expect(beginnings()).toBeGreaterThanOrEqual(5);
  expect((await store.after(0, Number.MAX_SAFE_INTEGER)).at(0)?.seq).toBe(1);
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
  const end = startCheckpointer(path, writer, { everyMs: 5, mostFrames: 1 });
  await commitUntil(() => pauses.length > 0);
  await end();
  expect(pauses).toEqual(pauses.map((_, at) => (at % 2 === 0 ? 'begun' : 'ended')));
  expect(pauses.at(-1)).toBe('ended');
  expect(store.commit({ entries: [], changes: [] })).toBeUndefined();
});

test('a log that grew too long gives its room back a little at a time', () => {
  const mebibyte = 1024 * 1024;
  expect(keptWal(0)).toBe(keptWal(100 * mebibyte));
  expect(keptWal(1000 * mebibyte)).toBe(992 * mebibyte);
});
