import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '@reeve/core';
import { installFirstKey, KeyRing, MemoryStore, messageOf } from '@reeve/core';
import { randomness, sha256 } from './adapters/crypto/node-crypto.ts';
import { takeDataFolder } from './adapters/files/data-folder.ts';
import { PolicyFiles } from './adapters/files/policy-files.ts';
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
import { agentService } from './transports/grpc/agent-service.ts';
import { GrpcJsServer } from './transports/grpc/grpc-js-server.ts';
import { healthService } from './transports/grpc/health-service.ts';
import { policyService } from './transports/grpc/policy-service.ts';
import { reflectionService } from './transports/grpc/reflection-service.ts';
import { mergeRoutes } from './transports/grpc/rpc.ts';
import { statusOf } from './transports/grpc/status.ts';
import { createHttpApp } from './transports/http/app.ts';

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
export async function startGateway(config: Config, logger: Logger): Promise<Gateway> {
  await using opened = new AsyncDisposableStack();
  const store = openStore(config, opened);
  const health = new Health();
  const storeWatch = watchStore(store, health, logger);
  opened.defer(storeWatch.stop);
  const snapshot = await store.load();
  const { gov } = await govern(config, {
    store,
    snapshot,
    clock: systemClock,
    randomness,
    sha256,
    onCommit: storeWatch.onCommit,
    onSubscriberError: (error) => logger.error({ err: error }, 'a subscriber of events failed'),
  });
  opened.defer(() => gov.journal.flush());
  const keys = new KeyRing(systemClock, sha256, snapshot.apiKeys);
  const files = new PolicyFiles(config.policy ?? join(config.dataDir, 'policies'), config.policy === undefined);
  opened.defer(() => files.close());
  await followPolicies(gov, files, health, logger);
  const madeKey = await installFirstKey(gov, keys, config.bootstrapApiKey);

  const tls = readTls(config);
  const rpc = new GrpcJsServer({
    routes: mergeRoutes(
      policyService(gov, health),
      agentService(gov, {
        authenticate: (authorization) => keys.authenticate(authorization),
        heartbeatIntervalSecs: config.heartbeatIntervalSecs,
      }),
      healthService(health),
      reflectionService(),
    ),
    tls,
    statusOf: (error) =>
      statusOf(error, (unforeseen) => logger.error({ err: unforeseen }, 'a call failed unexpectedly')),
  });
  const app = createHttpApp({ health, logger, tls });
  opened.defer(async () => {
    await Promise.all([rpc.drain(config.drainSecs * 1000), app.close()]);
  });
  const grpcPort = await listening('gRPC', config.grpcAddr, '--grpc', ({ host, port }) => rpc.listen(host, port));
  const http = await listening('HTTP', config.httpAddr, '--http', ({ host, port }) => app.listen({ host, port }));
  opened.defer(startHousekeeping(gov, config));
  opened.defer(() => health.drain());

  const closing = opened.move();
  return { http, grpc: at({ ...config.grpcAddr, port: grpcPort }), madeKey, stop: () => closing.disposeAsync() };
}

function openStore(config: Config, opened: AsyncDisposableStack): Store {
  if (config.databaseUrl === 'memory:') return new MemoryStore();
  const folder = takeDataFolder(config.dataDir);
  opened.defer(() => folder.release());
  const path = join(folder.path, 'reeve.db');
  try {
    const store = new SqliteStore({ path, sync: config.auditSync });
    opened.defer(() => store.close());
    opened.defer(startCheckpointer(path));
    return store;
  } catch (error) {
    throw new StartError(`cannot open the store ${path}: ${messageOf(error)}`);
  }
}

function readTls(config: Config): { cert: Buffer; key: Buffer } | undefined {
  if (config.tlsCert === undefined || config.tlsKey === undefined) return undefined;
  return { cert: readFileSync(config.tlsCert), key: readFileSync(config.tlsKey) };
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
