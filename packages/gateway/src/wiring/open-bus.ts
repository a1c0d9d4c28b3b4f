import { randomBytes } from 'node:crypto';
import { textIn } from '@reeve/core';
import { commitsOf } from '../adapters/nats/commit-messages.ts';
import { commitsTopic, CommitTeller } from '../adapters/nats/commit-teller.ts';
import { openNatsBus } from '../adapters/nats/nats-bus.ts';
import type { CommitFeed } from '../adapters/postgres/commit-feed.ts';
import type { Membership } from '../adapters/postgres/membership.ts';
import type { PostgresDatabase } from '../adapters/postgres/postgres-database.ts';
import type { PostgresStore } from '../adapters/postgres/postgres-store.ts';
import { PostgresTickets } from '../adapters/postgres/postgres-tickets.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import { parseNatsUrls } from '../config/nats-url.ts';
import { warnOfPlainNats } from '../startup/warn-of-plain-nats.ts';
import type { SharedStore } from './opened-store.ts';
import type { WiringContext } from './wiring-context.ts';

const unreachable = 'NATS cannot be reached: this gateway and the others hear each other late, by the database';

interface SharedParts {
  readonly onFatal: (error: Error) => void;
  readonly store: PostgresStore;
  readonly database: PostgresDatabase;
  readonly feed: CommitFeed;
  readonly membership: Membership;
}

/** Connects to the other gateways. What they tell is collected until somebody listens. */
export async function openBus(
  { config, logger, health, opened }: WiringContext,
  natsUrl: string,
  { store, database, feed, membership, onFatal }: SharedParts,
): Promise<SharedStore> {
  const urls = parseNatsUrls(natsUrl);
  warnOfPlainNats(urls, logger);
  health.set('nats', { status: 'failing', detail: unreachable });
  const connected = Promise.withResolvers<void>();
  const bus = openNatsBus({
    urls,
    credsFile: config.natsCreds,
    name: `reeve ${membership.slot}`,
    secret: await clusterSecret(database),
    onStatus: (status) => {
      if (status === 'connected') {
        health.ok('nats');
        logger.info('NATS is reached');
        connected.resolve();
        // What was told before is lost.
        shared.onCommits(false);
      } else {
        health.set('nats', { status: 'failing', detail: unreachable });
        logger.error(unreachable);
      }
    },
    onError: (error) => logger.warn({ err: error }, 'NATS reports a problem'),
  });
  const { elapsed } = systemClock;
  const teller = new CommitTeller({ bus, followedAt: () => feed.followedAt, elapsed });
  opened.defer(() => {
    teller.flush();
    return bus.close();
  }, 'the connection to NATS');
  const shared: SharedStore = {
    store,
    feed,
    bus,
    tell: (commit) => teller.tell(commit),
    tickets: new PostgresTickets(database),
    onCommits: () => undefined,
    onDiverged: (error) => {
      const cause = error instanceof Error ? error : new Error(String(error));
      onFatal(new Error('what another gateway has done cannot be followed; start this one again', { cause }));
    },
    connected: connected.promise,
  };
  bus.subscribe(commitsTopic, (payload) => {
    const commits = commitsOf(payload);
    const unknown = commits?.filter((commit) => !feed.receive(commit));
    shared.onCommits(unknown?.length === 0);
  });
  return shared;
}

/** What only the gateways on this database know. The first one makes it. */
async function clusterSecret(database: PostgresDatabase): Promise<Uint8Array> {
  const made = randomBytes(32).toString('base64');
  await database.run(`INSERT INTO meta (name, value) VALUES ('cluster_secret', ?) ON CONFLICT DO NOTHING`, made);
  const [row = {}] = await database.all(`SELECT value FROM meta WHERE name = 'cluster_secret'`);
  return Buffer.from(textIn(row, 'value'), 'base64');
}
