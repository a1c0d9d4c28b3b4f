import { authenticateTicket, executorOf, findAccount, findApprover, recordBackup } from '@reeve/core';
import { redeemTicket, registrationState, signIns } from '@reeve/core';
import type { Rooms } from '@reeve/grpc-server';
import { openFlow, sealFlow } from '../adapters/crypto/sealed-flow.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import type { PolicyEvaluator } from '../evaluation/policy-evaluator.ts';
import type { readTls } from '../startup/read-tls.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { AllowedHosts } from '../transports/http/allowed-hosts.ts';
import type { HttpOptions } from '../transports/http/app.ts';
import { createHttpApp } from '../transports/http/app.ts';
import type { DashboardSource } from '../transports/http/dashboard-files.ts';
import { dashboardOf } from '../transports/http/dashboard-files.ts';
import { accessHandlers } from '../transports/http/handlers/access.ts';
import { accountHandlers } from '../transports/http/handlers/accounts.ts';
import { approvalLinkHandlers } from '../transports/http/handlers/approval-link.ts';
import { approvalHandlers } from '../transports/http/handlers/approvals.ts';
import { backupHandlers } from '../transports/http/handlers/backups.ts';
import { budgetHandlers } from '../transports/http/handlers/budgets.ts';
import { priceHandlers } from '../transports/http/handlers/prices.ts';
import { clusterHandlers } from '../transports/http/handlers/cluster.ts';
import { decisionHandlers } from '../transports/http/handlers/decisions.ts';
import type { EventPorts } from '../transports/http/handlers/events.ts';
import { eventHandlers } from '../transports/http/handlers/events.ts';
import { logHandlers } from '../transports/http/handlers/logs.ts';
import { opsHandlers } from '../transports/http/handlers/ops.ts';
import { runHandlers } from '../transports/http/handlers/runs.ts';
import { suspensionHandlers } from '../transports/http/handlers/suspensions.ts';
import { peopleHandlers } from '../transports/http/handlers/people.ts';
import { policyHandlers } from '../transports/http/handlers/policies.ts';
import { policyTestHandlers } from '../transports/http/handlers/policy-tests.ts';
import { serviceHandlers } from '../transports/http/handlers/service.ts';
import { signOnHandlers } from '../transports/http/handlers/sign-on.ts';
import { statsHandlers } from '../transports/http/handlers/stats.ts';
import { tenancyHandlers } from '../transports/http/handlers/tenancy.ts';
import { Limits } from '../transports/http/limits.ts';
import { approvalLinksOf } from './approval-webhook.ts';
import { grpcAddressFor } from './grpc-address.ts';
import type { gatewaysOf } from './cluster-view.ts';
import type { Governed } from './open-governance.ts';
import type { Identity } from './open-identity.ts';
import type { OpenStore } from './opened-store.ts';
import type { WiringContext } from './wiring-context.ts';
import { catchUp, logUnforeseen } from './wiring-context.ts';

export interface HttpParts {
  readonly gateways: ReturnType<typeof gatewaysOf>;
  readonly stored: OpenStore;
  readonly governed: Governed;
  readonly identity: Identity;
  readonly evaluator: PolicyEvaluator;
  readonly events: EventPorts;
  readonly tls: ReturnType<typeof readTls>;
  readonly tracing: Tracing | undefined;
  readonly limits: Limits;
  readonly rooms: Rooms;
  readonly onBackup: (at: number) => void;
  readonly dashboard: DashboardSource | undefined;
  /** Known once the server listens, unless it is configured. */
  readonly publicUrl: () => string;
  /** Where gRPC listens. Known once it does. */
  readonly grpcPlace: () => string;
}

/** The routes of the contract and the dashboard. The server does not listen yet. */
export function makeHttpServer(context: WiringContext, parts: HttpParts): ReturnType<typeof createHttpApp> {
  const { config, logger, metrics } = context;
  const { tls, tracing, dashboard } = parts;
  return createHttpApp({
    handlers: handlersOf(context, parts),
    authentication: authenticationOf(context, parts),
    limits: parts.limits,
    rooms: parts.rooms,
    logger,
    tls,
    trustedProxies: config.trustedProxies ?? [],
    hosts: new AllowedHosts({
      publicUrl: config.publicUrl,
      listeningOn: config.httpAddr.host,
      allowed: config.allowedHosts ?? [],
    }),
    tracing,
    dashboard: dashboard === undefined ? undefined : dashboardOf(dashboard()),
    drainMs: config.drainSecs * 1000,
    onAnswer: (route, status, seconds) => metrics.answered(route, status, seconds),
  });
}

