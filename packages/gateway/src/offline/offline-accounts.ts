import type { AccountStore, MadeOwner } from '@reeve/core';
import { createOwner, messageOf } from '@reeve/core';
import { randomness, sha256 } from '../adapters/crypto/node-crypto.ts';
import { openAccountsDatabase } from '../adapters/postgres/open-postgres.ts';
import { SqlAccountStore } from '../adapters/sql/account-store.ts';
import { SqliteDatabase } from '../adapters/sql/sqlite-database.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import type { PostgresUrl } from '../config/postgres-url.ts';
import { parsePostgresUrl } from '../config/postgres-url.ts';
import { StartError } from '../start-error.ts';
import { openStoreIn } from './open-store-in.ts';

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
  const { path, isNewStore } = openStoreIn(place.dataDir, opened);
  const store = new SqlAccountStore(new SqliteDatabase({ path, sync: 'power' }));
  opened.defer(() => store.close());
  return { store, isNewStore };
}
