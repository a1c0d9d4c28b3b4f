import { randomUUID } from 'node:crypto';
import { installFirstKey, makeSigningKey } from '@reeve/core';
import manifest from '../../package.json' with { type: 'json' };
import { watchStore } from '../background/store-watch.ts';
import type { Config } from '../config/settings.ts';
import { readTls } from '../startup/read-tls.ts';
import { Health } from '../telemetry/health.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { startTracing } from '../telemetry/tracing.ts';
import type { DashboardSource } from '../transports/http/dashboard-files.ts';
import { followBackups } from './follow-backups.ts';
import { makeGrpcServer, roomsFor } from './grpc-server.ts';
import { limitsOf, makeHttpServer } from './http-server.ts';
import { openAnchor } from './open-anchor.ts';
import { openBackgroundWork } from './open-background-work.ts';
import { openEventStreams } from './open-event-streams.ts';
import { openForwarding } from './open-forwarding.ts';
import { openGovernance } from './open-governance.ts';
import { gatewaysOf, loadOf, observeCluster } from './cluster-view.ts';
import { openIdentity } from './open-identity.ts';
import { openIssuers } from './open-issuers.ts';
import { openLocalKeys } from './open-local-keys.ts';
import { openPolicies } from './open-policies.ts';
import type { Places } from './open-ports.ts';
import { openPorts } from './open-ports.ts';
import { recordRestoreOf } from './record-restore-of.ts';
import { openStore } from './open-store.ts';
import { waitForNats } from './wait-for-nats.ts';
import { Opened } from './opened.ts';
import type { WiringContext } from './wiring-context.ts';

export interface Gateway extends Places {
  /** The admin key, if this start has made one. Shown once. */
  readonly madeKey: string | undefined;
  /** Whether this machine's user can ask the running gateway for another one. */
  readonly hasKeySocket: boolean;
  /** Resolves with the reason if the gateway must not go on. */
  readonly failed: Promise<Error>;
  /** The part that is being closed. */
  readonly closing: string;
  /** Finishes the calls in flight, makes them durable and closes. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** The files served at `/`. */
  readonly dashboard?: DashboardSource | undefined;
  /** Whether to start although the audit log has lost anchored entries. */
  readonly acceptLostEntries?: boolean | undefined;
  /** Whether the store was restored by other means than `reeve backup restore`. */
  readonly isRestored?: boolean | undefined;
  /** Resolves if somebody wants the gateway to stop before it has started. */
  readonly stopRequested?: Promise<unknown> | undefined;
}

/**
 * Builds and starts the gateway: the table of contents of the wiring. Each step notes at once how to close what it
 * opens. So a start that fails half-way leaves nothing behind, and a stop closes in reverse order.
 */
export async function startGateway(
  config: Config,
  logger: Logger,
  withTracing: boolean,
  { dashboard, acceptLostEntries = false, isRestored = false, stopRequested }: StartOptions = {},
): Promise<Gateway> {
  await using opened = new Opened();
  const { version } = manifest;
  const health = new Health();
  const metrics = new Metrics();
  const context: WiringContext = { config, version, logger, health, metrics, opened };
  const failed = Promise.withResolvers<Error>();

  const issuers = await openIssuers(context);
  const stored = await openStore(context, failed.resolve, isRestored);
  const storeWatch = watchStore(stored.store, health, logger);
  opened.defer(storeWatch.stop, 'the watch over the store');
  // Readiness must not wait for somebody to try.
  stored.membership?.onLost(() => storeWatch.onCommit(new Error('the database cannot be reached')));
  const snapshot = await stored.store.load();
  const anchor = await openAnchor(context, stored, snapshot, acceptLostEntries);
  const startForwarding = await openForwarding(context, stored, snapshot.head);
  const governed = await openGovernance(context, stored, snapshot, storeWatch, issuers);
  const { gov } = governed;
  await anchor?.recordLoss(gov);
  metrics.observe(gov, stored);
  observeCluster(context, stored, gov);
  const { access } = governed;
  const identity = openIdentity(context, access, stored);
  // The first entry after those of the backup.
  await recordRestoreOf(snapshot, identity, logger);
  const evaluator = await openPolicies(context, gov);
  if (access.signingKeys.current === undefined) await makeSigningKey(access);
  anchor?.start(access, config.auditAnchorSecs * 1000);

  const tls = readTls(config);
  const tracing = withTracing ? await startTracing(version) : undefined;
  if (tracing !== undefined) opened.defer(() => tracing.stop(), 'tracing');
  const shared = { tls, tracing, limits: limitsOf(context), rooms: roomsFor(config) };
  const rpc = makeGrpcServer(context, { gov, identity, log: stored.reader, ...shared });
  const load = loadOf(gov);
  stored.membership?.report(load);
  const events = openEventStreams(context, governed.eventLog, identity, shared.rooms.unsent);
  let places: Places | undefined;
  const publicUrl = () => config.publicUrl ?? places?.http ?? '';
  const gateways = gatewaysOf(stored, gov, load, { id: randomUUID(), version, startedAt: Date.now() });
  const grpcPlace = () => places?.grpc ?? '';
  const onBackup = followBackups(context, gov, snapshot);
  const shown = { dashboard, publicUrl, grpcPlace };
  const parts = { gateways, stored, governed, identity, evaluator, events, onBackup, ...shared, ...shown };
  places = await openPorts(context, rpc, makeHttpServer(context, parts), async () => {
    await waitForNats(context, stored, stopRequested);
  });

  // Make the key only now: if the start failed later, nobody would have seen the key.
  const madeKey = await installFirstKey(access, config.bootstrapApiKey);
  const hasKeySocket = await openLocalKeys(context, stored.folder, access);
  const forwarding = startForwarding?.(gov);
  openBackgroundWork(context, stored, governed, identity, { publicUrl: publicUrl(), forwarding });
  opened.defer(() => health.drain(), 'open streams');
  health.onDrain(() => void stored.membership?.leave());
  storeWatch.started();
  stored.startUpkeep?.();
  const closing = opened.move();
  return {
    ...places,
    madeKey,
    hasKeySocket,
    failed: failed.promise,
    get closing() {
      return opened.closing;
    },
    stop: () => closing.disposeAsync(),
  };
}
