import type { ServiceError } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import type { OpControlMessage } from '@reeve/contract';
import type { BackoffSettings } from './retry.ts';
import { backoffMs } from './retry.ts';
import type { ByteStream } from '../channel.ts';
import { errorOfStatus } from './error-of-status.ts';
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
  readonly #subscribe: () => Subscription;
  readonly #backoff: BackoffSettings;
  readonly #events: ControlStreamEvents;
  #current: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #openedAt: number | undefined;
  #failures = 0;

  constructor(subscribe: () => Subscription, backoff: BackoffSettings, events: ControlStreamEvents) {
    this.#subscribe = subscribe;
    this.#backoff = backoff;
    this.#events = events;
  }

  /** Opens the stream, and replaces an open one. */
  open(): void {
    this.close();
    let opened: Subscription;
    try {
      opened = this.#subscribe();
    } catch (error) {
      if (error instanceof ReeveClosed) return;
      throw error;
    }
    this.#current = opened;
    const { stream } = opened;
    const ifCurrent = (act: () => void) => (this.#current === opened ? act() : undefined);
    stream.on('metadata', () => ifCurrent(() => this.#opened(opened)));
    stream.on('data', (bytes: Buffer) => ifCurrent(() => this.#receive(bytes, opened)));
    stream.on('error', (error: ServiceError) => ifCurrent(() => this.#fail(error, opened)));
    stream.on('end', () => ifCurrent(() => this.#lose(new ReeveUnavailable('the gateway ended the stream'), opened)));
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

  #fail({ code, details }: ServiceError, from: Subscription): void {
    const error = errorOfStatus(code, details);
    const unsupported = code === status.UNIMPLEMENTED;
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
