import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import { AuthorizationError, connect, credsAuthenticator, TimeoutError } from '@nats-io/transport-node';
import { messageOf } from '@reeve/core';
import type { NatsUrl } from '../../config/nats-url.ts';
import { nameOf } from '../../config/nats-url.ts';

/** A connection to a NATS server. It is not renewed once it is lost. */
export interface Link {
  readonly nats: NatsConnection;
  readonly isOpen: () => boolean;
  /** Cuts the connection at once. */
  readonly cut: () => void;
}

export interface Caller {
  /** For the lists of connections that the server shows. */
  readonly name: string;
  readonly credsFile: string | undefined;
}

const timeoutMs = 3000;
/** The third ping finds that two were not answered: a silent network is noticed after 2.5 to 3.75 seconds. */
const pings = { pingInterval: 1250, maxPingOut: 2 };

/** Connects once. The text of the error says which server and why, without the credentials. */
export async function dial(server: NatsUrl, caller: Caller, signal: AbortSignal): Promise<Link> {
  const attempt: Attempt = { sockets: [], isOver: false };
  let isCut = false;
  const cut = () => {
    isCut = true;
    for (const socket of attempt.sockets) socket.destroy();
  };
  signal.addEventListener('abort', cut);
  try {
    const options = await optionsFor(server, caller);
    const nats = await attempts.run(attempt, () => connect(options));
    return { nats, cut, isOpen: () => !isCut && !nats.isClosed() };
  } catch (error) {
    cut();
    const reason = withoutSecrets(reasonOf(error), server);
    throw new Error(`NATS at ${nameOf(server)} cannot be used: ${reason}`, { cause: error });
  } finally {
    attempt.isOver = true;
    signal.removeEventListener('abort', cut);
  }
}

interface Attempt {
  readonly sockets: Socket[];
  isOver: boolean;
}

/**
 * The library keeps its sockets to itself. It forgets those of servers that accept a connection and then say nothing,
 * and when it gives a silent server up, it first waits until everything is sent. So whoever dials notes the sockets.
 */
const attempts = new AsyncLocalStorage<Attempt>();
subscribe('net.client.socket', (message) => {
  const attempt = attempts.getStore();
  if (attempt !== undefined && !attempt.isOver) attempt.sockets.push((message as { readonly socket: Socket }).socket);
});

async function optionsFor(server: NatsUrl, { name, credsFile }: Caller): Promise<NodeConnectionOptions> {
  const { host, isTls, user, password, token } = server;
  // The host is what the certificate must be for if it is an address; the library passes only names on.
  const tls: NodeConnectionOptions['tls'] & { readonly host: string } = { host };
  return {
    ...pings,
    servers: nameOf(server),
    name,
    timeout: timeoutMs,
    noEcho: true,
    // The library would keep what is published meanwhile, and would give up after a refused login.
    reconnect: false,
    ignoreClusterUpdates: true,
    ...(isTls ? { tls } : {}),
    ...(user === undefined ? {} : { user, pass: password ?? '' }),
    ...(token === undefined ? {} : { token }),
    // Read at every attempt: credentials are renewed.
    ...(credsFile === undefined ? {} : { authenticator: credsAuthenticator(await readFile(credsFile)) }),
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof AuthorizationError) return `it refuses the credentials (${error.message})`;
  if (error instanceof TimeoutError) return 'it does not answer in time';
  return messageOf(error);
}

function withoutSecrets(text: string, { user, password, token }: NatsUrl): string {
  const secrets = [user, password, token].filter((secret) => secret !== undefined && secret !== '');
  return secrets.reduce<string>((rest, secret) => rest.replaceAll(secret ?? '', '[hidden]'), text);
}
