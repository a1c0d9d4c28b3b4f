import type { Client } from 'pg';
import type { PostgresUrl } from '../../config/postgres-url.ts';
import { withAdvice } from '../../explain-start.ts';
import { StartError } from '../../start-error.ts';
import type { Encryption } from './connection.ts';
import { connectFirst, disconnect, nameOf } from './connection.ts';
import { migratePostgres } from './migrate-postgres.ts';
import { PostgresDatabase } from './postgres-database.ts';
import { PostgresStore } from './postgres-store.ts';
import type { SlotEvents } from './slot.ts';
import { Slot } from './slot.ts';

export interface OpenPostgres {
  readonly store: PostgresStore;
  readonly database: PostgresDatabase;
  readonly slot: Slot;
  readonly encryption: Encryption;
}

const oldestVersion = 150_000;

/**
 * Connects, migrates the tables and takes a slot. It notes whatever it opens in `opened`. A failure becomes one line
 * that names the server and never the password.
 */
export async function openPostgres(
  url: PostgresUrl,
  sync: 'process' | 'power',
  events: SlotEvents,
  opened: AsyncDisposableStack,
): Promise<OpenPostgres> {
  try {
    const { client, options: connection, encryption } = await connectFirst(url);
    try {
      await checkServer(client);
      await migratePostgres(client);
    } finally {
      await disconnect(client);
    }
    const database = new PostgresDatabase(connection);
    opened.defer(() => database.close());
    const slot = await Slot.take(connection, events);
    opened.defer(() => slot.close());
    const store = new PostgresStore({ connection, database, slot, sync, onFatal: events.onTaken });
    opened.defer(() => store.close());
    return { store, database, slot, encryption };
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`cannot use PostgreSQL at ${nameOf(url)}: ${withAdvice(error)}`);
  }
}

async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: string; encoding: string }>(
    `SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding`,
  );
  const { version = '0', encoding = '' } = rows[0] ?? {};
  if (Number(version) < oldestVersion) throw new Error('it is older than version 15, which Reeve needs');
  if (encoding !== 'UTF8') throw new Error(`the database has the encoding ${encoding}; make one with UTF8`);
}
