import { forwardHeaders, parseForwardTargets } from './forward-target.ts';
import {
  address,
  anyText,
  apiKey,
  baseUrl,
  choice,
  database,
  email,
  flag,
  hosts,
  longSecret,
  nats,
  onlyClearYes,
  path,
  policyPath,
  proxies,
  reachable,
  seconds,
  usdAboveZero,
  webhookUrl,
  wholeNumber,
} from './parsers.ts';
import { issuerSettings } from './issuer-settings.ts';
import { oidcSettings } from './oidc-settings.ts';
import type { Setting } from './setting.ts';
import { optional, required } from './setting.ts';

/** Every setting of the gateway: the one source of reading, checking, `--help` and the reference docs. */
export const settings = {
  httpAddr: required('http_addr', '127.0.0.1:8080', address, 'The HTTP API. Port 0 picks a free one.', {
    flag: '--http',
  }),
  grpcAddr: required('grpc_addr', '127.0.0.1:50051', address, 'gRPC. Port 0 picks a free one.', { flag: '--grpc' }),
  dataDir: required('data_dir', '~/.reeve/gateway', path, 'Embedded store and keys. Created with mode 0700.', {
    flag: '--data',
  }),
  databaseUrl: optional(
    'database_url',
    database,
    'Unset: embedded store in the data folder. "memory:": nothing is durable. "postgres://…": PostgreSQL, which several gateways can share.',
    { flag: '--database', secret: true },
  ),
  natsUrl: optional(
    'nats_url',
    nats,
    'NATS, which lets several gateways on one PostgreSQL act as one: nats:// or tls://, several separated by commas, with user:password@ or token@ before the host if need be.',
    { secret: true },
  ),
  natsCreds: optional('nats_creds', path, 'A credentials file (JWT and seed) for NATS, in place of those in the URL.'),
  takeoverSecs: required(
    'takeover_secs',
    '10',
    wholeNumber(2, 3600),
    'With NATS: how long a gateway must be silent until it counts as lost and another does its work.',
  ),
  policy: optional('policy', policyPath, 'A YAML file with one or many policy documents, or a folder of them.', {
    flag: '--policy',
    defaultNote: '<data>/policies',
  }),
  ...issuerSettings,
  bootstrapApiKey: optional(
    'bootstrap_api_key',
    apiKey,
    'Installs this API key with all scopes if it is not known yet. Unset and no key exists: one admin key is made and printed once.',
    { secret: true },
  ),
  publicUrl: optional(
    'public_url',
    baseUrl,
    'Where people reach the gateway: links in mail start with it, and it is the allowed browser origin.',
    { defaultNote: 'from the HTTP address' },
  ),
  publicGrpcAddr: optional(
    'public_grpc_addr',
    reachable,
    'Where agents reach the gateway, as host:port: the dashboard shows it to people who connect agents.',
    { defaultNote: 'from the gRPC address' },
  ),
  tlsCert: optional('tls_cert', path, 'PEM file with the certificate chain: TLS on both ports. Needs SVC_TLS_KEY.'),
  tlsKey: optional('tls_key', path, 'PEM file with the private key. Needs SVC_TLS_CERT.'),
  logLevel: required(
    'log_level',
    'info',
    choice('fatal', 'error', 'warn', 'info', 'debug', 'trace'),
    'Logs go to stderr: JSON, or readable on a terminal.',
  ),

  opsTtlSecs: required('ops_ttl_secs', '60', seconds, 'How long completing and terminated operations stay listed.'),
  opsSweepTickSecs: required('ops_sweep_tick_secs', '10', seconds, 'How often they are swept.'),
  opsStaleSecs: required(
    'ops_stale_secs',
    '90',
    seconds,
    'A running operation is shown as stale when its agent is silent for this long.',
  ),
  runTtlSecs: required('run_ttl_secs', '2592000', seconds, 'How long a run is known in which nothing happens.'),
  opsPendingTtlSecs: required(
    'ops_pending_ttl_secs',
    '3600',
    seconds,
    'An operation that was registered over HTTP is terminated if no check comes for this long.',
  ),
  reservationLeaseSecs: required(
    'reservation_lease_secs',
    '3600',
    wholeNumber(0, 31_536_000),
    'The lease of reservations: they are released when the agent is silent for this long; 0 is off.',
  ),
  maxActionCostMicros: required(
    'max_action_cost_usd',
    '1000',
    usdAboveZero,
    'The most that one action may cost, by estimate or in fact, in US dollars.',
  ),
  maxAgentsPerOrg: required(
    'max_agents_per_org',
    '10000',
    wholeNumber(1, 1e7),
    'How many agents an org may have. More are refused; those of before stay.',
  ),
  maxAgentMibPerOrg: required(
    'max_agent_mib_per_org',
    '64',
    wholeNumber(1, 65_536),
    'How many MiB the names, metadata and tools of all agents of an org may take.',
  ),
  opsDurable: required('ops_durable', 'true', flag, 'Operations in flight survive a restart.'),
  auditSync: required(
    'audit_sync',
    'process',
    choice('process', 'power'),
    'An answer leaves once its audit entry survives a crash of the process, or a power failure.',
  ),
  auditRetainDays: required(
    'audit_retain_days',
    '0',
    wholeNumber(0, 36_500),
    'Retention removes older audit entries behind a signed cut; 0 keeps all.',
  ),
  auditRetainEntries: required(
    'audit_retain_entries',
    '0',
    wholeNumber(0, 1e12),
    'Retention keeps this many of the newest audit entries, behind a signed cut; 0 keeps all.',
  ),
  auditAnchor: optional(
    'audit_anchor',
    path,
    'The gateway appends the newest entry of the audit log to this file, signed. The next start then notices lost entries. Keep it on another machine or an append-only medium.',
  ),
  auditAnchorSecs: required('audit_anchor_secs', '60', seconds, 'How often it appends, if the log has moved.'),
  heartbeatIntervalSecs: required(
    'heartbeat_interval_secs',
    '30',
    wholeNumber(1, 86_400),
    'How often agents are asked to send a heartbeat.',
  ),
  drainSecs: required('drain_secs', '10', seconds, 'How long SIGTERM waits for calls in flight.'),

  accessTokenTtlSecs: required('access_token_ttl_secs', '900', seconds, 'Life of an access token of an account.'),
  tokenTtlSecs: required('token_ttl_secs', '86400', seconds, 'Life of a JWT from the token exchange.'),
  refreshTtlSecs: required('refresh_ttl_secs', '43200', seconds, 'Life of a refresh session.'),
  refreshTtlRememberSecs: required('refresh_ttl_remember_secs', '2592000', seconds, 'The same with remember_me.'),
  inviteTtlSecs: required('invite_ttl_secs', '604800', seconds, 'Life of an invite.'),
  resetTtlSecs: required('reset_ttl_secs', '3600', seconds, 'Life of a password reset token.'),
  lockoutAttempts: required('lockout_attempts', '5', wholeNumber(1, 1000), 'Failed logins before an account locks.'),
  lockoutSecs: required('lockout_secs', '900', seconds, 'How long it stays locked.'),
  controlAckSecs: required('control_ack_secs', '10', seconds, 'How long an agent may take to acknowledge a control.'),
  controlStrict: required('control_strict', 'false', flag, 'Agents without a control stream must acknowledge, too.'),
  approvalTtlSecs: required(
    'approval_ttl_secs',
    '300',
    seconds,
    'How long an action may wait for an approval, unless its rule says otherwise.',
  ),
  approvalWebhookUrl: optional(
    'approval_webhook_url',
    webhookUrl,
    'Gets a message for every approval that is requested or decided. Needs SVC_APPROVAL_WEBHOOK_SECRET.',
    { secret: true },
  ),
  approvalWebhookSecret: optional(
    'approval_webhook_secret',
    longSecret,
    'Signs the messages: at least 16 characters. Needs SVC_APPROVAL_WEBHOOK_URL.',
    { secret: true },
  ),
  approvalWebhookFormat: required(
    'approval_webhook_format',
    'json',
    choice('json', 'slack', 'teams'),
    'The form of the messages: the approval as JSON, or a message for Slack or Teams with a button that leads to the dashboard.',
  ),
  approvalWebhookApprover: optional(
    'approval_webhook_approver',
    email,
    'The email of an account: whoever reads the messages decides in its name, by links in them. Only for a webhook that leads to this person alone.',
  ),
  forward: optional(
    'forward',
    parseForwardTargets,
    'Forwards the audit log, in order and at least once; several separated by commas: otlp:URL (OpenTelemetry logs over HTTP), syslog+tcp://host:port, syslog+tls://host:port, https://… (signed JSON lines), file:PATH. A new target begins with what comes next, or with the whole log if it ends in #from=start.',
    { secret: true },
  ),
  forwardSecret: optional(
    'forward_secret',
    longSecret,
    'Signs what is forwarded to https://…: at least 16 characters.',
    { secret: true },
  ),
  forwardCa: optional(
    'forward_ca',
    path,
    'PEM file with the certificates of the authorities that targets of SVC_FORWARD are verified by, in place of the usual ones.',
  ),
  forwardOtlpHeaders: optional(
    'forward_otlp_headers',
    forwardHeaders,
    'Headers for the otlp: targets of SVC_FORWARD, as in api-key=…, x-team=ops.',
    { secret: true },
  ),
  evaluationSecs: required(
    'evaluation_secs',
    '5',
    seconds,
    'How long evaluating a text that a caller sends (validate, simulate, test, backtest, explain, put) may compute.',
  ),
  authOpenRegistration: required(
    'auth_open_registration',
    'false',
    onlyClearYes,
    'Lets anybody register an account: 1, true or yes.',
  ),
  ...oidcSettings,
  rateLimitAuthPerMin: required(
    'rate_limit_auth_per_min',
    '30',
    wholeNumber(0, 1e9),
    'Login and the like, per address; 0 is off.',
  ),
  rateLimitPublicPerMin: required(
    'rate_limit_public_per_min',
    '600',
    wholeNumber(0, 1e9),
    'Other public routes, per address; 0 is off.',
  ),
  rateLimitApiPerMin: required(
    'rate_limit_api_per_min',
    '6000',
    wholeNumber(0, 1e9),
    'Other routes, and calls over gRPC with a key or a JWT, per credential; 0 is off.',
  ),
  trustedProxies: optional(
    'trusted_proxies',
    proxies,
    'Addresses or networks, separated by commas, whose forwarded-for headers count.',
  ),
  allowedHosts: optional(
    'allowed_hosts',
    hosts,
    'More host names to answer for, separated by commas. "*.example.com" is every name below it, "*" is any. The host of the public URL, the listening address and loopback are always allowed.',
  ),
  // Wrong values of these stop no start: whoever builds the relay from them warns of them.
  smtpHost: optional(
    'smtp_host',
    anyText,
    'Mail relay; its presence switches on delivery. Without it letters are not sent, and only recipient and subject are logged.',
  ),
  smtpPort: required('smtp_port', '587', anyText, 'Submission port with STARTTLS; 465 is TLS from the start.'),
  smtpUser: optional('smtp_user', anyText, 'User name; leave it out for a relay without authentication.'),
  smtpPass: optional('smtp_pass', anyText, 'Password. Needs SVC_SMTP_USER.', { secret: true }),
  smtpFrom: optional(
    'smtp_from',
    anyText,
    'Sender of mail, as in Reeve <no-reply@example.com>. In production: an address that the relay may send from.',
    { defaultNote: 'Reeve <no-reply@localhost>' },
  ),
  smtpTls: optional(
    'smtp_tls',
    anyText,
    'required: STARTTLS with a verified certificate, or nothing is sent. opportunistic: STARTTLS if it is offered, with any certificate. off: never.',
    { defaultNote: 'required; opportunistic on loopback' },
  ),
} as const satisfies Record<string, Setting<unknown>>;

/** Settings that are no more, by their key, and what holds now. */
export const removedSettings: ReadonlyMap<string, string> = new Map([
  ['grpc_engine', 'the gateway serves gRPC by its own engine alone'],
]);

export type Config = { readonly [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]['parse']> };

export function variableOf(setting: Setting<unknown>): string {
  return `SVC_${setting.key.toUpperCase()}`;
}
