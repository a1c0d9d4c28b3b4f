import { join } from 'node:path';
import type { AccountsAccess } from '@reeve/core';
import {
  Authenticator,
  authenticateTicket,
  EndedCredentials,
  findAccount,
  findLoginIn,
  findRolesIn,
  installFirstKey,
  MemoryAccountStore,
  redeemTicket,
  registrationState,
  rotateSigningKey,
  SigningKeyRing,
  system,
  TicketBooth,
} from '@reeve/core';
import manifest from '../../package.json' with { type: 'json' };
import { JoseMint } from '../adapters/crypto/jose-mint.ts';
import { randomness, sha256 } from '../adapters/crypto/node-crypto.ts';
import { PasswordPool } from '../adapters/crypto/password-pool.ts';
import { PolicyFiles } from '../adapters/files/policy-files.ts';
import { makeMailer } from '../adapters/mail/make-mailer.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import { openAnchor } from '../background/anchor-keeper.ts';
import { startApprovalWork } from '../background/approval-work.ts';
import type { Config } from '../config/settings.ts';
import { startEvents } from './open-event-streams.ts';
import { startEvaluator } from './open-policies.ts';
import { govern } from './open-governance.ts';
import { startHousekeeping } from '../background/housekeeping.ts';
import { listening, placeText } from './open-ports.ts';
import { accountsOf, Afterwards, startPeopleWork } from '../background/account-work.ts';
import { openStore } from './open-store.ts';
import { Opened } from './opened.ts';
import { followPolicies } from '../background/follow-policy-files.ts';
import { readTls } from '../startup/read-tls.ts';
import { watchStore } from '../background/store-watch.ts';
import { Health } from '../telemetry/health.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { startTracing, traced } from '../telemetry/tracing.ts';
import { agentService } from '../transports/grpc/agent-service.ts';
import { controlService } from '../transports/grpc/control-service.ts';
import { GrpcJsServer } from '../transports/grpc/grpc-js-server.ts';
import { healthService } from '../transports/grpc/health-service.ts';
import { policyService } from '../transports/grpc/policy-service.ts';
import { reflectionService } from '../transports/grpc/reflection-service.ts';
import { mergeRoutes } from '../transports/grpc/rpc.ts';
import { statusOf } from '../transports/grpc/status.ts';
import { AllowedHosts } from '../transports/http/allowed-hosts.ts';
import { createHttpApp } from '../transports/http/app.ts';
import { readDashboard } from '../transports/http/dashboard-files.ts';
import { accountHandlers } from '../transports/http/handlers/accounts.ts';
import { accessHandlers } from '../transports/http/handlers/access.ts';
import { approvalHandlers } from '../transports/http/handlers/approvals.ts';
import { budgetHandlers } from '../transports/http/handlers/budgets.ts';
import { decisionHandlers } from '../transports/http/handlers/decisions.ts';
import { logHandlers } from '../transports/http/handlers/logs.ts';
import { eventHandlers } from '../transports/http/handlers/events.ts';
import { opsHandlers } from '../transports/http/handlers/ops.ts';
import { policyHandlers } from '../transports/http/handlers/policies.ts';
import { policyTestHandlers } from '../transports/http/handlers/policy-tests.ts';
import { serviceHandlers } from '../transports/http/handlers/service.ts';
import { statsHandlers } from '../transports/http/handlers/stats.ts';
import { tenancyHandlers } from '../transports/http/handlers/tenancy.ts';
import { Limits } from '../transports/http/limits.ts';

export interface Gateway {
  readonly http: string;
  readonly grpc: string;
  /** The admin key, where this start has made one. Shown once. */
  readonly madeKey: string | undefined;
  /** Settles where the gateway must not go on, with the reason. */
  readonly failed: Promise<Error>;
  /** Which part is being closed. */
  readonly closing: string;
  /** Finishes what is in flight, makes it durable and closes. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** What is served at `/`. */
  readonly dashboardFolder?: string | undefined;
  /** Whether to start although the audit log has lost what was anchored. */
  readonly acceptLostEntries?: boolean | undefined;
}

/**
 * Builds the gateway and starts it. The only file that knows both transports and adapters. Whatever is opened is noted at once
 * with how to close it: a start that fails half-way leaves nothing behind, and a stop closes in reverse order.
 */
