import { DeadlineWheel } from '../limits/deadline-wheel.ts';
import type { MetadataEntries } from '../metadata.ts';
import type { Status } from '../status.ts';
import { backoffMs } from './backoff.ts';
import type { CallListener, CallStatus } from './call-listener.ts';
import type { CallOwner } from './client-call.ts';
import { ClientCall } from './client-call.ts';
import { ClientConnection } from './client-connection.ts';
import type { ClientLimits } from './client-limits.ts';
import { defaultClientLimits } from './client-limits.ts';
import type { ClientTls, Dial } from './dialer.ts';
import { dialerOf } from './dialer.ts';
import { RequestHeads } from './request-heads.ts';
import { targetOf } from './target.ts';
import { neverStarted, notConnected } from './transport-status.ts';
import { UnaryListener } from './unary-listener.ts';

export interface GrpcClientOptions {
  /** `host:port`, `[address]:port` or `unix:path`. */
  readonly address: string;
  readonly tls?: ClientTls | undefined;
  readonly userAgent?: string | undefined;
  readonly limits?: Partial<ClientLimits>;
}

export interface CallOptions {
  /** How long the call may take, with the wait for a connection. */
  readonly timeoutMs?: number | undefined;
  readonly metadata?: MetadataEntries | undefined;
  /** Whether the call waits for a server that is out of reach, or fails at once. */
  readonly waitForReady?: boolean | undefined;
  /** The longest message that the server may answer with. Otherwise the limit of the client. */
  readonly messageBytes?: number | undefined;
}

/** A call in progress. */
export interface Cancellable {
  /** Ends the call with this status; CANCELLED by default. */
  cancel(status?: Status): void;
}

/** The client's end of a stream. */
export interface ClientStream extends Cancellable {
  send(message: Uint8Array): void;
  /** No more messages follow. */
  end(): void;
}

/** The deadlines of all clients of the process. */
const deadlines = new DeadlineWheel();

/** A client of one server. It connects with the first call, and again after a loss. It keeps no process alive. */
export class GrpcClient implements CallOwner {
  readonly #dial: Dial;
  readonly #limits: ClientLimits;
  readonly #heads: RequestHeads;
  /** Takes calls. */
  #ready: ClientConnection | undefined;
  /** Is being made. */
  #attempt: ClientConnection | undefined;
  readonly #waiting = new Set<ClientCall>();
  /** Each waits for a connection without a call, and hears why there is none. */
  readonly #arrivals = new Set<(why: string | undefined) => void>();
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  /** Why the last attempt failed. Calls fail for it until one succeeds, or nobody has called for a while. */
  #lastError: string | undefined;
  /** Whether somebody has called since the last attempt. */
  #isWanted = false;
  #keepaliveMs: number;
  #isClosed = false;

  constructor({ address, tls, userAgent = 'grpc-node-reeve', limits = {} }: GrpcClientOptions) {
    const target = targetOf(address);
    this.#dial = dialerOf(target, tls);
    this.#limits = { ...defaultClientLimits, ...limits };
    this.#keepaliveMs = this.#limits.keepaliveMs;
    this.#heads = new RequestHeads(target.authority, tls !== undefined, userAgent);
  }

  /** Whether there is a connection that takes calls. */
  get isConnected(): boolean {
    return this.#ready !== undefined;
  }

