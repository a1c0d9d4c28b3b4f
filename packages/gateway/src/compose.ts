import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Access, AuditReader, Store } from '@reeve/core';
import {
  Authenticator,
  installFirstKey,
  KeyRing,
  MemoryStore,
  messageOf,
  rotateSigningKey,
  SigningKeyRing,
  system,
  TicketBooth,
} from '@reeve/core';
import manifest from '../package.json' with { type: 'json' };
import { JoseMint } from './adapters/crypto/jose-mint.ts';
import { randomness, sha256 } from './adapters/crypto/node-crypto.ts';
import { takeDataFolder } from './adapters/files/data-folder.ts';
import { PolicyFiles } from './adapters/files/policy-files.ts';
import { AuditReaderThread } from './adapters/sql/audit-reader-thread.ts';
import { SqliteStore } from './adapters/sql/sqlite-store.ts';
import { startCheckpointer } from './adapters/sql/wal-checkpointer.ts';
import { systemClock } from './adapters/system/system-clock.ts';
import type { Config } from './config/settings.ts';
import { govern } from './govern.ts';
import { startHousekeeping } from './housekeeping.ts';
import { followPolicies } from './policies.ts';
import { StartError } from './start-error.ts';
import { watchStore } from './store-health.ts';
import { Health } from './telemetry/health.ts';
import type { Logger } from './telemetry/logger.ts';
import { Metrics } from './telemetry/metrics.ts';
import { startTracing, traced } from './telemetry/tracing.ts';
import { agentService } from './transports/grpc/agent-service.ts';
import { GrpcJsServer } from './transports/grpc/grpc-js-server.ts';
import { healthService } from './transports/grpc/health-service.ts';
import { policyService } from './transports/grpc/policy-service.ts';
import { reflectionService } from './transports/grpc/reflection-service.ts';
import { mergeRoutes } from './transports/grpc/rpc.ts';
import { statusOf } from './transports/grpc/status.ts';
import { createHttpApp } from './transports/http/app.ts';
import { accessHandlers } from './transports/http/handlers/access.ts';
import { logHandlers } from './transports/http/handlers/logs.ts';
import { serviceHandlers } from './transports/http/handlers/service.ts';
import { tenancyHandlers } from './transports/http/handlers/tenancy.ts';
import { Limits } from './transports/http/limits.ts';

export interface Gateway {
  readonly http: string;
  readonly grpc: string;
  /** The admin key, where this start has made one. Shown once. */
  readonly madeKey: string | undefined;
  /** Finishes what is in flight, makes it durable and closes. */
  stop(): Promise<void>;
}

/**
 * Builds the gateway and starts it. The only file that names concrete adapters. Whatever is opened is noted at once
 * with how to close it: a start that fails half-way leaves nothing behind, and a stop closes in reverse order.
 */
