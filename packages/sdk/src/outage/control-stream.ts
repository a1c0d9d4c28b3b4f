import type { ServiceError } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import type { OpControlMessage } from '@reeve/contract';
import type { BackoffSettings } from './retry.ts';
import { backoffMs } from './retry.ts';
import type { ByteStream } from '../channel.ts';
import { errorOfStatus } from './error-of-status.ts';
import { ReeveClosed, ReeveUnauthenticated } from '../errors.ts';
import { decodeResponse, rpc } from '../rpc-methods.ts';

export interface ControlStreamEvents {
  readonly onMessage: (message: OpControlMessage) => void;
  /** The gateway has accepted the subscription. */
  readonly onOpen: () => void;
  /** Another attempt follows by itself. */
  readonly onLost: (reason: string) => void;
  /** No attempt follows: the gateway does not accept the token, or has no such stream. */
  readonly onRefused: (why: 'unauthenticated' | 'unsupported', reason: string) => void;
}

/** A stream that lasted this long was good. After its loss, the next attempt starts without delay. */
const goodMs = 5000;

/**
 * The stream of controls. It reopens by itself after every loss. While the gateway is gone, the connection's own
 * attempts set the pace. Each stream also waits a random time, so that not all agents hit a restarted gateway at once.
 */
export class ControlStream {
  readonly #subscribe: () => ByteStream;
  readonly #backoff: BackoffSettings;
  readonly #events: ControlStreamEvents;
  #stream: ByteStream | undefined;
  #timer: NodeJS.Timeout | undefined;
  #openedAt: number | undefined;
  #failures = 0;

  constructor(subscribe: () => ByteStream, backoff: BackoffSettings, events: ControlStreamEvents) {
    this.#subscribe = subscribe;
    this.#backoff = backoff;
    this.#events = events;
  }

  /** Opens the stream, and replaces an open one. */
  open(): void {
    this.close();
    let stream: ByteStream;
    try {
      stream = this.#subscribe();
    } catch (error) {
      if (error instanceof ReeveClosed) return;
      throw error;
    }
    this.#stream = stream;
    const ifCurrent = (act: () => void) => (this.#stream === stream ? act() : undefined);
    stream.on('metadata', () => ifCurrent(() => this.#opened()));
    stream.on('data', (bytes: Buffer) => ifCurrent(() => this.#receive(bytes)));
    stream.on('error', (error: ServiceError) => ifCurrent(() => this.#fail(error)));
    stream.on('end', () => ifCurrent(() => this.#lose('the gateway ended the stream')));
  }

  close(): void {
    clearTimeout(this.#timer);
    const stream = this.#stream;
    this.#stream = undefined;
    this.#openedAt = undefined;
    stream?.cancel();
  }

  #opened(): void {
    if (this.#openedAt !== undefined) return;
    this.#openedAt = performance.now();
    this.#events.onOpen();
  }

  #receive(bytes: Buffer): void {
    this.#opened();
    let message: OpControlMessage;
    try {
      message = decodeResponse(rpc.opControlStream, bytes);
    } catch {
      return this.#lose('a message of the gateway cannot be read');
    }
    this.#events.onMessage(message);
  }

  #fail({ code, details }: ServiceError): void {
    const error = errorOfStatus(code, details);
    const unsupported = code === status.UNIMPLEMENTED;
    if (!unsupported && !(error instanceof ReeveUnauthenticated)) return this.#lose(error.message);
    this.close();
    this.#events.onRefused(unsupported ? 'unsupported' : 'unauthenticated', error.message);
  }

  #lose(reason: string): void {
    const lasted = this.#openedAt === undefined ? 0 : performance.now() - this.#openedAt;
    this.close();
    if (lasted >= goodMs) this.#failures = 0;
    this.#timer = setTimeout(() => this.open(), backoffMs(this.#failures++, this.#backoff));
    this.#timer.unref();
    this.#events.onLost(reason);
  }
}