  /** Connects, if there is no connection yet. Rejects with the reason if that attempt fails. */
  connect(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#ready !== undefined) return resolve();
      if (this.#isClosed) throw new Error(neverStarted.message);
      this.#isWanted = true;
      this.#arrivals.add((why) => (why === undefined ? resolve() : reject(new Error(why))));
      this.#connect();
    });
  }

  /** Calls a method with one message for one message. `done` is called once, and never before this returns. */
  unary(
    path: string,
    message: Uint8Array,
    options: CallOptions,
    done: (status: CallStatus, answer: Buffer | undefined) => void,
  ): Cancellable {
    const listener = new UnaryListener(done);
    const call = this.#make(path, options, listener);
    listener.call = call;
    call.send(message);
    call.end();
    this.#start(call);
    return call;
  }

  /** Calls a method that streams, in either direction or both. The listener hears nothing before this returns. */
  stream(path: string, options: CallOptions, listener: CallListener): ClientStream {
    const call = this.#make(path, options, listener);
    this.#start(call);
    return call;
  }

  /** Takes no more calls. Those that have gone out may still be answered; those that wait for a connection fail. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#retry);
    for (const call of [...this.#waiting]) call.cancel(neverStarted);
    this.#arrived(neverStarted.message);
    this.#attempt?.leave();
    const ready = this.#ready;
    this.#ready = undefined;
    ready?.leave();
  }

  forget(call: ClientCall): void {
    if (call.deadline !== undefined) deadlines.remove(call);
    this.#waiting.delete(call);
  }

  #make(path: string, options: CallOptions, listener: CallListener): ClientCall {
    const { timeoutMs, metadata = [], waitForReady = false } = options;
    const head = this.#heads.of(path, timeoutMs !== undefined, metadata);
    const deadline = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
    const call = new ClientCall(head, deadline, waitForReady, listener, this, options.messageBytes);
    if (deadline !== undefined) deadlines.add(call);
    return call;
  }

  #start(call: ClientCall): void {
    if (this.#ready !== undefined) return this.#ready.start(call);
    if (this.#isClosed) return call.cancel(neverStarted);
    this.#isWanted = true;
    if (this.#lastError !== undefined && !call.waitsForReady) return call.cancel(notConnected(this.#lastError));
    this.#waiting.add(call);
    this.#connect();
  }

  #connect(): void {
    if (this.#attempt !== undefined || this.#retry !== undefined || this.#isClosed) return;
    this.#isWanted = false;
    const connection = new ClientConnection(
      this.#dial(),
      { ...this.#limits, keepaliveMs: this.#keepaliveMs },
      {
        ready: () => this.#connected(connection),
        leaving: (isForPings) => this.#left(connection, isForPings),
        closed: (why) => this.#lost(connection, why),
        startAgain: (calls) => {
          for (const call of calls) this.#start(call);
        },
      },
    );
    this.#attempt = connection;
  }

  #connected(connection: ClientConnection): void {
    if (this.#attempt !== connection) return;
    this.#attempt = undefined;
    this.#ready = connection;
    this.#lastError = undefined;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const call of waiting) this.#start(call);
    this.#arrived(undefined);
  }

  #arrived(why: string | undefined): void {
    for (const tell of this.#arrivals) tell(why);
    this.#arrivals.clear();
  }

  /** The server lets the connection run out. The next call makes another. */
  #left(connection: ClientConnection, isForPings: boolean): void {
    if (isForPings) this.#keepaliveMs *= 2;
    if (this.#ready === connection) this.#ready = undefined;
  }

  #lost(connection: ClientConnection, why: string): void {
    const isAttempt = this.#attempt === connection;
    if (isAttempt) this.#attempt = undefined;
    if (this.#ready === connection) this.#ready = undefined;
    if (this.#isClosed) return;
    if (!isAttempt && connection.isUsed) {
      this.#failures = 0;
      return;
    }
    // A connection that carried nothing is no better than none, but only none is a reason to fail calls.
    this.#failures++;
    if (isAttempt) {
      this.#failWaiting(why);
      this.#arrived(why);
    }
    this.#retryLater();
  }

  #failWaiting(why: string): void {
    this.#lastError = why;
    for (const call of [...this.#waiting]) if (!call.waitsForReady) call.cancel(notConnected(why));
  }

  #retryLater(): void {
    const { firstBackoffMs, longestBackoffMs } = this.#limits;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(
      () => {
        this.#retry = undefined;
        if (this.#isWanted || this.#waiting.size > 0) return this.#connect();
        this.#lastError = undefined;
      },
      backoffMs(this.#failures, firstBackoffMs, longestBackoffMs),
    );
    this.#retry.unref();
  }
}
