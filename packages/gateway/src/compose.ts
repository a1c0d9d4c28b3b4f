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

interface OpenStore {
  readonly store: Store;
  close(): Promise<void>;
}

/** Builds the gateway and starts it. The only file that names concrete adapters. */
export async function startGateway(config: Config, logger: Logger): Promise<Gateway> {
  const { store, close } = openStore(config);
  const health = new Health();
  const storeWatch = watchStore(store, health, logger);
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
  const keys = new KeyRing(systemClock, sha256, snapshot.apiKeys);
  const files = new PolicyFiles(config.policy ?? join(config.dataDir, 'policies'), config.policy === undefined);
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
      statusOf(error, (unexpected) => logger.error({ err: unexpected }, 'a call failed unexpectedly')),
  });
  const app = createHttpApp({ health, logger, tls });
  const { host, port } = config.grpcAddr;
  const grpcPort = await listening(`gRPC on ${at(host, port)}`, '--grpc', () => rpc.listen(host, port));
  const http = await listening(`HTTP on ${at(config.httpAddr.host, config.httpAddr.port)}`, '--http', () =>
    app.listen({ host: config.httpAddr.host, port: config.httpAddr.port }),
  );
  const stopHousekeeping = startHousekeeping(gov, config);

  return {
    http,
    grpc: at(host, grpcPort),
    madeKey,
    stop: async () => {
      health.drain();
      files.close();
      stopHousekeeping();
      await Promise.all([rpc.drain(config.drainSecs * 1000), app.close()]);
      gov.journal.flush();
      storeWatch.stop();
      await close();
    },
  };
}

function openStore(config: Config): OpenStore {
  if (config.databaseUrl === 'memory:') {
    const store = new MemoryStore();
    return { store, close: () => store.close() };
  }
  const folder = takeDataFolder(config.dataDir);
  const path = join(folder.path, 'reeve.db');
  try {
    const store = new SqliteStore({ path, sync: config.auditSync });
    const stopCheckpoints = startCheckpointer(path);
    return {
      store,
      close: async () => {
        await stopCheckpoints();
        await store.close();
        folder.release();
      },
    };
  } catch (error) {
    folder.release();
    throw new StartError(`cannot open the store ${path}: ${messageOf(error)}`);
  }
}

function readTls(config: Config): { cert: Buffer; key: Buffer } | undefined {
  if (config.tlsCert === undefined || config.tlsKey === undefined) return undefined;
  return { cert: readFileSync(config.tlsCert), key: readFileSync(config.tlsKey) };
}

async function listening<Result>(what: string, option: string, listen: () => Promise<Result>): Promise<Result> {
  try {
    return await listen();
  } catch (error) {
    const detail = messageOf(error);
    const remedy = detail.includes('EADDRINUSE') ? `; the port is in use, choose another with ${option}` : '';
    throw new StartError(`cannot listen for ${what}: ${detail}${remedy}`);
  }
}

function at(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