/** The rate limits of both ports: a credential counts once, wherever it calls. */
export function limitsOf({ config, metrics }: WiringContext): Limits {
  return new Limits({
    authPerMinute: config.rateLimitAuthPerMin,
    publicPerMinute: config.rateLimitPublicPerMin,
    apiPerMinute: config.rateLimitApiPerMin,
    elapsed: systemClock.elapsed,
    onLimited: (limit) => metrics.limited(limit),
  });
}

function handlersOf(context: WiringContext, parts: HttpParts): HttpOptions['handlers'] {
  const { health, metrics, version } = context;
  const { identity, evaluator } = parts;
  const { store, reader, backup } = parts.stored;
  const { gov, tally } = parts.governed;
  const { access, accounts, provider, hasAccounts, tickets, afterwards } = identity;
  const publicUrl = () => parts.publicUrl().replace(/(?<!\/)\/+$/, '');
  const execute = executorOf(gov);
  const links = approvalLinksOf(context.config);
  return {
    ...serviceHandlers({
      health,
      signingKeys: access.signingKeys,
      metrics: () => metrics.text(),
      version,
      grpcAddress: (host) => grpcAddressFor(context.config, parts.grpcPlace(), host),
      hasTls: parts.tls !== undefined,
      hasAccounts,
      signIns: signIns.filter((way) => (way === 'oidc' ? provider !== undefined : accounts.settings.passwords)),
      registration: () => registrationState(accounts),
    }),
    ...accessHandlers({ access, tickets, findAccount: (id) => findAccount(accounts, id) }),
    ...accountHandlers({ accounts, provider, publicUrl, afterwards: (work) => afterwards.run(work) }),
    ...signOnHandlers({
      accounts,
      provider,
      publicUrl,
      randomness: access.randomness,
      seal: (text) => sealFlow(text, access.signingKeys),
      open: (sealed) => openFlow(sealed, access.signingKeys),
      now: systemClock.now,
      onOutcome: (outcome) => metrics.signedOn(outcome),
    }),
    ...logHandlers(reader, () => gov.journal.head.seq),
    ...peopleHandlers(reader, () => gov.journal.head.seq),
    ...budgetHandlers({ gov, store, reader }),
    ...priceHandlers(gov),
    ...decisionHandlers({ gov, log: reader, evaluator, onError: logUnforeseen(context) }),
    ...clusterHandlers(parts.gateways),
    ...backupHandlers(backup, (by, made) => recordBackup(access, by, made), parts.onBackup),
    ...statsHandlers(tally, systemClock),
    ...policyHandlers(gov, evaluator),
    ...policyTestHandlers(evaluator),
    ...tenancyHandlers(gov, execute),
    ...opsHandlers(gov, execute),
    ...runHandlers(gov, execute, reader),
    ...suspensionHandlers(gov, execute),
    ...approvalHandlers(gov, execute),
    ...approvalLinkHandlers({
      approvals: gov,
      execute,
      read: (token) => links?.read(token),
      approver: (expiresAt) => findApprover(accounts, context.config.approvalWebhookApprover ?? '', expiresAt),
    }),
    ...eventHandlers(parts.events),
  };
}

function authenticationOf(
  { metrics }: WiringContext,
  { identity: { authenticator, tickets, hasAccounts }, governed, publicUrl }: HttpParts,
): HttpOptions['authentication'] {
  return {
    catchUp: () => catchUp(governed.gov),
    authenticate: (authorization) => authenticator.authenticate(authorization),
    authenticateKey: (authorization) => authenticator.authenticateKey(authorization),
    authenticateTicket: (ticket) => authenticateTicket(tickets, authenticator, ticket),
    redeemTicket: (ticket) => redeemTicket(tickets, ticket),
    onFailure: () => metrics.authFailed(),
    hasAccounts,
    publicOrigin: () => new URL(publicUrl()).origin,
  };
}
