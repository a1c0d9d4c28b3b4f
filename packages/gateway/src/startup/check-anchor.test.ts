import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SealedEntry } from '@reeve/core';
import { emptyChain } from '@reeve/core';
import { sampleDraft, sealAll } from '@reeve/core/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AuditIndex } from '../adapters/sql/audit-index.ts';
import { AuditReaderThread } from '../adapters/sql/audit-reader-thread.ts';
import { SqliteStore } from '../adapters/sql/sqlite-store.ts';
import { checkAnchor } from './check-anchor.ts';

let folder: string;
let path: string;
let entries: SealedEntry[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-check-anchor-'));
  path = join(folder, 'reeve.db');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A log whose entries 6 to 10 are in a damaged block. */
async function damagedLog(): Promise<void> {
  await using store = closing(new SqliteStore({ path, sync: 'process' }));
  entries = sealAll(
    Array.from({ length: 20 }, (_, n) => sampleDraft({ at: 1_700_000_000_000 + n })),
    emptyChain,
  );
  store.it.commitNow({ entries, changes: [] });
  const index = AuditIndex.open(path, join(folder, 'index.db'));
  index.catchUp(1000);
  const packing = { keptRows: 2, blockEntries: 5 };
  for (let block = index.packOldest(packing); block !== undefined; block = index.packOldest(packing)) {
    expect(store.it.pack(block)).toBeUndefined();
  }
  index.close();
  using db = new DatabaseSync(path);
  db.exec(`UPDATE audit_blocks SET entries = x'00' WHERE first_seq = 6`);
}

function closing<Item extends { close(): Promise<void> }>(it: Item) {
  return { it, [Symbol.asyncDispose]: () => it.close() };
}

/** What is lost by an anchor of an entry, with a key that the store does not have. */
async function lostBy(seq: number, hash: string): Promise<number | undefined> {
  await using store = closing(new SqliteStore({ path, sync: 'process' }));
  await using reader = closing(new AuditReaderThread(path, join(folder, 'index.db')));
  const { head } = await store.it.load();
  const anchor = { seq, hash, at: '2026-01-01T00:00:00.000Z', kid: 'gone', signature: 'x' };
  const log = { store: store.it, reader: reader.it, head, signingKeys: [], isSigned: () => false };
  return (await checkAnchor('anchor.jsonl', [anchor], log))?.anchored.seq;
}

test('an anchored entry that cannot be read is not taken for another one', async () => {
  await damagedLog();
  for (const seq of [3, 6, 8, 10, 12])
    expect(await lostBy(seq, entries[seq - 1]?.hash ?? ''), `entry ${seq}`).toBe(undefined);
});

test('where the next entry can be read, it says what came before it', async () => {
  await damagedLog();
  const other = 'f'.repeat(64);
  expect([await lostBy(3, other), await lostBy(10, other), await lostBy(12, other)]).toEqual([3, 10, 12]);
});
