import { existsSync, readFileSync } from 'node:fs';
import { messageOf } from '@reeve/core';
import { parse as parseYaml } from 'yaml';
import { StartError } from '../start-error.ts';
import { credentialsOf, parseNatsUrls } from './nats-url.ts';
import type { Setting } from './setting.ts';
import type { Config } from './settings.ts';
import { removedSettings, settings, variableOf } from './settings.ts';

export interface ConfigSources {
  /** By the name of the option, as in `--http`. */
  readonly flags: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file given by `--config`. */
  readonly file?: string;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Whether the standard OpenTelemetry variables ask for an export of traces. */
  readonly tracing: boolean;
}

/** Reads the configuration: flag before environment before file before default. Nothing else reads the environment. */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const file = sources.file === undefined ? {} : readConfigFile(sources.file);
  refuseUnknownVariables(sources.env);
  const config: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries<Setting<unknown>>(settings)) {
    const given = find(setting, sources, file);
    const text = given?.text ?? setting.default;
    config[name] = text === undefined ? undefined : parse(setting, given?.from ?? 'default', text);
  }
  const complete = config as Config;
  refuseContradictions(complete);
  return { config: complete, tracing: wantsTracing(sources.env) };
}

/** The OpenTelemetry SDK reads the other OTEL_ variables. */
function wantsTracing(env: ConfigSources['env']): boolean {
  const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '';
  const disabled = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none';
  return !disabled && (endpoint !== '' || env['OTEL_TRACES_EXPORTER'] === 'otlp');
}

interface Given {
  readonly from: string;
  readonly text: string;
}

function find(
  setting: Setting<unknown>,
  sources: ConfigSources,
  file: Readonly<Record<string, string>>,
): Given | undefined {
  const flagged = setting.flag === undefined ? undefined : sources.flags[setting.flag];
  if (flagged !== undefined) return { from: setting.flag ?? '', text: flagged };
  const variable = variableOf(setting);
  const inEnvironment = sources.env[variable];
  if (inEnvironment !== undefined && inEnvironment !== '') return { from: variable, text: inEnvironment };
  const inFile = file[setting.key];
  return inFile === undefined ? undefined : { from: `${setting.key} in ${sources.file}`, text: inFile };
}

function parse(setting: Setting<unknown>, from: string, text: string): unknown {
  try {
    return setting.parse(text);
  } catch (error) {
    const accepted = messageOf(error);
    const value = setting.secret === true ? 'the value given' : `"${text}"`;
    throw new StartError(`${from}: ${value} is not accepted; accepted: ${accepted}`, 2);
  }
}

function readConfigFile(file: string): Record<string, string> {
  let content: unknown;
  try {
    content = parseYaml(readFileSync(file, 'utf8'));
  } catch (error) {
    const [first = ''] = messageOf(error).split('\n');
    throw new StartError(`--config: cannot read ${file}: ${first}`, 2);
  }
  if (content === null || content === undefined) return {};
  if (typeof content !== 'object' || Array.isArray(content)) {
    throw new StartError(`--config: ${file} must be a mapping of settings, as in "http_addr: 127.0.0.1:8080"`, 2);
  }
  const known = new Set(Object.values<Setting<unknown>>(settings).map((setting) => setting.key));
  const result: Record<string, string> = {};
  for (const [key, value] of Object.entries(content)) {
    if (!known.has(key)) {
      refuseRemoved(key, `${key} in ${file}`);
      throw new StartError(`unknown setting "${key}" in ${file}${suggestion(key, known)}`, 2);
    }
    if (typeof value === 'object')
      throw new StartError(`${key} in ${file}: must be one value, not a list or mapping`, 2);
    result[key] = String(value);
  }
  return result;
}

function refuseUnknownVariables(env: ConfigSources['env']): void {
  const known = new Set(Object.values<Setting<unknown>>(settings).map(variableOf));
  for (const name of Object.keys(env)) {
    if (!name.startsWith('SVC_') || known.has(name)) continue;
    refuseRemoved(name.slice('SVC_'.length).toLowerCase(), name);
    throw new StartError(`unknown setting ${name} in the environment${suggestion(name, known)}`, 2);
  }
}

/** Whoever upgrades is told what holds now, in place of a guess at another name. */
function refuseRemoved(key: string, given: string): void {
  const now = removedSettings.get(key);
  if (now !== undefined) throw new StartError(`${given} was removed: ${now}; leave the setting out`, 2);
}

