import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Access } from '@reeve/core';
import {
  Authenticator,
  authenticateTicket,
  EndedCredentials,
  findAccount,
  findLoginIn,
  installFirstKey,
  KeyRing,
  MemoryAccountStore,
  messageOf,
  redeemTicket,
  registrationState,
  rotateSigningKey,
  SigningKeyRing,
  system,
  TicketBooth,
} from '@reeve/core';
import manifest from '../package.json' with { type: 'json' };
import { JoseMint } from './adapters/crypto/jose-mint.ts';
import { randomness, sha256 } from './adapters/crypto/node-crypto.ts';
import { PasswordPool } from './adapters/crypto/password-pool.ts';
import { PolicyFiles } from './adapters/files/policy-files.ts';
import { makeMailer } from './adapters/mail/make-mailer.ts';
import { systemClock } from './adapters/system/system-clock.ts';
import { startApprovalWork } from './approvals.ts';
import type { Config } from './config/settings.ts';
import { startEvents } from './events.ts';
import { startEvaluator } from './evaluator.ts';
import { govern } from './govern.ts';
import { startHousekeeping } from './housekeeping.ts';
import { accountsOf, Afterwards, startPeopleWork } from './people.ts';
import { openStore } from './open-store.ts';
import { followPolicies } from './policies.ts';
import { StartError } from './start-error.ts';
import { watchStore } from './store-health.ts';
import { Health } from './telemetry/health.ts';
import type { Logger } from './telemetry/logger.ts';
import { Metrics } from './telemetry/metrics.ts';
import { startTracing, traced } from './telemetry/tracing.ts';
import { agentService } from './transports/grpc/agent-service.ts';
import { controlService } from './transports/grpc/control-service.ts';
import { GrpcJsServer } from './transports/grpc/grpc-js-server.ts';
import { healthService } from './transports/grpc/health-service.ts';
import { policyService } from './transports/grpc/policy-service.ts';
import { reflectionService } from './transports/grpc/reflection-service.ts';
import { mergeRoutes } from './transports/grpc/rpc.ts';
import { statusOf } from './transports/grpc/status.ts';
import { createHttpApp } from './transports/http/app.ts';
import { readDashboard } from './transports/http/dashboard-files.ts';
import { accountHandlers } from './transports/http/handlers/accounts.ts';
import { accessHandlers } from './transports/http/handlers/access.ts';
import { approvalHandlers } from './transports/http/handlers/approvals.ts';
import { budgetHandlers } from './transports/http/handlers/budgets.ts';
import { decisionHandlers } from './transports/http/handlers/decisions.ts';
import { logHandlers } from './transports/http/handlers/logs.ts';
import { eventHandlers } from './transports/http/handlers/events.ts';
import { opsHandlers } from './transports/http/handlers/ops.ts';
import { policyHandlers } from './transports/http/handlers/policies.ts';
import { policyTestHandlers } from './transports/http/handlers/policy-tests.ts';
import { serviceHandlers } from './transports/http/handlers/service.ts';
import { statsHandlers } from './transports/http/handlers/stats.ts';
import { tenancyHandlers } from './transports/http/handlers/tenancy.ts';
import { Limits } from './transports/http/limits.ts';

export interface Gateway {
  readonly http: string;
  readonly grpc: string;
  /** The admin key, where this start has made one. Shown once. */
  readonly madeKey: string | undefined;
  /** Settles where the gateway must not go on, with the reason. */
  readonly failed: Promise<Error>;
  /** Finishes what is in flight, makes it durable and closes. */
  stop(): Promise<void>;
}

/**
 * Builds the gateway and starts it. The only file that knows both transports and adapters. Whatever is opened is noted at once
 * with how to close it: a start that fails half-way leaves nothing behind, and a stop closes in reverse order.
 */
