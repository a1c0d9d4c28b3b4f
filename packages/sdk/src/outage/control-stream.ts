import { statusCode } from '@reeve/grpc-server/client';
import type { OpControlMessage } from '@reeve/contract';
import type { BackoffSettings } from './retry.ts';
import { backoffMs } from './retry.ts';
import type { ByteStream, StreamEvents } from '../channel.ts';
import type { ReeveError } from '../errors.ts';
import { ReeveClosed, ReeveInternal, ReeveUnauthenticated, ReeveUnavailable } from '../errors.ts';
import { decodeResponse, rpc } from '../rpc-methods.ts';

/** A stream of controls, and the gateway that it comes from. */
export interface Subscription {
  readonly stream: ByteStream;
  readonly address: string;
  /** The gateway is out of reach. The next subscription goes to another, if there is one. */
  readonly failed: () => void;
}

/** Opens a stream. Nothing happens on it before it is returned. */
export type Subscribe = (events: StreamEvents) => Subscription;

/** What happens to the stream. `from` is the address of its gateway. */
export interface ControlStreamEvents {
  readonly onMessage: (message: OpControlMessage) => void;
  /** The gateway has accepted the subscription. */
  readonly onOpen: (from: string) => void;
  /** Another attempt follows by itself. */
  readonly onLost: (reason: string, from: string) => void;
  /** No attempt follows: the gateway does not accept the token, or has no such stream. */
  readonly onRefused: (why: 'unauthenticated' | 'unsupported', reason: string, from: string) => void;
}

/** A stream that lasted this long was good. After its loss, the next attempt starts without delay. */
const goodMs = 5000;

/**
 * The stream of controls. It reopens by itself after every loss. While the gateway is gone, the connection's own
 * attempts set the pace. If the client has several gateways, a loss takes it to the next. Each stream also waits a
 * random time, so that not all agents hit one gateway at once.
 */
export class ControlStream {
  readonly #subscribe: Subscribe;
  readonly #backoff: BackoffSettings;
  readonly #events: ControlStreamEvents;
  #current: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #openedAt: number | undefined;
  #failures = 0;

  constructor(subscribe: Subscribe, backoff: BackoffSettings, events: ControlStreamEvents) {
    this.#subscribe = subscribe;
    this.#backoff = backoff;
    this.#events = events;
  }

  /** Opens the stream, and replaces an open one. */
  open(): void {
    this.close();
    const ifCurrent = (act: (opened: Subscription) => void) => {
      if (opened !== undefined && this.#current === opened) act(opened);
    };
    let opened: Subscription | undefined;
    try {
      opened = this.#subscribe({
        onOpen: () => ifCurrent((from) => this.#opened(from)),
        onMessage: (bytes) => ifCurrent((from) => this.#receive(bytes, from)),
        onEnd: (error, { code }) => ifCurrent((from) => this.#end(error, code, from)),
      });
    } catch (error) {
      if (error instanceof ReeveClosed) return;
      throw error;
    }
    this.#current = opened;
  }

  /** The client has gone on to another gateway. An open stream goes there too. */
  follow(): void {
    if (this.#current === undefined) return;
    this.close();
    this.#openSoon(0);
  }

  close(): void {
    clearTimeout(this.#timer);
    const before = this.#current;
    this.#current = undefined;
    this.#openedAt = undefined;
    before?.stream.cancel();
  }

  #opened({ address }: Subscription): void {
    if (this.#openedAt !== undefined) return;
    this.#openedAt = performance.now();
    this.#events.onOpen(address);
  }

  #receive(bytes: Buffer, from: Subscription): void {
    this.#opened(from);
    let message: OpControlMessage;
    try {
      message = decodeResponse(rpc.opControlStream, bytes);
    } catch {
      return this.#lose(new ReeveInternal('a message of the gateway cannot be read'), from);
    }
    this.#events.onMessage(message);
  }

  #end(error: ReeveError, code: number, from: Subscription): void {
    const unsupported = code === statusCode.unimplemented;
    if (!unsupported && !(error instanceof ReeveUnauthenticated)) return this.#lose(error, from);
    this.close();
    this.#events.onRefused(unsupported ? 'unsupported' : 'unauthenticated', error.message, from.address);
  }

  #lose(error: ReeveError, from: Subscription): void {
    const lasted = this.#openedAt === undefined ? 0 : performance.now() - this.#openedAt;
    this.close();
    if (lasted >= goodMs) this.#failures = 0;
    this.#openSoon(this.#failures++);
    if (error instanceof ReeveUnavailable) from.failed();
    this.#events.onLost(error.message, from.address);
  }

  #openSoon(failures: number): void {
    this.#timer = setTimeout(() => this.open(), backoffMs(failures, this.#backoff));
    this.#timer.unref();
  }
}
