import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { AuditPage, AuditReader } from '@reeve/core';
import { emptyChain } from '@reeve/core';
import type { StorePlace } from '@reeve/core/testkit';
import { sampleDraft, sealAll, storeConformance } from '@reeve/core/testkit';
import { expect, test } from 'vitest';
import { AuditIndex } from './audit-index.ts';
import { AuditReaderThread } from './audit-reader-thread.ts';
import type { SqliteOptions } from './open-sqlite.ts';
import type { Packing } from './pack-oldest.ts';
import { SqliteStore } from './sqlite-store.ts';

/** A folder with a store, whose log is indexed by `entriesPerRead` entries before each query, and packed. */
function folderFor(sync: SqliteOptions['sync'], entriesPerRead: number, packing?: Packing): StorePlace {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-sqlite-'));
  return {
    open: () => {
      const path = join(folder, 'reeve.db');
      const store = new SqliteStore({ path, sync });
      const index = new AuditIndex(path, join(folder, 'audit-index.db'));
      const keep = () => {
        if (entriesPerRead > 0) index.catchUp(entriesPerRead);
        for (let isDone = packing !== undefined; isDone; ) {
          const block = packing === undefined ? undefined : index.packOldest(packing);
          isDone = block !== undefined && store.pack(block) === undefined;
        }
      };
      const read = (newestFirst: boolean): AuditReader['latest'] => {
        return (query) => {
          keep();
          return Promise.resolve(index.read(query, newestFirst));
        };
      };
      return {
        store,
        reader: {
          latest: read(true),
          oldest: read(false),
          people: (query) => {
            keep();
            return Promise.resolve(index.people(query));
          },
          runsOfUser: (query) => {
            if (entriesPerRead > 0) index.catchUp(entriesPerRead);
            return Promise.resolve(index.runsOfUser(query));
          },
        },
        close: async () => {
          index.close();
          await store.close();
        },
      };
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

storeConformance('SQLite, whose log is read entry by entry,', () => folderFor('process', 0));
storeConformance('SQLite, whose log is read by its indexes,', () => folderFor('process', 1000));
storeConformance('SQLite, whose indexes are behind,', () => folderFor('process', 23));
storeConformance('SQLite, whose log is packed,', () => folderFor('process', 23, { keptRows: 2, blockEntries: 5 }));
storeConformance('SQLite that survives the end of the power', () => folderFor('power', 0));

test('the log is read in another thread with the same answers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-sqlite-'));
  const path = join(folder, 'reeve.db');
  const store = new SqliteStore({ path, sync: 'process' });
  const reader = new AuditReaderThread(path, join(folder, 'audit-index.db'), { everyMs: 1 });
  expect(await reader.latest({ limit: 1 })).toEqual({ entries: [], next: null });
  const entries = sealAll([sampleDraft(), sampleDraft({ opId: 't:s' }), sampleDraft()], emptyChain);
  await store.commit({ entries, changes: [] });
  const seqs = async (page: Promise<AuditPage>) => (await page).entries.map((entry) => entry.seq);
  expect(await seqs(reader.latest({ limit: 10 }))).toEqual([3, 2, 1]);
  expect(await seqs(reader.oldest({ limit: 2 }))).toEqual([1, 2]);
  expect(await seqs(reader.latest({ opId: 't:s', limit: 10 }))).toEqual([2]);
  while ((await reader.lag()) > 0) await setTimeout(1);
  expect(await seqs(reader.latest({ opId: 't:s', limit: 10 }))).toEqual([2]);
  await reader.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});
