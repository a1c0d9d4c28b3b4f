import { readFileSync } from 'node:fs';
import { messageOf } from '@reeve/core';
import type { ClientConfig } from 'pg';
import { Client, types } from 'pg';
import type { PostgresUrl } from '../../config/postgres-url.ts';
import { StartError } from '../../start-error.ts';
import { original } from './nul-text.ts';

/** How to connect, for every connection of the gateway. */
export type ConnectionOptions = Readonly<ClientConfig>;

const int8 = 20;
const text = 25;
const numeric = 1700;

const parserByDefault = types.getTypeParser as (oid: number, format?: string) => (value: string) => unknown;

/** Whole numbers of 64 bits are numbers here: none of Reeve's is beyond what a number holds. */
function parserOf(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === text) return original;
  if (oid === int8 || oid === numeric) return Number;
  return parserByDefault(oid, format);
}

/** The server in words for people: never with the password. */
export function nameOf({ host, port }: PostgresUrl): string {
  return host.startsWith('/') ? `${host}, port ${port}` : `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function connectionOptions(url: PostgresUrl): ConnectionOptions {
  return {
    host: url.host,
    port: url.port,
    user: url.user,
    password: url.password,
    database: url.database,
    options: url.options,
    application_name: url.applicationName ?? 'reeve',
    connectionTimeoutMillis: url.connectTimeoutSecs * 1000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // What takes longer has gone wrong; the client waits a little longer than the server, for a network that is gone.
    statement_timeout: 30_000,
    query_timeout: 35_000,
    idle_in_transaction_session_timeout: 10_000,
    types: { getTypeParser: parserOf as never },
    ssl: tlsOf(url),
  };
}

/** As PostgreSQL's own clients do: `require` encrypts and believes any certificate, unless an authority is named. */
function tlsOf(url: PostgresUrl): NonNullable<ClientConfig['ssl']> {
  const { tlsMode, rootCertFile, certFile, keyFile } = url;
  if (tlsMode === 'disable' || url.host.startsWith('/')) return false;
  const verifies = tlsMode.startsWith('verify-') || (tlsMode === 'require' && rootCertFile !== undefined);
  return {
    rejectUnauthorized: verifies,
    ...(verifies && tlsMode !== 'verify-full' ? { checkServerIdentity: () => undefined } : {}),
    ...(rootCertFile === undefined || rootCertFile === 'system' ? {} : { ca: read('sslrootcert', rootCertFile) }),
    ...(certFile === undefined ? {} : { cert: read('sslcert', certFile) }),
    ...(keyFile === undefined ? {} : { key: read('sslkey', keyFile) }),
  };
}

function read(parameter: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(`SVC_DATABASE_URL: cannot read ${parameter}: ${messageOf(error)}`, 2);
  }
}

/** Connects. When the connection ends by itself later, `onLost` is told, once. */
export async function connect(options: ConnectionOptions, onLost: (error: unknown) => void): Promise<Client> {
  const client = new Client(options);
  let isUp = false;
  const end = (error: unknown) => {
    if (!isUp) return;
    isUp = false;
    onLost(error);
  };
  client.on('error', end);
  client.on('end', () => end(new Error('the connection has ended')));
  await client.connect();
  isUp = true;
  return client;
}

/** Ends a connection, whatever state it is in. */
export async function disconnect(client: Client): Promise<void> {
  await client.end().catch(() => undefined);
}

/** What protects the connection: nothing, encryption under whatever certificate, or under one that was verified. */
export type Encryption = 'none' | 'unverified' | 'verified';

export interface FirstConnection {
  readonly client: Client;
  readonly options: ConnectionOptions;
  readonly encryption: Encryption;
}

/**
 * The first connection to a server. Where the URL leaves it open whether to encrypt, it shows what the server can, and
 * `options` say so for all that follow. A server that cannot is spoken to in the clear only where the URL allows that.
 */
export async function connectFirst(url: PostgresUrl): Promise<FirstConnection> {
  const options = connectionOptions(url);
  try {
    return { client: await connect(options, () => undefined), options, encryption: encryptionOf(options) };
  } catch (error) {
    if (messageOf(error) !== 'The server does not support SSL connections') throw error;
    if (url.tlsMode !== 'prefer' && url.tlsMode !== 'allow') {
      throw new StartError(
        `cannot use PostgreSQL at ${nameOf(url)}: the server does not support SSL connections, and sslmode is ${url.tlsMode}; switch TLS on there, or add sslmode=disable to the URL if nobody can read the network in between`,
      );
    }
    const plain: ConnectionOptions = { ...options, ssl: false };
    return { client: await connect(plain, () => undefined), options: plain, encryption: 'none' };
  }
}

function encryptionOf({ ssl }: ConnectionOptions): Encryption {
  if (typeof ssl !== 'object') return 'none';
  return ssl.rejectUnauthorized === true ? 'verified' : 'unverified';
}