export async function startGateway(
  config: Config,
  logger: Logger,
  withTracing: boolean,
  { dashboardFolder, acceptLostEntries = false }: StartOptions = {},
): Promise<Gateway> {
  await using opened = new Opened();
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
  opened.defer(storeWatch.stop, 'the watch over the store');
  const snapshot = await store.load();
  const ports = { clock: systemClock, health, logger };
  const anchor = await openAnchor(config, { store, reader, snapshot, acceptLoss: acceptLostEntries }, ports);
  opened.defer(() => anchor?.stop(), 'the audit anchor');
  const {
    gov,
    events: bus,
    eventLog,
    balances,
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
  opened.defer(() => gov.journal.close(), 'the journal');
  await anchor?.recordLoss(gov);
  metrics.observe(gov, indexLag);
  const access: AccountsAccess = {
    clock: systemClock,
    randomness,
    sha256,
    journal: gov.journal,
    keys: gov.keys,
    signingKeys: new SigningKeyRing(snapshot.signingKeys),
    mint: new JoseMint(),
    tokenTtlMs: config.tokenTtlSecs * 1000,
    ended: new EndedCredentials(),
  };
  follow?.({ ...access, gov, journal: gov.journal });
  const files = new PolicyFiles(config.policy ?? join(config.dataDir, 'policies'), config.policy === undefined);
  opened.defer(() => files.close(), 'the watch over policy files');
  await followPolicies(gov, files, health, logger);
  const evaluator = startEvaluator(config, { gov, metrics, logger });
  opened.defer(() => evaluator.close(), 'evaluations');
  if (access.signingKeys.current === undefined) await rotateSigningKey(access, system);
  anchor?.start(access, config.auditAnchorSecs * 1000);

  const tls = readTls(config);
  const hasAccounts = accountStore !== undefined;
  const hasher = new PasswordPool({ onFault: (why) => logger.warn({ why }, 'a thread for passwords has ended') });
  opened.defer(() => hasher.close(), 'the threads for passwords');
  const accounts = accountsOf(config, {
    access,
    // Where there is none, the routes that would ask it answer 503 before they do.
    store: accountStore ?? new MemoryAccountStore(),
    hasher,
    onSessionEnd: (accountId) => access.ended.ended(accountId),
  });
  const afterwards = new Afterwards((error) => logger.error({ err: error }, 'work after an answer failed'));
  opened.defer(() => afterwards.settled(), 'work after answers');
  const authenticator = new Authenticator(access, {
    findLogin: findLoginIn(accounts.store, systemClock),
    findRoles: findRolesIn(accounts.store),
  });
  const place = { http: '' };
  const publicUrl = () => config.publicUrl ?? place.http;
  const unforeseen = (error: unknown) => logger.error({ err: error }, 'a call failed unexpectedly');
  const tracing = withTracing ? await startTracing(version) : undefined;
  if (tracing !== undefined) opened.defer(() => tracing.stop(), 'tracing');
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
  opened.defer(events.stop, 'event streams');
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
    hosts: new AllowedHosts({
      publicUrl: config.publicUrl,
      listeningOn: config.httpAddr.host,
      allowed: config.allowedHosts ?? [],
    }),
    tracing,
    dashboard: dashboardFolder === undefined ? undefined : readDashboard(dashboardFolder),
    drainMs: config.drainSecs * 1000,
    onAnswer: (route, status, seconds) => metrics.answered(route, status, seconds),
  });
  opened.defer(async () => {
    await Promise.all([rpc.drain(config.drainSecs * 1000), app.close()]);
  }, 'calls in flight');
  const grpcPort = await listening('gRPC', config.grpcAddr, '--grpc', ({ host, port }) => rpc.listen(host, port));
  place.http = await listening('HTTP', config.httpAddr, '--http', ({ host, port }) => app.listen({ host, port }));
  // Only now: a key that is made by a start that fails would be lost, having been shown to nobody.
  const madeKey = await installFirstKey(access, config.bootstrapApiKey);
  opened.defer(
    startHousekeeping(config, { gov, access, balances, store, reader, neededFrom, logger, metrics }),
    'housekeeping',
  );
  opened.defer(startApprovalWork(config, { gov, events: bus, metrics, logger }), 'work on approvals');
  if (hasAccounts) {
    const mailer = makeMailer(config, logger);
    const work = { mailer, publicUrl: publicUrl(), drainMs: config.drainSecs * 1000, logger };
    opened.defer(startPeopleWork(accounts, work), 'letters');
  }
  opened.defer(() => health.drain(), 'open streams');
  storeWatch.started();

  const closing = opened.move();
  return {
    http: place.http,
    grpc: placeText({ ...config.grpcAddr, port: grpcPort }),
    madeKey,
    failed: failed.promise,
    get closing() {
      return opened.closing;
    },
    stop: () => closing.disposeAsync(),
  };
}
