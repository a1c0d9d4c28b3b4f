import type { Http2Server, Http2Session, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import type { Claim, ConnectionRoom } from '@reeve/grpc-server';
import { defaultLimits, MessageRoom, SharedRoom } from '@reeve/grpc-server';
import { MessageMeter } from './message-meter.ts';
import { grpcCode, RpcError } from './status.ts';

/** The overhead of each message, so that empty ones count as well. */
const besideEach = 256;
/** A connection without a credential and without an open call is closed after this long. */
const idleForMs = 5 * 60_000;

export interface UnfinishedOptions {
  /** How long a message, or the whole request of a unary call, may take from its first byte to its last. */
  readonly finishWithinMs: number;
  readonly isUnary: (path: string) => boolean;
}

interface Connection extends ConnectionRoom {
  readonly session: ServerHttp2Session;
  /** Whose credential it has shown. */
  account: string | undefined;
  readonly calls: Set<Call>;
  idleSince: number;
}

/** The server's view of a call. */
export interface WatchedCall {
  /** Whether to ignore all that the call sends from now on. */
  readonly isRefused: boolean;
  /** Sets how to end the call with a status. */
  onRefused(answer: (error: RpcError) => void): void;
  /** Notes that a message of this length was handed on. */
  took(length: number): void;
  /** Notes that the status was sent. After a refusal, nobody waits for the rest of what the call sends. */
  answered(): void;
}

/**
 * Bounds the unfinished messages of connections, by the limits of Reeve's own engine, except that nobody is cut off for
 * small ones. A message first declares its length. It is read only if there is room for all of it, among strangers or
 * in its account, and waits otherwise. A message that is not finished in time is cut off, with or without a credential.
 */
export class UnfinishedMessages {
  readonly #options: UnfinishedOptions;
  readonly #connections = new Map<string, Connection>();
  readonly #calls = new WeakMap<ServerHttp2Stream, Call>();
  readonly #room = new MessageRoom(defaultLimits);
  /** Small messages have no bound here, because this engine cannot tell who holds room without using it. */
  readonly #small = new SharedRoom({ ofStrangers: Infinity, ofAccount: Infinity });
  readonly #timer: NodeJS.Timeout;

  constructor(options: UnfinishedOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#cutOff(), Math.min(1000, options.finishWithinMs / 4)).unref();
  }

  /** Call it before anybody else listens to the server. */
  watch(server: Http2Server): void {
    server.on('session', (session) => this.#opened(session));
    server.prependListener('stream', (stream: ServerHttp2Stream, headers: { readonly ':path'?: string }) =>
      this.#called(stream, headers[':path'] ?? ''),
    );
  }

  callOf(stream: ServerHttp2Stream): WatchedCall | undefined {
    return this.#calls.get(stream);
  }

  /** Notes that the connection of this peer has shown a valid credential of this account. */
  trust(peer: string, account: string): void {
    const connection = this.#connections.get(peer);
    if (connection === undefined || connection.account !== undefined) return;
    this.#room.leave(connection, [...connection.calls]);
    connection.account = account;
    for (const call of connection.calls) call.settle();
  }

  /**
   * Notes that answers on a stream of this peer are not read; the returned function takes that back. Without a
   * credential, nothing large is read from such a connection, and it is ended if that goes on.
   */
  stall(peer: string): () => void {
    const connection = this.#connections.get(peer);
    if (connection === undefined) return () => undefined;
    connection.stalled++;
    const end = () => {
      if (connection.account === undefined) connection.session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
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
      account: undefined,
      unfinished: this.#small.join(() => undefined),
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
    for (const { session, account, calls, idleSince } of this.#connections.values()) {
      for (const call of calls) {
        if (call.since !== undefined && now - call.since >= this.#options.finishWithinMs) call.cut();
      }
      if (account === undefined && calls.size === 0 && now - idleSince >= idleForMs) session.close();
    }
  }
}

class Call implements Claim, WatchedCall {
  readonly connection: Connection;
  /** Since when a message is unfinished, on the monotonic clock. */
  since: number | undefined;
  held = 0;
  waitsWith = 0;
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

  /** Complete messages that were not handed on, and the whole of the unfinished one. */
  get needed(): number {
    if (this.#isDone) return 0;
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
      this.settle();
    }
  }

  took(length: number): void {
    this.#taken++;
    this.#takenLength += length;
    this.settle();
  }

  /** A unary call is handled now. Messages of a stream may still wait. */
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
    // Node sends trailers in the next turn; a stream closed before that would lose them.
    if (this.isRefused) setImmediate(() => this.#close(constants.NGHTTP2_NO_ERROR));
  }

  /** gRPC maps this code to RESOURCE_EXHAUSTED. */
  cut(): void {
    this.#close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /** The library may have resumed the call to read on, so this may pause it again. */
  awaitRoom(): void {
    this.#stream.pause();
  }

  gotRoom(): void {
    this.#stream.resume();
  }

  /** The call keeps its room until it is closed, which may take as long as a message. */
  #refuse(message: string): void {
    this.isRefused = true;
    this.since ??= performance.now();
    if (this.#answer === undefined) this.cut();
    else this.#answer(new RpcError(grpcCode.unimplemented, message));
  }

  #close(code: number): void {
    if (!this.#stream.closed) this.#stream.close(code);
  }

  settle(): void {
    if (!this.#room.settle(this)) this.cut();
  }
}

/** The peer of a call, as grpc-js writes it. */
function peerOf({ socket }: Pick<Http2Session, 'socket'>): string {
  return `${socket.remoteAddress}:${socket.remotePort}`;
}
