import type { Socket } from 'node:net';
import { ChannelCredentials, credentials } from '@grpc/grpc-js';
import type { TlsOptions } from './endpoints.ts';

type Connector = ReturnType<ChannelCredentials['_createSecureConnector']>;

/**
 * Credentials, with or without TLS, under which an open call does not keep the process alive. By default the library
 * keeps it alive for every call, and the control stream is open as long as the agent is. Awaited calls hold the process
 * by themselves.
 */
export function quietCredentials(tls: TlsOptions | undefined): ChannelCredentials {
  if (tls === undefined) return new QuietCredentials(credentials.createInsecure());
  return new QuietCredentials(credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.cert)));
}

class QuietCredentials extends ChannelCredentials {
  readonly #inner: ChannelCredentials;

  constructor(inner: ChannelCredentials) {
    super();
    this.#inner = inner;
  }

  override _isSecure(): boolean {
    return this.#inner._isSecure();
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(...args: Parameters<ChannelCredentials['_createSecureConnector']>): Connector {
    const connector = this.#inner._createSecureConnector(...args);
    return {
      connect: async (socket) => {
        const connected = await connector.connect(socket);
        return { ...connected, socket: quiet(connected.socket) };
      },
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => connector.destroy(),
    };
  }
}

function quiet(socket: Socket): Socket {
  socket.ref = () => socket;
  return socket;
}

function pem(text: string | Buffer | undefined): Buffer | null {
  return text === undefined ? null : Buffer.from(text);
}
