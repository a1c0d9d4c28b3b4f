import { join } from 'node:path';
import { isLoopback } from '@reeve/contract/host-name';
import { MemoryStore } from '@reeve/core';
import { makeBackup, removeCopies } from '../adapters/backup/make-backup.ts';
import { takeDataFolder } from '../adapters/files/data-folder.ts';
import type { Encryption } from '../adapters/postgres/connection.ts';
import { markRestoredDatabase } from '../adapters/postgres/mark-restored-database.ts';
import { openPostgres } from '../adapters/postgres/open-postgres.ts';
import { SqlAccountStore } from '../adapters/sql/account-store.ts';
import { SqlForwardPositions } from '../adapters/sql/sql-forward-positions.ts';
import { AuditReaderThread } from '../adapters/sql/audit-reader-thread.ts';
import { markRestoredStore } from '../adapters/sql/mark-restored-store.ts';
import { SqliteDatabase } from '../adapters/sql/sqlite-database.ts';
import { SqliteStore } from '../adapters/sql/sqlite-store.ts';
import { startCheckpointer } from '../adapters/sql/wal-checkpointer.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import type { PostgresUrl } from '../config/postgres-url.ts';
import { parsePostgresUrl } from '../config/postgres-url.ts';
import { withAdvice } from '../explain-start.ts';
import { MemoryPositions } from '../forwarding/forward-positions.ts';
import { StartError } from '../start-error.ts';
import type { Logger } from '../telemetry/logger.ts';
import { openBus, tellCommit } from './open-bus.ts';
import type { OpenStore, SharedStore } from './opened-store.ts';
import type { WiringContext } from './wiring-context.ts';

/**
 * Opens the configured store: in memory, SQLite or PostgreSQL. It calls `onFatal` later if the gateway must not go on.
 */
export async function openStore(
  context: WiringContext,
  onFatal: (error: Error) => void,
  isRestored: boolean,
): Promise<OpenStore> {
  const { databaseUrl } = context.config;
  if (databaseUrl === 'memory:') {
    if (isRestored) throw new StartError('--restored: the store in memory is always new', 2);
    // Event ids start from the time, so they are above all ids of earlier runs.
    const memory = new MemoryStore(systemClock.now() * 1000, undefined, { keepsFacts: false });
    const positions = new MemoryPositions();
    const indexLag = () => Promise.resolve(0);
    return { store: memory, reader: memory, indexLag, log: memory, positions, backup: noBackup.memory };
  }
  return databaseUrl === undefined
    ? openEmbedded(context, isRestored)
    : openShared(context, databaseUrl, onFatal, isRestored);
}

const noBackup = {
  memory: 'this gateway keeps nothing (SVC_DATABASE_URL is memory:), so there is nothing to back up',
  postgres:
    'the store is a PostgreSQL database: back it up with pg_dump, or with a base backup and its write-ahead log, and start with --restored after you have restored it',
};

function openEmbedded({ config, version, logger, health, opened }: WiringContext, isRestored: boolean): OpenStore {
  const folder = takeDataFolder(config.dataDir);
  opened.defer(() => folder.release(), 'the data folder');
  const path = join(folder.path, 'reeve.db');
  try {
    removeCopies(folder.path);
    if (isRestored) markRestoredStore(path, systemClock.now());
    const store = new SqliteStore({ path, sync: config.auditSync });
    opened.defer(() => store.close(), 'the store');
    const reader = new AuditReaderThread(path, join(folder.path, 'audit-index.db'), {
      packsInto: store,
      onTrouble: (why) => {
        if (why === undefined) health.ok('audit_log');
        else health.set('audit_log', { status: 'degraded', detail: 'it is no longer indexed and packed' });
        if (why === undefined) logger.info('the audit log is indexed and packed again');
        else
          logger.warn({ why }, 'the audit log is no longer indexed and packed: reading it gets slower, and it grows');
      },
    });
    opened.defer(() => reader.close(), 'the thread that reads the audit log');
    const checkpointer = startCheckpointer(path, store, reader, {
      onFailure: (error) =>
        logger.warn({ error }, 'the write-ahead log cannot be copied into the database, and grows until it can'),
    });
    opened.defer(() => checkpointer.end(), 'the thread that checkpoints the store');
    const database = new SqliteDatabase({ path, sync: config.auditSync });
    const accountStore = new SqlAccountStore(database);
    opened.defer(() => accountStore.close(), 'the store of accounts');
    const policiesElsewhere = config.policy !== undefined;
    const source = { folder: folder.path, scratch: folder.path, policiesElsewhere, version };
    return {
      folder: folder.path,
      store,
      reader,
      // An unknown lag is NaN: the other metrics do not depend on the reader.
      indexLag: () => reader.lag().catch(() => Number.NaN),
      unpacked: () => reader.unpacked().catch(() => Number.NaN),
      walBytes: () => checkpointer.walBytes,
      log: { after: async (seq, limit) => [...(await reader.oldest({ after: seq, limit })).entries] },
      positions: new SqlForwardPositions(database),
      accountStore,
      backup: () => makeBackup(source),
    };
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`cannot open the store ${path}: ${withAdvice(error)}`);
  }
}

async function openShared(
  context: WiringContext,
  databaseUrl: string,
  onFatal: (error: Error) => void,
  isRestored: boolean,
): Promise<OpenStore> {
  const { config, version, logger, opened } = context;
  const { natsUrl } = config;
  const connections = new AsyncDisposableStack();
  opened.defer(() => connections.disposeAsync(), 'the connections to PostgreSQL');
  const url = parsePostgresUrl(databaseUrl);
  let shared: SharedStore | undefined;
  const { store, database, membership, feed, encryption } = await openPostgres(
    {
      url,
      sync: config.auditSync,
      version,
      isShared: natsUrl !== undefined,
      lostAfterMs: config.takeoverSecs * 1000,
      onCommitted: (commit) => {
        if (shared !== undefined) tellCommit(shared.bus, commit);
      },
      onRegained: () => {
        logger.info('the database is back');
        shared?.onCommits(false);
      },
      onFatal,
    },
    connections,
  );
  tellOfEncryption(url, encryption, logger);
  logger.info({ id: membership.id, slot: membership.slot }, 'took a slot in the database');
  if (isRestored) await markRestoredDatabase(database, membership, systemClock.now());
  if (natsUrl !== undefined) shared = await openBus(context, natsUrl, { store, database, feed, membership, onFatal });
  return {
    store,
    reader: store,
    indexLag: () => Promise.resolve(0),
    log: store,
    positions: new SqlForwardPositions(database),
    backup: noBackup.postgres,
    accountStore: new SqlAccountStore(database),
    membership,
    ...(shared === undefined ? {} : { shared }),
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
