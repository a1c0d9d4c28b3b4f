import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountStore, MadeOwner } from '@reeve/core';
import { createOwner, messageOf } from '@reeve/core';
import { randomness, sha256 } from '../adapters/crypto/node-crypto.ts';
import { takeDataFolder } from '../adapters/files/data-folder.ts';
import { openAccountsDatabase } from '../adapters/postgres/open-postgres.ts';
import { SqlAccountStore } from '../adapters/sql/account-store.ts';
import { SqliteDatabase } from '../adapters/sql/sqlite-database.ts';
import { SqliteStore } from '../adapters/sql/sqlite-store.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import { path as pathOf } from '../config/parsers.ts';
import type { PostgresUrl } from '../config/postgres-url.ts';
import { parsePostgresUrl } from '../config/postgres-url.ts';
import { withAdvice } from '../explain-start.ts';
import { StartError } from '../start-error.ts';

/** Accounts without a gateway, for whoever has the machine of one. */

export type { MadeOwner } from '@reeve/core';

/** Where the accounts are: in a data folder that no gateway uses now, or in a PostgreSQL database, gateways or not. */
export type AccountsPlace = { readonly dataDir: string } | { readonly databaseUrl: string };

const resetTtlMs = 3_600_000;

/** Makes an owner. A failure is one line that says what to do. */
export async function createOwnerIn(
  place: AccountsPlace,
  email: string,
): Promise<MadeOwner & { readonly isNewStore: boolean }> {
  await using opened = new AsyncDisposableStack();
  const { store, isNewStore } = await openAccounts(place, opened);
  const made = await createOwner({ store, clock: systemClock, randomness, sha256, resetTtlMs }, email);
  return { ...made, isNewStore };
}

/** The message does not show what was given: it may hold a password. */
function readUrl(text: string): PostgresUrl {
  try {
    return parsePostgresUrl(text);
  } catch (error) {
    throw new StartError(`the URL of the database is not accepted; accepted: ${messageOf(error)}`);
  }
}

async function openAccounts(
  place: AccountsPlace,
  opened: AsyncDisposableStack,
): Promise<{ readonly store: AccountStore; readonly isNewStore: boolean }> {
  if ('databaseUrl' in place) {
    const database = await openAccountsDatabase(readUrl(place.databaseUrl));
    opened.defer(() => database.close());
    return { store: new SqlAccountStore(database), isNewStore: false };
  }
  // Only the owner may read what this makes.
  process.umask(0o077);
  const folder = takeDataFolder(pathOf(place.dataDir));
  opened.defer(() => folder.release());
  const path = join(folder.path, 'reeve.db');
  const isNewStore = !existsSync(path);
  try {
    // It makes and migrates the tables.
    const log = new SqliteStore({ path, sync: 'power' });
    opened.defer(() => log.close());
    const store = new SqlAccountStore(new SqliteDatabase({ path, sync: 'power' }));
    opened.defer(() => store.close());
    return { store, isNewStore };
  } catch (error) {
    throw new StartError(`cannot open the store ${path}: ${withAdvice(error)}`);
  }
}
