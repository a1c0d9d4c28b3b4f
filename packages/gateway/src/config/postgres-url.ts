import { bareHost, isLoopback } from '@reeve/contract/host-name';

/** Whether to encrypt, and which certificates to trust, as in PostgreSQL's own clients. */
export const tlsModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type TlsMode = (typeof tlsModes)[number];

/** The address of a PostgreSQL server, and the credentials for it. */
export interface PostgresUrl {
  /** A name, an address, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly tlsMode: TlsMode;
  /** PEM files: the authority of the server's certificate, and this client's own certificate and key. */
  readonly rootCertFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly applicationName: string | undefined;
  readonly options: string | undefined;
  readonly connectTimeoutSecs: number;
}

const form = 'postgres://user:password@host:port/database';

/** The known query parameters. The last three change nothing here, but are common in URLs from providers. */
const parameters = [
  'host',
  'port',
  'user',
  'password',
  'dbname',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'application_name',
  'options',
  'connect_timeout',
  'target_session_attrs',
  'channel_binding',
  'gssencmode',
];

/** Parses a URL. Throws an `Error` that says what is accepted and quotes nothing of the URL, which holds a password. */
export function parsePostgresUrl(text: string): PostgresUrl {
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) throw new Error(form);
  const given = new Map(url.searchParams);
  for (const name of given.keys()) {
    if (!parameters.includes(name)) throw new Error(`${form} with no other parameters than ${parameters.join(', ')}`);
  }
  const { host, password, user, database } = decoded(url);
  const port = given.get('port') ?? (url.port === '' ? '5432' : url.port);
  if (!isPort(port)) throw new Error(`${form} with a port from 1 to 65535`);
  const named = given.get('host') ?? host ?? 'localhost';
  if (named.includes(',')) throw new Error(`${form} with one host`);
  const connectTimeout = given.get('connect_timeout') ?? '5';
  if (!/^\d{1,3}$/.test(connectTimeout)) throw new Error(`${form} with a connect_timeout in seconds`);
  return {
    host: named,
    port: Number(port),
    user: given.get('user') ?? user,
    password: given.get('password') ?? password,
    database: given.get('dbname') ?? database,
    tlsMode: tlsModeOf(given.get('sslmode') ?? (isHere(named) ? 'prefer' : 'require')),
    rootCertFile: given.get('sslrootcert'),
    certFile: given.get('sslcert'),
    keyFile: given.get('sslkey'),
    applicationName: given.get('application_name'),
    options: given.get('options'),
    connectTimeoutSecs: Math.max(1, Number(connectTimeout)),
  };
}

function decoded({ hostname, username, password, pathname }: URL) {
  const part = (text: string) => (text === '' ? undefined : decodeURIComponent(text));
  try {
    return {
      host: part(bareHost(hostname)),
      user: part(username),
      password: part(password),
      database: part(pathname.slice(1)),
    };
  } catch {
    throw new Error(`${form} with each % of a name or password written as %25`);
  }
}

/**
 * Whether a connection stays on this machine. Connections over a network are encrypted, unless the URL says otherwise.
 */
function isHere(host: string): boolean {
  return host.startsWith('/') || isLoopback(host);
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

function tlsModeOf(text: string): TlsMode {
  const mode = tlsModes.find((candidate) => candidate === text);
  if (mode === undefined) throw new Error(`${form}?sslmode=… with one of ${tlsModes.join(', ')}`);
  return mode;
}