export async function startGateway(config: Config, logger: Logger, withTracing: boolean): Promise<Gateway> {
  await using opened = new AsyncDisposableStack();
  const { version } = manifest;
  const { store, reader, indexLag } = openStore(config, opened);
  const health = new Health();
  const metrics = new Metrics();
  const storeWatch = watchStore(store, health, logger);
  opened.defer(storeWatch.stop);
  const snapshot = await store.load();
  const { gov } = await govern(config, {
    store,
    snapshot,
    clock: systemClock,
    randomness,
    sha256,
    onCommit: (error, seconds) => {
      metrics.committed(seconds, error !== undefined);
      storeWatch.onCommit(error);
    },
    onSubscriberError: (error) => logger.error({ err: error }, 'a subscriber of events failed'),
  });
  opened.defer(() => gov.journal.flush());
  metrics.observe(gov, indexLag);
  const access: Access = {
    gov,
    keys: new KeyRing(systemClock, sha256, snapshot.apiKeys),
    signingKeys: new SigningKeyRing(snapshot.signingKeys),
    mint: new JoseMint(),
    tokenTtlMs: config.tokenTtlSecs * 1000,
  };
  const files = new PolicyFiles(config.policy ?? join(config.dataDir, 'policies'), config.policy === undefined);
  opened.defer(() => files.close());
  await followPolicies(gov, files, health, logger);
  if (access.signingKeys.current === undefined) await rotateSigningKey(access, system);

  const tls = readTls(config);
  const authenticator = new Authenticator(access);
  const unforeseen = (error: unknown) => logger.error({ err: error }, 'a call failed unexpectedly');
  const tracing = withTracing ? await startTracing(version) : undefined;
  if (tracing !== undefined) opened.defer(() => tracing.stop());
  const governed = mergeRoutes(
    policyService(gov, { health, onAnswer: (answer) => metrics.decided(answer) }),
    agentService(gov, {
      authenticate: async (authorization) => {
        try {
          return await authenticator.authenticate(authorization);
        } catch (error) {
          metrics.authFailed();
          throw error;
        }
      },
      heartbeatIntervalSecs: config.heartbeatIntervalSecs,
    }),
  );
  const rpc = new GrpcJsServer({
    routes: mergeRoutes(
      tracing === undefined ? governed : traced(governed, tracing),
      healthService(health),
      reflectionService(health),
    ),
    tls,
    statusOf: (error) => statusOf(error, unforeseen),
  });
  const app = createHttpApp({
    handlers: {
      ...serviceHandlers({ health, signingKeys: access.signingKeys, metrics: () => metrics.text(), version }),
      ...accessHandlers(access, new TicketBooth(systemClock, randomness)),
      ...logHandlers(reader, () => gov.journal.head.seq),
      ...tenancyHandlers(gov),
    },
    authentication: {
      authenticate: (authorization) => authenticator.authenticate(authorization),
      authenticateKey: (authorization) => authenticator.authenticateKey(authorization),
      onFailure: () => metrics.authFailed(),
    },
    limits: new Limits({
      authPerMinute: config.rateLimitAuthPerMin,
      publicPerMinute: config.rateLimitPublicPerMin,
      apiPerMinute: config.rateLimitApiPerMin,
      elapsed: systemClock.elapsed,
      onLimited: (limit) => metrics.limited(limit),
    }),
    logger,
    tls,
    trustedProxies: config.trustedProxies ?? [],
    tracing,
    drainMs: config.drainSecs * 1000,
    onAnswer: (route, status, seconds) => metrics.answered(route, status, seconds),
  });
  opened.defer(async () => {
    await Promise.all([rpc.drain(config.drainSecs * 1000), app.close()]);
  });
  const grpcPort = await listening('gRPC', config.grpcAddr, '--grpc', ({ host, port }) => rpc.listen(host, port));
  const http = await listening('HTTP', config.httpAddr, '--http', ({ host, port }) => app.listen({ host, port }));
  // Only now: a key that is made by a start that fails would be lost, having been shown to nobody.
  const madeKey = await installFirstKey(gov, access.keys, config.bootstrapApiKey);
  opened.defer(startHousekeeping(config, { access, store, reader, logger }));
  opened.defer(() => health.drain());

  const closing = opened.move();
  return { http, grpc: at({ ...config.grpcAddr, port: grpcPort }), madeKey, stop: () => closing.disposeAsync() };
}

interface OpenStore {
  readonly store: Store;
  readonly reader: AuditReader;
  readonly indexLag: () => Promise<number>;
}

function openStore(config: Config, opened: AsyncDisposableStack): OpenStore {
  if (config.databaseUrl === 'memory:') {
    const memory = new MemoryStore();
    return { store: memory, reader: memory, indexLag: () => Promise.resolve(0) };
  }
  const folder = takeDataFolder(config.dataDir);
  opened.defer(() => folder.release());
  const path = join(folder.path, 'reeve.db');
  try {
    const store = new SqliteStore({ path, sync: config.auditSync });
    opened.defer(() => store.close());
    opened.defer(startCheckpointer(path));
    const reader = new AuditReaderThread(path, join(folder.path, 'audit-index.db'));
    opened.defer(() => reader.close());
    // Unknown is shown as unknown: the other metrics do not depend on the reader.
    return { store, reader, indexLag: () => reader.lag().catch(() => Number.NaN) };
  } catch (error) {
    throw new StartError(`cannot open the store ${path}: ${messageOf(error)}`);
  }
}

function readTls(config: Config): { cert: Buffer; key: Buffer } | undefined {
  if (config.tlsCert === undefined || config.tlsKey === undefined) return undefined;
  try {
    const tls = { cert: readFileSync(config.tlsCert), key: readFileSync(config.tlsKey) };
    createSecureContext(tls);
    return tls;
  } catch (error) {
    throw new StartError(`SVC_TLS_CERT, SVC_TLS_KEY: not a certificate and its key in PEM: ${messageOf(error)}`, 2);
  }
}

type Address = Config['httpAddr'];

async function listening<Bound>(
  what: string,
  address: Address,
  option: string,
  listen: (address: Address) => Promise<Bound>,
): Promise<Bound> {
  try {
    return await listen(address);
  } catch (error) {
    throw new StartError(
      `cannot listen for ${what} on ${at(address)}: ${messageOf(error)}; choose another with ${option}`,
    );
  }
}

function at({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
