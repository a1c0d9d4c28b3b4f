import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { Server as TlsServer, TLSSocket } from 'node:tls';
import { createServer as createTlsServer } from 'node:tls';
import { stopping } from './calls/call-faults.ts';
import type { Shared } from './calls/shared.ts';
import { Connection } from './connection.ts';
import { ConnectionCare } from './connection-care.ts';
import type { StreamHandler, UnaryHandler } from './handlers.ts';
import { errorCode } from './http2/frame.ts';
import type { Limits } from './limits.ts';
import { defaultLimits } from './limits.ts';
import { DeadlineWheel } from './limits/deadline-wheel.ts';
import { MessageRoom } from './limits/message-room.ts';
import type { Rooms } from './limits/rooms.ts';
import { roomsOf } from './limits/rooms.ts';
import { TurnOrder } from './limits/turn-order.ts';
import type { Status } from './status.ts';
import { statusCode } from './status.ts';

export interface GrpcServerOptions {
  /** Handlers by path: `/package.Service/Method`. */
  readonly unary: ReadonlyMap<string, UnaryHandler>;
  /** The same for calls that stream, in either direction or both. */
  readonly stream: ReadonlyMap<string, StreamHandler>;
  /** The status that a caller gets for an error that a handler threw or failed with. */
  readonly statusOf: (error: unknown) => Status;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly limits?: Partial<Limits>;
  /** Given if other servers share them. */
  readonly rooms?: Rooms | undefined;
}

const longestCareMs = 1000;
/** How long a peer may take to answer the ping that is part of a farewell. */
const farewellMs = 1000;
/** How long a peer may take to read the end of its calls. */
const lastWordsMs = 250;

/** A gRPC server: HTTP/2 with prior knowledge, or over TLS. */
export class GrpcServer {
  readonly #server: Server;
  readonly #shared: Shared;
  readonly #connections = new Set<Connection>();
  /** Of all connections, those in their TLS handshake included. */
  readonly #sockets = new Set<Socket>();
  /** Those in their TLS handshake, by the address of the peer. */
  readonly #handshakes = new Map<string, Socket>();
  readonly #care: ConnectionCare;
  #isDraining = false;

  constructor(options: GrpcServerOptions) {
    const limits = { ...defaultLimits, ...options.limits };
    this.#shared = {
      routes: options,
      limits,
      room: new MessageRoom(limits),
      rooms: options.rooms ?? roomsOf(limits),
      wheel: new DeadlineWheel(),
      order: new TurnOrder(),
      statusOf: (error) => safeStatus(options.statusOf, error),
    };
    this.#care = new ConnectionCare(this.#connections, limits);
    const tls = options.tls === undefined ? undefined : this.#tlsServer(options.tls);
    // Nothing is read, and no handshake begins, before it is the turn of the connection.
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      const peer = peerOf(socket);
      if (tls !== undefined) this.#handshakes.set(peer, socket);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        if (this.#handshakes.get(peer) === socket) this.#handshakes.delete(peer);
      });
      socket.on('error', () => socket.destroy());
      this.#shared.order.arrive(() => {
        if (socket.destroyed) return;
        // Nothing of it has been read, so the peer can try elsewhere.
        if (this.#isDraining) socket.destroy();
        else if (tls === undefined) this.#accept(socket);
        else tls.emit('connection', socket);
      });
    });
    this.#server.maxConnections = limits.connections;
  }

  /** Listens, and resolves with the port. */
  listen(host: string, port: number): Promise<number> {
    const every = Math.min(longestCareMs, shortestOf(this.#shared.limits) / 4);
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        // A connection that could not be accepted is gone; the others are not concerned.
        this.#server.on('error', () => undefined);
        this.#care.start(every);
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** Takes no new calls, waits for those in flight up to `graceMs`, ends the rest with UNAVAILABLE, and closes. */
  drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    return new Promise((resolve) => {
      const leave = setTimeout(() => this.#each((connection) => connection.leave()), Math.min(farewellMs, graceMs));
      const stop = setTimeout(() => this.#stop(), graceMs);
      const force = setTimeout(() => {
        this.#each((connection) => connection.destroy());
        for (const socket of this.#sockets) socket.destroy();
      }, graceMs + lastWordsMs);
      this.#server.close(() => {
        clearTimeout(leave);
        clearTimeout(stop);
        clearTimeout(force);
        this.#care.stop();
        this.#shared.wheel.stop();
        resolve();
      });
      this.#each((connection) => connection.drain());
      // Who has not even begun has nothing to finish.
      for (const socket of this.#handshakes.values()) socket.destroy();
    });
  }

  /** Ends all calls and connections. The peers hear that it was not their fault, and can ask another server. */
  #stop(): void {
    this.#each((connection) => {
      for (const call of [...connection.streams.calls.values()]) call.expire(stopping);
      connection.end(errorCode.noError, '');
    });
  }

  #each(act: (connection: Connection) => void): void {
    for (const connection of this.#connections) act(connection);
  }

  /** It listens nowhere: it gets its connections when it is their turn. */
  #tlsServer(tls: { readonly cert: Buffer; readonly key: Buffer }): TlsServer {
    const { prefaceWithinMs } = this.#shared.limits;
    const server = createTlsServer({
      ...tls,
      ALPNProtocols: ['h2'],
      minVersion: 'TLSv1.2',
      handshakeTimeout: prefaceWithinMs,
    });
    return server.on('secureConnection', (socket) => this.#accept(socket));
  }

  #accept(socket: Socket): void {
    this.#handshakes.delete(peerOf(socket));
    if ('alpnProtocol' in socket) {
      const secure = socket as TLSSocket;
      if (secure.alpnProtocol !== 'h2') {
        socket.destroy();
        return;
      }
      // RFC 9113 §9.2.1 forbids it, and each time costs a handshake.
      secure.disableRenegotiation();
    }
    socket.setNoDelay(true);
    this.#connections.add(
      new Connection(socket, this.#shared, (connection) => {
        this.#connections.delete(connection);
      }),
    );
    socket.resume();
  }
}

function shortestOf(limits: Limits): number {
  const { finishWithinMs, takeWithinMs, prefaceWithinMs, idleForMs, keepaliveMs, keepaliveTimeoutMs } = limits;
  return Math.min(finishWithinMs, takeWithinMs, prefaceWithinMs, idleForMs, keepaliveMs, keepaliveTimeoutMs);
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function safeStatus(statusOf: (error: unknown) => Status, error: unknown): Status {
  try {
    return statusOf(error);
  } catch {
    return { code: statusCode.unknown, message: 'the call failed, and so did finding its status' };
  }
}
