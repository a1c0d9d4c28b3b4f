import type { Http2Server, Http2Session, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import { MessageMeter } from './message-meter.ts';

const mebibyte = 1024 * 1024;

/** What a message may hold without asking for room: any check without large arguments fits. */
const small = 64 * 1024;
/** What the messages of one connection may hold that are on their way, before it has shown a valid credential. */
const mostInConnection = 12 * mebibyte;
/** And how many may wait for that: each has its window full, and what was read before. All together stay below 16 MiB. */
const mostWaiting = 24;
/** The same for all such connections together: beyond it, large messages wait for each other. */
const mostInAll = 256 * mebibyte;
/** A connection that has shown no credential and has no call open for so long is closed. */
const idleForMs = 5 * 60_000;

export interface UnfinishedOptions {
  /** How long a message, or the whole request of a unary call, may take from its first byte to its last. */
  readonly finishWithinMs: number;
  readonly isUnary: (path: string) => boolean;
}

interface Connection {
  readonly session: ServerHttp2Session;
  /** It has shown a valid credential. */
  trusted: boolean;
  readonly calls: Set<Call>;
  held: number;
  waiting: number;
  /** Streams of it whose answers are not read. */
  stalled: number;
  idleSince: number;
}

interface Call {
  readonly stream: ServerHttp2Stream;
  readonly connection: Connection;
  readonly isUnary: boolean;
  readonly meter: MessageMeter;
  /** Since when a message is on its way, on the clock that never jumps. */
  since: number | undefined;
  held: number;
  isWaiting: boolean;
}

/**
 * Bounds what connections may have on their way. A message says first how long it is: until the connection has shown a
 * valid credential, it is read on only where there is room for all of it, and waits otherwise. Whoever does not finish in
 * time is cut off, credential or not.
 */
export class UnfinishedMessages {
  readonly #options: UnfinishedOptions;
  readonly #connections = new Map<string, Connection>();
  readonly #timer: NodeJS.Timeout;
  #held = 0;
  #waiting = 0;

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

  /** The connection of this peer has shown a valid credential. */
  trust(peer: string): void {
    const connection = this.#connections.get(peer);
    if (connection === undefined || connection.trusted) return;
    connection.trusted = true;
    for (const call of connection.calls) this.#release(call);
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
      this.#readOn();
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
      waiting: 0,
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
    const isUnary = this.#options.isUnary(path);
    const since = isUnary ? performance.now() : undefined;
    const call: Call = { stream, connection, isUnary, meter: new MessageMeter(), since, held: 0, isWaiting: false };
    connection.calls.add(call);
    stream.on('data', (chunk: Buffer) => this.#came(call, chunk));
    stream.once('end', () => {
      call.since = undefined;
      this.#release(call);
    });
    stream.once('close', () => {
      connection.calls.delete(call);
      connection.idleSince = performance.now();
      this.#release(call);
    });
  }

  #came(call: Call, chunk: Buffer): void {
    const { meter, connection } = call;
    const before = meter.finished;
    meter.take(chunk);
    // A unary call holds its message until its request has ended.
    if (!call.isUnary && meter.finished > before) {
      call.since = undefined;
      this.#release(call);
    }
    if (!meter.isUnfinished) return;
    call.since ??= performance.now();
    if (connection.trusted || meter.declared === 0 || call.held > 0) return;
    if (this.#hasRoom(connection, meter.declared)) this.#hold(call);
    else if (call.isWaiting) call.stream.pause();
    else if (connection.waiting < mostWaiting) this.#wait(call);
    else cut(call);
  }

  #hasRoom({ held, stalled }: Connection, declared: number): boolean {
    if (held + declared > mostInConnection) return false;
    return declared <= small || (stalled === 0 && this.#held + declared <= mostInAll);
  }

  #hold(call: Call): void {
    call.held = call.meter.declared;
    call.connection.held += call.held;
    this.#held += call.held;
  }

  #wait(call: Call): void {
    call.isWaiting = true;
    call.connection.waiting++;
    this.#waiting++;
    call.stream.pause();
  }

  #release(call: Call): void {
    if (call.isWaiting) this.#resume(call);
    if (call.held === 0) return;
    call.connection.held -= call.held;
    this.#held -= call.held;
    call.held = 0;
    this.#readOn();
  }

  /** Lets those go on for which there is room now. */
  #readOn(): void {
    if (this.#waiting === 0) return;
    for (const connection of this.#connections.values()) {
      if (connection.waiting === 0) continue;
      for (const call of connection.calls) {
        if (!call.isWaiting) continue;
        if (!connection.trusted && !this.#hasRoom(connection, call.meter.declared)) continue;
        if (!connection.trusted) this.#hold(call);
        this.#resume(call);
      }
    }
  }

  #resume(call: Call): void {
    call.isWaiting = false;
    call.connection.waiting--;
    this.#waiting--;
    call.stream.resume();
  }

  #cutOff(): void {
    const now = performance.now();
    for (const { session, trusted, calls, idleSince } of this.#connections.values()) {
      for (const call of calls) {
        if (call.since !== undefined && now - call.since >= this.#options.finishWithinMs) cut(call);
      }
      if (!trusted && calls.size === 0 && now - idleSince >= idleForMs) session.close();
    }
  }
}

/** In gRPC that is RESOURCE_EXHAUSTED. */
function cut({ stream }: Call): void {
  if (!stream.closed) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
}

/** As grpc-js names the peer of a call. */
function peerOf({ socket }: Pick<Http2Session, 'socket'>): string {
  return `${socket.remoteAddress}:${socket.remotePort}`;
}
