import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { takeDataFolder } from '../adapters/files/data-folder.ts';
import { SqliteStore } from '../adapters/sql/sqlite-store.ts';
import { path as pathOf } from '../config/parsers.ts';
import { withAdvice } from '../explain-start.ts';
import { StartError } from '../start-error.ts';

export interface OfflineStore {
  readonly path: string;
  readonly store: SqliteStore;
  /** Whether there was none. */
  readonly isNewStore: boolean;
}

/** Where the store of a data folder is. */
export function storePathIn(dataDir: string): string {
  return join(pathOf(dataDir), 'reeve.db');
}

/** Takes a data folder that no gateway uses, and opens its store. That makes and migrates the tables. */
export function openStoreIn(dataDir: string, opened: AsyncDisposableStack): OfflineStore {
  // Only the owner may read what this makes.
  process.umask(0o077);
  const folder = takeDataFolder(pathOf(dataDir));
  opened.defer(() => folder.release());
  const path = storePathIn(dataDir);
  const isNewStore = !existsSync(path);
  try {
    const store = new SqliteStore({ path, sync: 'power' });
    opened.defer(() => store.close());
    return { path, store, isNewStore };
  } catch (error) {
    throw new StartError(`cannot open the store ${path}: ${withAdvice(error)}`);
  }
}
