import { join } from 'node:path';
import { MemoryStore } from '@reeve/core';
import { makeBackup, removeCopies } from '../adapters/backup/make-backup.ts';
import { takeDataFolder } from '../adapters/files/data-folder.ts';
import { SqlAccountStore } from '../adapters/sql/account-store.ts';
import { SqlForwardPositions } from '../adapters/sql/sql-forward-positions.ts';
import { AuditReaderThread } from '../adapters/sql/audit-reader-thread.ts';
import { markRestoredStore } from '../adapters/sql/mark-restored-store.ts';
import { SqliteDatabase } from '../adapters/sql/sqlite-database.ts';
import { SqliteStore } from '../adapters/sql/sqlite-store.ts';
import type { Checkpointer } from '../adapters/sql/wal-checkpointer.ts';
import { startCheckpointer } from '../adapters/sql/wal-checkpointer.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import { withAdvice } from '../explain-start.ts';
import { MemoryPositions } from '../forwarding/forward-positions.ts';
import { StartError } from '../start-error.ts';
import { noBackup } from './no-backup.ts';
import type { OpenStore } from './opened-store.ts';
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
  if (databaseUrl === undefined) return openEmbedded(context, isRestored);
  // Few gateways need the clients of PostgreSQL and NATS, and loading them takes time.
  const { openShared } = await import('./open-shared.ts');
  return await openShared(context, databaseUrl, onFatal, isRestored);
}

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
    let checkpointer: Checkpointer | undefined;
    opened.defer(async () => checkpointer?.end(), 'the thread that checkpoints the store');
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
      walBytes: () => checkpointer?.walBytes ?? 0,
      startUpkeep: () => {
        reader.begin();
        checkpointer = startCheckpointer(path, store, reader, {
          onFailure: (error) =>
            logger.warn({ error }, 'the write-ahead log cannot be copied into the database, and grows until it can'),
        });
      },
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
