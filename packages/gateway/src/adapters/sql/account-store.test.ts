import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccountStorePlace } from '@reeve/core/testkit';
import { accountStoreConformance } from '@reeve/core/testkit';
import { SqlAccountStore } from './account-store.ts';
import type { SqliteOptions } from './open-sqlite.ts';
import { SqliteDatabase } from './sqlite-database.ts';
import { SqliteStore } from './sqlite-store.ts';

/** A folder with the file that the log and the accounts share. */
async function folderFor(sync: SqliteOptions['sync']): Promise<AccountStorePlace> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-accounts-'));
  const path = join(folder, 'reeve.db');
  return {
    open: async () => {
      const log = new SqliteStore({ path, sync });
      const store = new SqlAccountStore(new SqliteDatabase({ path, sync }));
      return {
        store,
        recordOwed: async (id) => {
          await log.commit({ entries: [], changes: [{ kind: 'owed_entry_recorded', id }] });
        },
        close: async () => {
          await store.close();
          await log.close();
        },
      };
    },
    dispose: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

const traits = {
  oneByOneBecause: 'a file has one writer at a time',
  oneGatewayBecause: 'a data folder belongs to one gateway',
};
accountStoreConformance('SQLite', () => folderFor('process'), traits);
accountStoreConformance('SQLite that survives the end of the power', () => folderFor('power'), traits);
