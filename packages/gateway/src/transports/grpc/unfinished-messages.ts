import type { Http2Server, Http2Session, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import { MessageMeter } from './message-meter.ts';
import type { Claim, ConnectionRoom } from './message-room.ts';
import { MessageRoom } from './message-room.ts';
import { grpcCode, RpcError } from './status.ts';

const mebibyte = 1024 * 1024;

/**
 * What may be on its way before a connection has shown a valid credential. Any check without large arguments is small. Who
 * waits has its window full, and what was read before: all together stay below 16 MiB for each connection.
 */
const bounds = {
  small: 64 * 1024,
  largeInConnection: 9 * mebibyte,
  inConnection: 12 * mebibyte,
  inAll: 256 * mebibyte,
  waiting: 24,
};
/** What a message takes beside its own bytes, so that empty ones count as well. */
const besideEach = 256;
/** A connection that has shown no credential and has no call open for so long is closed. */
const idleForMs = 5 * 60_000;

export interface UnfinishedOptions {
  /** How long a message, or the whole request of a unary call, may take from its first byte to its last. */
  readonly finishWithinMs: number;
  readonly isUnary: (path: string) => boolean;
}

interface Connection extends ConnectionRoom {
  readonly session: ServerHttp2Session;
  /** It has shown a valid credential. */
  trusted: boolean;
  readonly calls: Set<Call>;
  idleSince: number;
}

/** What the server tells of a call, and asks about it. */
export interface WatchedCall {
  /** Nothing of what it sends is to be looked at any more. */
  readonly isRefused: boolean;
  /** How to end it with a status. */
  onRefused(answer: (error: RpcError) => void): void;
  /** A message of this length was handed on. */
  took(length: number): void;
  /** Its status was sent: where it was refused, nobody waits for the rest of what it sends. */
  answered(): void;
}

/**
 * Bounds what connections may have on their way. A message says first how long it is: until the connection has shown a
 * valid credential, it is read on only where there is room for all of it, and waits otherwise. Whoever does not finish in
 * time is cut off, credential or not.
 */
export class UnfinishedMessages {
  readonly #options: UnfinishedOptions;
  readonly #connections = new Map<string, Connection>();
  readonly #calls = new WeakMap<ServerHttp2Stream, Call>();
  readonly #room = new MessageRoom(bounds);
  readonly #timer: NodeJS.Timeout;

  constructor(options: UnfinishedOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#cutOff(), Math.min(1000, options.finishWithinMs / 4)).unref();
  }

  /** To be called before anybody else listens to the server. */
  watch(server: Http2Server): void {
    server.on('session', (session) => this.#opened(session));
    server.prependListener('stream', (stream: ServerHttp2Stream, headers: { readonly ':path'?: string }) =>
      this.#called(stream, headers[':path'] ?? ''),
    );
  }

  callOf(stream: ServerHttp2Stream): WatchedCall | undefined {
    return this.#calls.get(stream);
  }

  /** The connection of this peer has shown a valid credential. */
  trust(peer: string): void {
    const connection = this.#connections.get(peer);
    if (connection === undefined || connection.trusted) return;
    connection.trusted = true;
    for (const call of connection.calls) this.#room.settle(call);
  }

  /**
   * Answers on a stream of this peer are not read; returns how to say that they are. Before a credential was shown, nothing
   * large is read from such a connection, and it is ended where that goes on.
   */
  stall(peer: string): () => void {
    const connection = this.#connections.get(peer);
    if (connection === undefined) return () => undefined;
    connection.stalled++;
    const end = () => {
      if (!connection.trusted) connection.session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    };
    const timer = setTimeout(end, this.#options.finishWithinMs).unref();
    return () => {
      clearTimeout(timer);
      connection.stalled--;
      this.#room.readOn(connection);
    };
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #opened(session: ServerHttp2Session): void {
    const peer = peerOf(session);
    const connection: Connection = {
      session,
      trusted: false,
      calls: new Set(),
      held: 0,
      waiting: new Set(),
      stalled: 0,
      idleSince: performance.now(),
    };
    this.#connections.set(peer, connection);
    session.once('close', () => {
      if (this.#connections.get(peer) === connection) this.#connections.delete(peer);
    });
  }

  #called(stream: ServerHttp2Stream, path: string): void {
    const connection = stream.session === undefined ? undefined : this.#connections.get(peerOf(stream.session));
    if (connection === undefined) return;
    const call = new Call(stream, connection, this.#options.isUnary(path), this.#room);
    connection.calls.add(call);
    this.#calls.set(stream, call);
    stream.on('data', (chunk: Buffer) => call.came(chunk));
    stream.once('end', () => call.ended());
    stream.once('close', () => {
      connection.calls.delete(call);
      connection.idleSince = performance.now();
      call.closed();
    });
  }

  #cutOff(): void {
    const now = performance.now();
    for (const { session, trusted, calls, idleSince } of this.#connections.values()) {
      for (const call of calls) {
        if (call.since !== undefined && now - call.since >= this.#options.finishWithinMs) call.cut();
      }
      if (!trusted && calls.size === 0 && now - idleSince >= idleForMs) session.close();
    }
  }
}

class Call implements Claim, WatchedCall {
  readonly connection: Connection;
  /** Since when a message is on its way, on the clock that never jumps. */
  since: number | undefined;
  held = 0;
  isRefused = false;
  readonly #stream: ServerHttp2Stream;
  readonly #isUnary: boolean;
  readonly #room: MessageRoom;
  readonly #meter = new MessageMeter();
  #answer: ((error: RpcError) => void) | undefined;
  #taken = 0;
  #takenLength = 0;
  #isDone = false;

  constructor(stream: ServerHttp2Stream, connection: Connection, isUnary: boolean, room: MessageRoom) {
    this.#stream = stream;
    this.connection = connection;
    this.#isUnary = isUnary;
    this.#room = room;
    this.since = isUnary ? performance.now() : undefined;
  }

  /** What has come whole and was not handed on, and all of what is on its way. */
  get needed(): number {
    if (this.connection.trusted || this.#isDone) return 0;
    const { length, begun, declared } = this.#meter;
    return length - this.#takenLength + declared + (begun - this.#taken) * besideEach;
  }

  came(chunk: Buffer): void {
    if (this.isRefused) return;
    const meter = this.#meter;
    const before = meter.finished;
    meter.take(chunk);
    if (meter.isCompressed) {
      this.#refuse('the gateway takes no compressed messages: send them with grpc-encoding identity');
    } else if (this.#isUnary && meter.begun > 1) {
      this.#refuse('a unary call takes one message, and a second one has begun');
    } else {
      if (!this.#isUnary && meter.finished > before) this.since = undefined;
      if (meter.isUnfinished) this.since ??= performance.now();
      this.#settle();
    }
  }

  took(length: number): void {
    this.#taken++;
    this.#takenLength += length;
    this.#settle();
  }

  /** A unary call is handled now. What a stream has sent may still wait to be. */
  ended(): void {
    if (!this.isRefused) this.since = undefined;
    if (this.#isUnary) this.closed();
  }

  closed(): void {
    this.#isDone = true;
    this.#room.settle(this);
  }

  onRefused(answer: (error: RpcError) => void): void {
    this.#answer = answer;
  }

  answered(): void {
    // Node sends trailers in the next turn: closed before, the stream would lose them.
    if (this.isRefused) setImmediate(() => this.#close(constants.NGHTTP2_NO_ERROR));
  }

  /** In gRPC that is RESOURCE_EXHAUSTED. */
  cut(): void {
    this.#close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  /** The room that it has is kept until it is closed, for which it has as long as for a message. */
  #refuse(message: string): void {
    this.isRefused = true;
    this.since ??= performance.now();
    if (this.#answer === undefined) this.cut();
    else this.#answer(new RpcError(grpcCode.unimplemented, message));
  }

  #close(code: number): void {
    if (!this.#stream.closed) this.#stream.close(code);
  }

  #settle(): void {
    if (this.connection.trusted) return;
    if (!this.#room.settle(this)) this.cut();
  }
}

/** As grpc-js names the peer of a call. */
function peerOf({ socket }: Pick<Http2Session, 'socket'>): string {
  return `${socket.remoteAddress}:${socket.remotePort}`;
}
