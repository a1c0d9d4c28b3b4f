import { readFileSync } from 'node:fs';
import { messageOf } from '@reeve/core';
import type { ClientConfig } from 'pg';
import { Client, types } from 'pg';
import type { PostgresUrl } from '../../config/postgres-url.ts';
import { StartError } from '../../start-error.ts';
import { original } from './nul-text.ts';

/** The options of every connection of the gateway. */
export type ConnectionOptions = Readonly<ClientConfig>;

const int8 = 20;
const text = 25;
const numeric = 1700;

const parserByDefault = types.getTypeParser as (oid: number, format?: string) => (value: string) => unknown;

/** Integers of 64 bits become numbers: none of Reeve's exceeds what a number holds. */
function parserOf(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === text) return original;
  if (oid === int8 || oid === numeric) return Number;
  return parserByDefault(oid, format);
}

/** The server's name for people, never with the password. */
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
    // A longer statement has gone wrong. The client waits a little longer than the server, for a network that is gone.
    statement_timeout: 30_000,
    query_timeout: 35_000,
    idle_in_transaction_session_timeout: 10_000,
    types: { getTypeParser: parserOf as never },
    ssl: tlsOf(url),
  };
}

/** As in PostgreSQL's own clients, `require` encrypts and accepts any certificate, unless an authority is named. */
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

/** Connects. If the connection ends by itself later, it calls `onLost` once. */
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

/** Ends a connection, in whatever state it is. */
export async function disconnect(client: Client): Promise<void> {
  await client.end().catch(() => undefined);
}

/** The protection of the connection: none, encryption with any certificate, or with a verified one. */
export type Encryption = 'none' | 'unverified' | 'verified';

export interface FirstConnection {
  readonly client: Client;
  readonly options: ConnectionOptions;
  readonly encryption: Encryption;
}

/**
 * The first connection to a server. If the URL leaves encryption open, this connection shows what the server can do,
 * and `options` fix it for all later ones. It is unencrypted only if the URL allows that.
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
