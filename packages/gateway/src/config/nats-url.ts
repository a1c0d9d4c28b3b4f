import { bareHost } from '@reeve/contract/host-name';

/** The address of a NATS server, and the credentials for it. */
export interface NatsUrl {
  readonly host: string;
  readonly port: number;
  /** Whether TLS is required. Without, it is still used if the server offers it. */
  readonly isTls: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly token: string | undefined;
}

const form = 'nats://host:port or tls://host:port, with user:password@ or token@ before the host if need be';
const defaultPort = 4222;

/**
 * Parses URLs separated by commas. Throws an `Error` that says what is accepted and quotes nothing of them, because
 * they hold credentials.
 */
export function parseNatsUrls(text: string): readonly NatsUrl[] {
  const urls = text.split(',').map((one) => parseNatsUrl(one.trim()));
  if (new Set(urls.map(credentialsOf)).size > 1) {
    throw new Error(`${form}; of several, all with the same kind of credentials`);
  }
  return urls;
}

/** The kind of credentials that a URL holds. */
export function credentialsOf({ user, token }: NatsUrl): 'password' | 'token' | 'none' {
  if (token !== undefined) return 'token';
  return user === undefined ? 'none' : 'password';
}

/** The server's name for people, never with its credentials. */
export function nameOf({ host, port }: NatsUrl): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function parseNatsUrl(text: string): NatsUrl {
  const url = URL.parse(text);
  if (url === null || !/^(nats|tls):$/.test(url.protocol) || /\s/.test(text)) throw new Error(form);
  if (!/^\/?$/.test(url.pathname) || url.search !== '' || url.hash !== '') {
    throw new Error(`${form}, and nothing after the port; write / ? # , of a password as %2F %3F %23 %2C`);
  }
  const host = bareHost(url.hostname);
  if (!/^[\w.:-]+$/.test(host)) throw new Error(form);
  const port = url.port === '' ? defaultPort : Number(url.port);
  if (port === 0) throw new Error(`${form}, with a port from 1 to 65535`);
  return { host, port, isTls: url.protocol === 'tls:', ...decoded(url) };
}

/** A single word before the host is a token, as in NATS's own clients. */
function decoded({ username, password }: URL): Pick<NatsUrl, 'user' | 'password' | 'token'> {
  const none = { user: undefined, password: undefined, token: undefined };
  try {
    if (password !== '') return { ...none, user: decodeURIComponent(username), password: decodeURIComponent(password) };
    return username === '' ? none : { ...none, token: decodeURIComponent(username) };
  } catch {
    throw new Error(`${form}, with each % of a name, password or token written as %25`);
  }
}
