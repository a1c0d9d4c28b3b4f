import type { Cancellable, CallStatus, ClientStream } from '@reeve/grpc-server/client';
import { GrpcClient, statusCode } from '@reeve/grpc-server/client';
import manifest from '../package.json' with { type: 'json' };
import type { Endpoint } from './endpoints.ts';
import type { Deadline } from './outage/retry.ts';
import { remainingMs } from './outage/retry.ts';
import { errorOfStatus } from './outage/error-of-status.ts';
import type { Patience, Question } from './outage/silence.ts';
import { Silence } from './outage/silence.ts';
import type { ReeveError } from './errors.ts';
import { ReeveClosed, ReeveUnavailable } from './errors.ts';
import type { ProcessHold } from './process-hold.ts';

export interface AttemptOptions {
  readonly deadline: Deadline;
  readonly signal?: AbortSignal | undefined;
  /** Sent as `authorization: Bearer …`. */
  readonly bearer?: string | undefined;
  /** Whether the call waits for a lost connection to return, or fails at once. */
  readonly waitForReady: boolean;
  /** The longest answer, of a call that may take its time: it says nothing of a gateway that it waits. */
  readonly longest?: number | undefined;
}

/** A stream of messages in bytes. */
export type ByteStream = ClientStream;

/** What happens to a stream. Nothing does before it is returned. */
export interface StreamEvents {
  /** The gateway has accepted the stream. */
  readonly onOpen: () => void;
  readonly onMessage: (bytes: Buffer) => void;
  /** `error` has the status that it comes from, in case that tells more. */
  readonly onEnd: (error: ReeveError, status: CallStatus) => void;
}

export interface ChannelOptions {
  /** Held by whatever waits on this connection. */
  readonly hold: ProcessHold;
  /** How long the gateway may be silent. Without it, only deadlines count. */
  readonly patience?: Patience | undefined;
}

/** A connection to a gateway that carries byte calls. It connects with the first call, and again after a loss. */
export class Channel {
  readonly address: string;
  readonly #hold: ProcessHold;
  readonly #client: GrpcClient;
  readonly #silence: Silence;
  /** Ends each call in flight, with the reason. */
  readonly #calls = new Set<(why: ReeveClosed | ReeveUnavailable) => void>();
  #left = false;
  #closed = false;

  constructor({ address, tls }: Endpoint, { hold, patience }: ChannelOptions) {
    this.address = address;
    this.#hold = hold;
    this.#silence = new Silence(
      patience,
      () => this.connected,
      (connected) => this.#forsake(connected),
    );
    this.#client = new GrpcClient({ address, tls, userAgent: `reeve-sdk-js/${manifest.version}` });
  }

  get connected(): boolean {
    return !this.#left && this.#client.isConnected;
  }

  /** Whether the gateway has closed the connection after it had answered, or has been silent for too long. */
  get lost(): boolean {
    return this.#left || (this.#silence.everBroken && !this.connected);
  }

  get idle(): boolean {
    return this.#calls.size === 0;
  }

  /** One attempt of one call. */
  unary(path: string, message: Buffer, options: AttemptOptions): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new ReeveClosed();
      const { signal } = options;
      signal?.throwIfAborted();
      let call: Cancellable | undefined;
      const release = this.#hold.take();
      const question = options.longest === undefined ? this.#silence.ask() : undefined;
      const settle = () => {
        release();
        this.#calls.delete(giveUp);
        signal?.removeEventListener('abort', abort);
      };
      const giveUp = (reason: unknown) => {
        settle();
        question?.withdraw();
        reject(reason);
        call?.cancel();
      };
      const abort = () => giveUp(signal?.reason);
      this.#calls.add(giveUp);
      signal?.addEventListener('abort', abort, { once: true });
      const timeoutMs = Math.ceil(remainingMs(options.deadline)) + 1;
      const { waitForReady, bearer, longest: messageBytes } = options;
      const metadata = bearer === undefined ? [] : ([['authorization', `Bearer ${bearer}`]] as const);
      call = this.#client.unary(
        path,
        message,
        { timeoutMs, metadata, waitForReady, messageBytes },
        (status, answer) => {
          settle();
          const error = status.code === statusCode.ok ? undefined : errorOfStatus(status.code, status.message);
          if (error instanceof ReeveUnavailable) question?.fail();
          else question?.answer();
          if (error === undefined) resolve(answer ?? Buffer.alloc(0));
          else reject(error);
        },
      );
    });
  }

  stream(path: string, { waitForReady }: { readonly waitForReady: boolean }, events: StreamEvents): ByteStream {
    if (this.#closed) throw new ReeveClosed();
    const question = this.#silence.ask();
    const call = this.#client.stream(
      path,
      { waitForReady },
      {
        opened: () => {
          question.answer();
          events.onOpen();
        },
        message: events.onMessage,
        ended: (status) => {
          this.#calls.delete(end);
          question.fail();
          events.onEnd(errorOfEnd(status), status);
        },
      },
    );
    const end = ({ message }: Error) => call.cancel({ code: statusCode.unavailable, message });
    this.#calls.add(end);
    return call;
  }

  /** The gateway owes an answer, by a message on a stream. */
  ask(): Question {
    return this.#silence.ask();
  }

  /** Gives the connection up. Calls that have gone out may still be answered. Calls that wait for it fail. */
  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#silence.end();
    this.#client.close();
  }

  /** Ends every call that is in flight. */
  close(): void {
    this.#closed = true;
    for (const end of this.#calls) end(new ReeveClosed());
    this.#calls.clear();
    this.leave();
  }

  /** The gateway is silent. If there is a connection, the calls that wait have gone out. */
  #forsake(connected: boolean): void {
    this.leave();
    if (connected) for (const end of this.#calls) end(new ReeveUnavailable('the gateway does not answer'));
  }
}

/** To the SDK, a stream that ends is one that is lost. */
function errorOfEnd({ code, message }: CallStatus): ReeveError {
  if (code === statusCode.ok) return new ReeveUnavailable('the gateway ended the stream');
  return errorOfStatus(code, message);
}
