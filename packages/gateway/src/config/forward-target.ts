import { hash } from 'node:crypto';
import { bareHost, isSecureUrl } from '@reeve/contract/host-name';
import { path } from './parsers.ts';

interface Named {
  /** For people: never with credentials, path or query, because all of these may hold secrets. */
  readonly name: string;
  /** What the position is stored under. It stays the same when credentials change, and gives none away. */
  readonly key: string;
  /** Whether a new target begins with the whole log. */
  readonly fromStart: boolean;
}

export interface HttpTarget extends Named {
  readonly kind: 'otlp' | 'https';
  readonly url: URL;
  /** The header, if the URL had a user and a password. */
  readonly authorization: string | undefined;
}

export interface SyslogTarget extends Named {
  readonly kind: 'syslog';
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

export interface FileTarget extends Named {
  readonly kind: 'file';
  readonly path: string;
}

/** Where the audit log is forwarded to. */
export type ForwardTarget = HttpTarget | SyslogTarget | FileTarget;

const forms = 'otlp:URL, syslog+tcp://host:port, syslog+tls://host:port, https://… or file:PATH';
const mostTargets = 16;
const fromStart = '#from=start';
const logsPath = '/v1/logs';
const syslogPorts = { 'syslog+tcp:': 514, 'syslog+tls:': 6514 } as const;

/** Parses targets separated by commas. The errors quote nothing of them, because URLs may hold credentials. */
export function parseForwardTargets(text: string): readonly ForwardTarget[] {
  const given = text.split(',').map((one) => one.trim());
  if (given.length > mostTargets) throw new Error(`up to ${mostTargets} targets`);
  const targets = given.map((one, index) => {
    try {
      return parseForwardTarget(one);
    } catch (error) {
      const which = given.length === 1 ? '' : ` (target ${index + 1} is not)`;
      throw new Error(`${error instanceof Error ? error.message : forms}${which}`, { cause: error });
    }
  });
  if (new Set(targets.map(({ key }) => key)).size < targets.length) {
    throw new Error('each target once; two that differ only in user, password, query or "#from=start" are the same');
  }
  return targets;
}

function parseForwardTarget(text: string): ForwardTarget {
  const isFromStart = text.endsWith(fromStart);
  const place = isFromStart ? text.slice(0, -fromStart.length) : text;
  if (place.startsWith('file:')) return fileTarget(place.slice('file:'.length), isFromStart);
  if (/\s/.test(place)) throw new Error(`${forms}, separated by commas`);
  const isOtlp = place.startsWith('otlp:');
  const url = URL.parse(isOtlp ? place.slice('otlp:'.length) : place);
  if (url === null) throw new Error(`${forms}, separated by commas; write a comma within a URL as %2C`);
  if (url.hash !== '' || place.endsWith('#')) throw new Error('after a "#" only from=start');
  if (isOtlp) return otlpTarget(url, isFromStart);
  if (url.protocol === 'syslog+tcp:' || url.protocol === 'syslog+tls:') return syslogTarget(url, isFromStart);
  if (isSecureUrl(url)) return httpTarget('https', url, isFromStart);
  if (url.protocol === 'http:')
    throw new Error('https://…; http:// is for this machine only, as in http://127.0.0.1:8000/');
  throw new Error(forms);
}

function otlpTarget(url: URL, isFromStart: boolean): HttpTarget {
  if (!/^https?:$/.test(url.protocol)) {
    throw new Error('otlp:URL with http:// or https://, as in otlp:http://127.0.0.1:4318');
  }
  if (url.pathname === '/') url.pathname = logsPath;
  return httpTarget('otlp', url, isFromStart);
}

function httpTarget(kind: HttpTarget['kind'], url: URL, isFromStart: boolean): HttpTarget {
  const name = kind === 'otlp' ? `otlp:${url.origin}` : url.origin;
  const isUsual = url.pathname === '/' || url.pathname === logsPath;
  const key = isUsual ? name : `${name} ${hash('sha256', url.pathname).slice(0, 16)}`;
  const authorization = authorizationOf(url);
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return { kind, name, key, fromStart: isFromStart, url: bare, authorization };
}

function authorizationOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  try {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return `Basic ${Buffer.from(pair).toString('base64')}`;
  } catch {
    throw new Error('a URL in which each % of a user or password is written as %25');
  }
}

function syslogTarget(url: URL, isFromStart: boolean): SyslogTarget {
  const host = bareHost(url.hostname);
  const isBare = /^\/?$/.test(url.pathname) && url.search === '' && url.username === '' && url.password === '';
  if (!isBare || !/^[\w.:-]+$/.test(host) || url.port === '0') {
    throw new Error('syslog+tcp://host:port or syslog+tls://host:port, and nothing else in the URL');
  }
  const isTls = url.protocol === 'syslog+tls:';
  const port = url.port === '' ? syslogPorts[isTls ? 'syslog+tls:' : 'syslog+tcp:'] : Number(url.port);
  const name = `${url.protocol}//${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { kind: 'syslog', name, key: name, fromStart: isFromStart, host, port, isTls };
}

function fileTarget(text: string, isFromStart: boolean): FileTarget {
  const given = text.startsWith('///') ? text.slice(2) : text;
  if (given === '' || given.endsWith('/') || given.startsWith('//')) {
    throw new Error('file:PATH with the path of a file, as in file:/var/log/reeve/audit.ndjson');
  }
  const resolved = path(given);
  return { kind: 'file', name: `file:${resolved}`, key: `file:${resolved}`, fromStart: isFromStart, path: resolved };
}

/** Headers as `name=value`, separated by commas. The values may be percent-encoded, as in OpenTelemetry's variables. */
export function forwardHeaders(text: string): Readonly<Record<string, string>> {
  const wrong = new Error('headers as name=value, separated by commas; write a comma within a value as %2C');
  const headers: Record<string, string> = {};
  for (const pair of text.split(',')) {
    const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~\w-]+)=(.*)$/.exec(pair.trim()) ?? [];
    if (name === '' || value === '' || /^(content-|host$|connection$|transfer-)/i.test(name)) throw wrong;
    try {
      headers[name.toLowerCase()] = decodeURIComponent(value);
    } catch {
      throw wrong;
    }
    if (/[^\t\x20-\x7e]/.test(headers[name.toLowerCase()] ?? '')) throw wrong;
  }
  return headers;
}
