import { join } from 'node:path';
import { MemoryStore } from '@reeve/core';
import { takeDataFolder } from '../adapters/files/data-folder.ts';
import type { Encryption } from '../adapters/postgres/connection.ts';
import { openPostgres } from '../adapters/postgres/open-postgres.ts';
import { SqlAccountStore } from '../adapters/sql/account-store.ts';
import { SqlForwardPositions } from '../adapters/sql/sql-forward-positions.ts';
import { AuditReaderThread } from '../adapters/sql/audit-reader-thread.ts';
import { SqliteDatabase } from '../adapters/sql/sqlite-database.ts';
import { SqliteStore } from '../adapters/sql/sqlite-store.ts';
import { startCheckpointer } from '../adapters/sql/wal-checkpointer.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import type { PostgresUrl } from '../config/postgres-url.ts';
import { parsePostgresUrl } from '../config/postgres-url.ts';
import { withAdvice } from '../explain-start.ts';
import { isLoopback } from '../config/loopback.ts';
import { MemoryPositions } from '../forwarding/forward-positions.ts';
import { StartError } from '../start-error.ts';
import type { Logger } from '../telemetry/logger.ts';
import { openBus, tellCommit } from './open-bus.ts';
import type { OpenStore, SharedStore } from './opened-store.ts';
import type { WiringContext } from './wiring-context.ts';

/**
 * Opens the configured store: in memory, SQLite or PostgreSQL. It calls `onFatal` later if the gateway must not go on.
 */
export async function openStore(context: WiringContext, onFatal: (error: Error) => void): Promise<OpenStore> {
  const { databaseUrl } = context.config;
  if (databaseUrl === 'memory:') {
    // Event ids start from the time, so they are above all ids of earlier runs.
    const memory = new MemoryStore(systemClock.now() * 1000);
    const positions = new MemoryPositions();
    return { store: memory, reader: memory, indexLag: () => Promise.resolve(0), log: memory, positions };
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
    const database = new SqliteDatabase({ path, sync: config.auditSync });
    const accountStore = new SqlAccountStore(database);
    opened.defer(() => accountStore.close(), 'the store of accounts');
    return {
      store,
      reader,
      // An unknown lag is NaN: the other metrics do not depend on the reader.
      indexLag: () => reader.lag().catch(() => Number.NaN),
      log: { after: async (seq, limit) => [...(await reader.oldest({ after: seq, limit })).entries] },
      positions: new SqlForwardPositions(database),
      accountStore,
    };
  } catch (error) {
    throw new StartError(`cannot open the store ${path}: ${withAdvice(error)}`);
  }
}

async function openShared(
  context: WiringContext,
  databaseUrl: string,
  onFatal: (error: Error) => void,
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
  logger.info({ id: membership.id, seat: membership.seat }, 'took a seat in the database');
  if (natsUrl !== undefined) shared = await openBus(context, natsUrl, { store, database, feed, membership, onFatal });
  return {
    store,
    reader: store,
    indexLag: () => Promise.resolve(0),
    log: store,
    positions: new SqlForwardPositions(database),
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
