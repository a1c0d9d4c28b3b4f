import { isLoopback } from '@reeve/contract/host-name';
import { SqlAccountStore } from '../adapters/sql/account-store.ts';
import { SqlForwardPositions } from '../adapters/sql/sql-forward-positions.ts';
import type { Encryption } from '../adapters/postgres/connection.ts';
import { markRestoredDatabase } from '../adapters/postgres/mark-restored-database.ts';
import { openPostgres } from '../adapters/postgres/open-postgres.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import type { PostgresUrl } from '../config/postgres-url.ts';
import { parsePostgresUrl } from '../config/postgres-url.ts';
import type { Logger } from '../telemetry/logger.ts';
import { noBackup } from './no-backup.ts';
import { openBus } from './open-bus.ts';
import type { OpenStore, SharedStore } from './opened-store.ts';
import type { WiringContext } from './wiring-context.ts';

/** Opens a PostgreSQL database, and the connection to the other gateways on it. */
export async function openShared(
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
      onCommitted: (commit) => shared?.tell(commit),
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
