import { join } from 'node:path';
import type { AccountStore, AuditReader, Store } from '@reeve/core';
import { MemoryStore } from '@reeve/core';
import { takeDataFolder } from '../adapters/files/data-folder.ts';
import type { Encryption } from '../adapters/postgres/connection.ts';
import { Follower } from '../adapters/postgres/follower.ts';
import { openPostgres } from '../adapters/postgres/open-postgres.ts';
import { SqlAccountStore } from '../adapters/sql/account-store.ts';
import { AuditReaderThread } from '../adapters/sql/audit-reader-thread.ts';
import { SqliteDatabase } from '../adapters/sql/sqlite-database.ts';
import { SqliteStore } from '../adapters/sql/sqlite-store.ts';
import { startCheckpointer } from '../adapters/sql/wal-checkpointer.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import type { PostgresUrl } from '../config/postgres-url.ts';
import { parsePostgresUrl } from '../config/postgres-url.ts';
import type { Shared } from '../adapters/postgres/shared-rows.ts';
import { withAdvice } from '../explain-start.ts';
import { isLoopback } from '../config/loopback.ts';
import { StartError } from '../start-error.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { WiringContext } from './wiring-context.ts';

/** A store and its companions. */
export interface OpenStore {
  readonly store: Store;
  readonly reader: AuditReader;
  /**
   * The log from which this gateway restores its operations. If gateways share a log, it holds this gateway's own
   * entries.
   */
  readonly opsLog: Pick<Store, 'after' | 'receipts'>;
  readonly indexLag: () => Promise<number>;
  /** Up to which entry the log may be cut, given how far this gateway needs it. */
  readonly neededFrom: (own: number) => Promise<number>;
  /** Absent for the store in memory: it keeps nothing, so it has no accounts. */
  readonly accountStore?: AccountStore;
  /** Keeps agents, keys and policies in memory in step with other gateways on the same store. */
  readonly follow?: (shared: Shared) => void;
}

/**
 * Opens the configured store: in memory, SQLite or PostgreSQL. It calls `onFatal` later if the gateway must not go on.
 */
export async function openStore(context: WiringContext, onFatal: (error: Error) => void): Promise<OpenStore> {
  const { databaseUrl } = context.config;
  if (databaseUrl === 'memory:') {
    // Event ids start from the time, so they are above all ids of earlier runs.
    const memory = new MemoryStore(systemClock.now() * 1000);
    return { ...alone(memory), reader: memory, indexLag: () => Promise.resolve(0) };
  }
  return databaseUrl === undefined ? openEmbedded(context) : openShared(context, databaseUrl, onFatal);
}

function openEmbedded({ config, opened }: WiringContext): OpenStore {
  const folder = takeDataFolder(config.dataDir);
  opened.defer(() => folder.release(), 'the data folder');
  const path = join(folder.path, 'reeve.db');
  try {
    const store = new SqliteStore({ path, sync: config.auditSync });
    opened.defer(() => store.close(), 'the store');
    opened.defer(startCheckpointer(path), 'the thread that checkpoints the store');
    const reader = new AuditReaderThread(path, join(folder.path, 'audit-index.db'));
    opened.defer(() => reader.close(), 'the thread that reads the audit log');
    const accountStore = new SqlAccountStore(new SqliteDatabase({ path, sync: config.auditSync }));
    opened.defer(() => accountStore.close(), 'the store of accounts');
    // An unknown lag is NaN: the other metrics do not depend on the reader.
    return { ...alone(store), reader, indexLag: () => reader.lag().catch(() => Number.NaN), accountStore };
  } catch (error) {
    throw new StartError(`cannot open the store ${path}: ${withAdvice(error)}`);
  }
}

function alone(store: Store): Pick<OpenStore, 'store' | 'opsLog' | 'neededFrom'> {
  return { store, opsLog: store, neededFrom: (own) => Promise.resolve(own) };
}

async function openShared(
  { config, logger, opened }: WiringContext,
  databaseUrl: string,
  onFatal: (error: Error) => void,
): Promise<OpenStore> {
  const follower = new Follower((error) =>
    logger.error({ err: error }, 'what other gateways have changed cannot be read'),
  );
  const connections = new AsyncDisposableStack();
  opened.defer(() => connections.disposeAsync(), 'the connections to PostgreSQL');
  const url = parsePostgresUrl(databaseUrl);
  const { store, database, slot, encryption } = await openPostgres(
    url,
    config.auditSync,
    {
      onNotice: (notice) => follower.note(notice),
      onRegained: () => {
        logger.info({ seat: slot.number }, 'the database is back, and the seat with it');
        follower.noteAll();
      },
      onTaken: onFatal,
    },
    connections,
  );
  opened.defer(() => follower.close(), 'what follows other gateways');
  tellOfEncryption(url, encryption, logger);
  logger.info({ seat: slot.number }, 'took a seat in the database');
  return {
    store,
    reader: store,
    opsLog: { after: (seq, limit) => store.replay(seq, limit), receipts: (ids) => store.receipts(ids) },
    indexLag: () => Promise.resolve(0),
    neededFrom: (own) => store.neededFrom(own),
    accountStore: new SqlAccountStore(database),
    follow: (access) => follower.start(store, access),
  };
}

/**
 * Logs what protects the connection to the database. On a network, it warns of anything less than a verified
 * certificate.
 */
function tellOfEncryption({ host, tlsMode }: PostgresUrl, encryption: Encryption, logger: Logger): void {
  const isHere = host.startsWith('/') || isLoopback(host);
  const text = {
    none: 'the connection to the database is not encrypted: whoever can read the network reads and changes everything in it; use sslmode=verify-full',
    unverified:
      'the connection to the database is encrypted, but nobody has verified whose certificate it is: whoever can come in between can read it; use sslmode=verify-full',
    verified: 'the connection to the database is encrypted, under a certificate that was verified',
  }[encryption];
  const facts = { encryption, sslmode: tlsMode };
  if (isHere) logger.info(facts, 'connected to the database on this machine');
  else if (encryption === 'verified') logger.info(facts, text);
  else logger.warn(facts, text);
}
