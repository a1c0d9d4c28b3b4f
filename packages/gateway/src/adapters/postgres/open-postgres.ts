import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import type { PostgresUrl } from '../../config/postgres-url.ts';
import { withAdvice } from '../../explain-start.ts';
import { StartError } from '../../start-error.ts';
import type { SentCommit } from './commit-feed.ts';
import { CommitFeed } from './commit-feed.ts';
import type { ConnectionOptions, Encryption } from './connection.ts';
import { connectFirst, disconnect, nameOf } from './connection.ts';
import { Membership } from './membership.ts';
import { migratePostgres } from './migrate-postgres.ts';
import { PostgresDatabase } from './postgres-database.ts';
import { PostgresStore } from './postgres-store.ts';

export interface OpenPostgres {
  readonly store: PostgresStore;
  readonly database: PostgresDatabase;
  readonly membership: Membership;
  readonly feed: CommitFeed;
  readonly encryption: Encryption;
}

export interface PostgresOptions {
  readonly url: PostgresUrl;
  readonly sync: 'process' | 'power';
  /** The release of this gateway. */
  readonly version: string;
  /** Whether other gateways may work on the same database, which then follow each other. */
  readonly isShared: boolean;
  readonly lostAfterMs: number;
  readonly onCommitted: (commit: SentCommit) => void;
  readonly onRegained: () => void;
  /** Called if the gateway must not go on. */
  readonly onFatal: (error: Error) => void;
}

const oldestVersion = 150_000;

/**
 * Connects, migrates the tables and takes a slot. It notes whatever it opens in `opened`. A failure becomes one line
 * that names the server and never the password.
 */
export async function openPostgres(options: PostgresOptions, opened: AsyncDisposableStack): Promise<OpenPostgres> {
  const { url, isShared, onFatal } = options;
  try {
    const { connection, encryption } = await prepare(url);
    const database = new PostgresDatabase(connection);
    opened.defer(() => database.close());
    const gateway = randomUUID();
    const membership = await Membership.join({ ...options, connection, id: gateway, hearsOthers: isShared });
    opened.defer(() => membership.close());
    const feed = new CommitFeed(database, gateway, onFatal);
    const isReachable = () => membership.isHeld;
    const readCompactly = () => membership.readCompactly;
    const store = new PostgresStore({ ...options, connection, database, feed, gateway, isReachable, readCompactly });
    opened.defer(() => store.close());
    return { store, database, membership, feed, encryption };
  } catch (error) {
    throw explained(error, url);
  }
}

/** The database alone, for work on accounts beside gateways. It takes no slot: accounts are read from the store. */
export async function openAccountsDatabase(url: PostgresUrl): Promise<PostgresDatabase> {
  try {
    return new PostgresDatabase((await prepare(url)).connection);
  } catch (error) {
    throw explained(error, url);
  }
}

async function prepare(
  url: PostgresUrl,
): Promise<{ readonly connection: ConnectionOptions; readonly encryption: Encryption }> {
  const { client, options: connection, encryption } = await connectFirst(url);
  try {
    await checkServer(client);
    await migratePostgres(client);
  } finally {
    await disconnect(client);
  }
  return { connection, encryption };
}

function explained(error: unknown, url: PostgresUrl): StartError {
  if (error instanceof StartError) return error;
  return new StartError(`cannot use PostgreSQL at ${nameOf(url)}: ${withAdvice(error)}`);
}

async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: string; encoding: string }>(
    `SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding`,
  );
  const { version = '0', encoding = '' } = rows[0] ?? {};
  if (Number(version) < oldestVersion) throw new Error('it is older than version 15, which Reeve needs');
  if (encoding !== 'UTF8') throw new Error(`the database has the encoding ${encoding}; make one with UTF8`);
}