export async function startGateway(
  config: Config,
  logger: Logger,
  withTracing: boolean,
  dashboardFolder?: string,
): Promise<Gateway> {
  await using opened = new AsyncDisposableStack();
  const { version } = manifest;
  const failed = Promise.withResolvers<Error>();
  const { store, reader, opsLog, indexLag, neededFrom, accountStore, follow } = await openStore(
    config,
    logger,
    opened,
    failed.resolve,
  );
  const health = new Health();
  const metrics = new Metrics();
  const storeWatch = watchStore(store, health, logger);
  opened.defer(storeWatch.stop);
  const snapshot = await store.load();
  const {
    gov,
    events: bus,
    eventLog,
    books,
    tally,
  } = await govern(config, {
    store,
    opsLog,
    snapshot,
    clock: systemClock,
    randomness,
    sha256,
    onCommit: (error, seconds) => {
      metrics.committed(seconds, error !== undefined);
      storeWatch.onCommit(error);
    },
    onSubscriberError: (error) => logger.error({ err: error }, 'a subscriber of events failed'),
    onControlStep: (receipt, before) => metrics.controlled(receipt, before),
  });
  opened.defer(() => gov.journal.close());
  metrics.observe(gov, indexLag);
  const access: Access = {
    gov,
    keys: new KeyRing(systemClock, sha256, snapshot.apiKeys),
    signingKeys: new SigningKeyRing(snapshot.signingKeys),
    mint: new JoseMint(),
    tokenTtlMs: config.tokenTtlSecs * 1000,
    ended: new EndedCredentials(),
  };
  follow?.(access);
  const files = new PolicyFiles(config.policy ?? join(config.dataDir, 'policies'), config.policy === undefined);
  opened.defer(() => files.close());
  await followPolicies(gov, files, health, logger);
  const evaluator = startEvaluator(config, { gov, metrics, logger });
  opened.defer(() => evaluator.close());
  if (access.signingKeys.current === undefined) await rotateSigningKey(access, system);

  const tls = readTls(config);
  const hasAccounts = accountStore !== undefined;
  const hasher = new PasswordPool({ onFault: (why) => logger.warn({ why }, 'a thread for passwords has ended') });
  opened.defer(() => hasher.close());
  const accounts = accountsOf(config, {
    access,
    // Where there is none, the routes that would ask it answer 503 before they do.
    store: accountStore ?? new MemoryAccountStore(),
    hasher,
    onSessionEnd: (accountId) => access.ended.ended(accountId),
  });
  const afterwards = new Afterwards((error) => logger.error({ err: error }, 'work after an answer failed'));
  opened.defer(() => afterwards.settled());
  const authenticator = new Authenticator(access, findLoginIn(accounts.store, systemClock));
  const place = { http: '' };
  const publicUrl = () => config.publicUrl ?? place.http;
  const unforeseen = (error: unknown) => logger.error({ err: error }, 'a call failed unexpectedly');
  const tracing = withTracing ? await startTracing(version) : undefined;
  if (tracing !== undefined) opened.defer(() => tracing.stop());
  const governed = mergeRoutes(
    policyService(gov, { health, onAnswer: (answer) => metrics.decided(answer) }),
    controlService(gov, health),
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
  const tickets = new TicketBooth(systemClock, randomness);
  const events = startEvents({ eventLog, clock: systemClock, authenticator, ended: access.ended, health, metrics });
  opened.defer(events.stop);
  const app = createHttpApp({
    handlers: {
      ...serviceHandlers({
        health,
        signingKeys: access.signingKeys,
        metrics: () => metrics.text(),
        version,
        hasAccounts,
        registration: () => registrationState(accounts),
      }),
      ...accessHandlers({
        access,
        tickets,
        findAccount: (id) => findAccount(accounts, id),
      }),
      ...accountHandlers({ accounts, afterwards: (work) => afterwards.run(work) }),
      ...logHandlers(reader, () => gov.journal.head.seq),
      ...budgetHandlers({ gov, store, reader }),
      ...decisionHandlers({ gov, log: reader, evaluator, onError: unforeseen }),
      ...statsHandlers(tally, systemClock),
      ...policyHandlers(gov, evaluator),
      ...policyTestHandlers(evaluator),
      ...tenancyHandlers(gov),
      ...opsHandlers(gov),
      ...approvalHandlers(gov),
      ...eventHandlers(events),
    },
    authentication: {
      authenticate: (authorization) => authenticator.authenticate(authorization),
      authenticateKey: (authorization) => authenticator.authenticateKey(authorization),
      authenticateTicket: (ticket) => authenticateTicket(tickets, authenticator, ticket),
      redeemTicket: (ticket) => redeemTicket(tickets, ticket),
      onFailure: () => metrics.authFailed(),
      hasAccounts,
      publicOrigin: () => new URL(publicUrl()).origin,
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
    dashboard: dashboardFolder === undefined ? undefined : readDashboard(dashboardFolder),
    drainMs: config.drainSecs * 1000,
    onAnswer: (route, status, seconds) => metrics.answered(route, status, seconds),
  });
  opened.defer(async () => {
    await Promise.all([rpc.drain(config.drainSecs * 1000), app.close()]);
  });
  const grpcPort = await listening('gRPC', config.grpcAddr, '--grpc', ({ host, port }) => rpc.listen(host, port));
  place.http = await listening('HTTP', config.httpAddr, '--http', ({ host, port }) => app.listen({ host, port }));
  // Only now: a key that is made by a start that fails would be lost, having been shown to nobody.
  const madeKey = await installFirstKey(gov, access.keys, config.bootstrapApiKey);
  opened.defer(startHousekeeping(config, { access, books, store, reader, neededFrom, logger, metrics }));
  opened.defer(startApprovalWork(config, { gov, events: bus, metrics, logger }));
  if (hasAccounts) {
    opened.defer(startPeopleWork(accounts, { mailer: makeMailer(config, logger), publicUrl: publicUrl(), logger }));
  }
  opened.defer(() => health.drain());

  const closing = opened.move();
  return {
    http: place.http,
    grpc: at({ ...config.grpcAddr, port: grpcPort }),
    madeKey,
    failed: failed.promise,
    stop: () => closing.disposeAsync(),
  };
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