function refuseContradictions(config: Config): void {
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined)) {
    const [given, missing] =
      config.tlsCert === undefined ? ['SVC_TLS_KEY', 'SVC_TLS_CERT'] : ['SVC_TLS_CERT', 'SVC_TLS_KEY'];
    throw new StartError(`${given} is set and ${missing} is not; TLS needs both`, 2);
  }
  for (const [variable, file] of [
    ['SVC_TLS_CERT', config.tlsCert],
    ['SVC_TLS_KEY', config.tlsKey],
  ] as const) {
    if (file !== undefined && !existsSync(file))
      throw new StartError(`${variable}: the file ${file} does not exist`, 2);
  }
  if ((config.approvalWebhookUrl === undefined) !== (config.approvalWebhookSecret === undefined)) {
    const [given, missing] =
      config.approvalWebhookUrl === undefined
        ? ['SVC_APPROVAL_WEBHOOK_SECRET', 'SVC_APPROVAL_WEBHOOK_URL']
        : ['SVC_APPROVAL_WEBHOOK_URL', 'SVC_APPROVAL_WEBHOOK_SECRET'];
    throw new StartError(`${given} is set and ${missing} is not; a webhook needs both`, 2);
  }
  if (config.approvalWebhookApprover !== undefined) refuseApproverWithout(config);
  if (config.auditAnchor !== undefined && config.databaseUrl === 'memory:') {
    throw new StartError('SVC_AUDIT_ANCHOR: there is nothing to anchor with "memory:"; leave one of them out', 2);
  }
  if (config.forward?.some(({ kind }) => kind === 'https') === true && config.forwardSecret === undefined) {
    throw new StartError(
      'SVC_FORWARD has an https:// target and SVC_FORWARD_SECRET is not set; what is sent there must be signed',
      2,
    );
  }
  refuseNatsContradictions(config);
  refuseOidcContradictions(config);
}

function refuseOidcContradictions(config: Config): void {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcRoles, oidcDefaultRole, databaseUrl } = config;
  const isOn = oidcIssuer !== undefined;
  const without = Object.entries({
    SVC_OIDC_CLIENT_ID: oidcClientId,
    SVC_OIDC_CLIENT_SECRET: oidcClientSecret,
    SVC_OIDC_ROLES: oidcRoles,
    SVC_OIDC_DEFAULT_ROLE: oidcDefaultRole,
    SVC_OIDC_LINK_BY_EMAIL: config.oidcLinkByEmail ? true : undefined,
  }).find(([, value]) => value !== undefined);
  if (!isOn && without !== undefined) {
    throw new StartError(`${without[0]} is set and SVC_OIDC_ISSUER is not; single sign-on needs both`, 2);
  }
  if (isOn && oidcClientId === undefined) {
    throw new StartError('SVC_OIDC_ISSUER is set and SVC_OIDC_CLIENT_ID is not; single sign-on needs both', 2);
  }
  if (isOn && databaseUrl === 'memory:') {
    throw new StartError('SVC_OIDC_ISSUER: there are no accounts with "memory:"; leave one of them out', 2);
  }
}

function refuseApproverWithout({ approvalWebhookUrl, databaseUrl }: Config): void {
  if (approvalWebhookUrl === undefined) {
    throw new StartError('SVC_APPROVAL_WEBHOOK_APPROVER is set and SVC_APPROVAL_WEBHOOK_URL is not; it needs both', 2);
  }
  if (databaseUrl === 'memory:') {
    throw new StartError('SVC_APPROVAL_WEBHOOK_APPROVER: there are no accounts with "memory:"; leave one out', 2);
  }
}

function refuseNatsContradictions({ natsUrl, natsCreds, databaseUrl }: Config): void {
  if (natsCreds !== undefined) {
    if (natsUrl === undefined) throw new StartError('SVC_NATS_CREDS is set and SVC_NATS_URL is not; it needs both', 2);
    if (parseNatsUrls(natsUrl).some((url) => credentialsOf(url) !== 'none')) {
      throw new StartError('SVC_NATS_CREDS is set and SVC_NATS_URL holds credentials, too; leave one of them out', 2);
    }
    refuseUnreadableCreds(natsCreds);
  }
  if (natsUrl === undefined) return;
  if (databaseUrl === undefined || databaseUrl === 'memory:') {
    throw new StartError('SVC_NATS_URL needs a PostgreSQL SVC_DATABASE_URL: gateways share a store, or nothing', 2);
  }
}

function refuseUnreadableCreds(file: string): void {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(`SVC_NATS_CREDS: cannot read the credentials: ${messageOf(error)}`, 2);
  }
  const token = content.indexOf('BEGIN NATS USER JWT');
  if (token >= 0 && content.includes('BEGIN USER NKEY SEED', token)) return;
  throw new StartError(
    `SVC_NATS_CREDS: the file ${file} holds no credentials: a JWT and a seed, as nsc writes them`,
    2,
  );
}

/** The most similar known name, if one is close. */
function suggestion(name: string, known: Iterable<string>): string {
  const nearest = [...known]
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .sort((a, b) => a.distance - b.distance)[0];
  return nearest !== undefined && nearest.distance <= 3 ? `; did you mean ${nearest.candidate}?` : '';
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(substituted, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
