import type { ClientDuplexStream, ClientUnaryCall, ServiceError } from '@grpc/grpc-js';
import { Client, connectivityState, Metadata, status } from '@grpc/grpc-js';
import manifest from '../package.json' with { type: 'json' };
import type { Endpoint } from './endpoints.ts';
import type { Deadline } from './outage/retry.ts';
import { remainingMs } from './outage/retry.ts';
import { errorOfStatus } from './outage/error-of-status.ts';
import type { Patience, Question } from './outage/silence.ts';
import { Silence } from './outage/silence.ts';
import { ReeveClosed, ReeveUnavailable } from './errors.ts';
import type { ProcessHold } from './process-hold.ts';
import { quietCredentials } from './quiet-credentials.ts';

export interface AttemptOptions {
  readonly deadline: Deadline;
  readonly signal?: AbortSignal | undefined;
  /** Sent as `authorization: Bearer …`. */
  readonly bearer?: string | undefined;
  /** Whether the call waits for a lost connection to return, or fails at once. */
  readonly waitForReady: boolean;
}

export type ByteStream = ClientDuplexStream<Buffer, Buffer>;

export interface ChannelOptions {
  /** Held by whatever waits on this connection. */
  readonly hold: ProcessHold;
  /** How long the gateway may be silent. Without it, only deadlines count. */
  readonly patience?: Patience | undefined;
}

const passThrough = (bytes: Buffer) => bytes;

/** A connection to a gateway that carries byte calls. It connects with the first call, and again after a loss. */
export class Channel {
  readonly address: string;
  readonly #hold: ProcessHold;
  readonly #client: Client;
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
    this.#client = new Client(address, quietCredentials(tls), {
      'grpc.primary_user_agent': `reeve-sdk-js/${manifest.version}`,
      // The SDK finds a restarted gateway soon, and notices a connection that died silently.
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 2000,
      'grpc.keepalive_time_ms': 10_000,
      'grpc.keepalive_timeout_ms': 5000,
      // Each client has its own connection, so closing one takes nothing from another.
      'grpc.use_local_subchannel_pool': 1,
      // The SDK retries under its own budget. A name server has no say in retries.
      'grpc.service_config_disable_resolution': 1,
      ...(tls?.serverName === undefined ? {} : { 'grpc.ssl_target_name_override': tls.serverName }),
    });
  }

  get connected(): boolean {
    return !this.#left && this.#client.getChannel().getConnectivityState(false) === connectivityState.READY;
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
      let call: ClientUnaryCall | undefined;
      const release = this.#hold.take();
      const question = this.#silence.ask();
      const settle = () => {
        release();
        this.#calls.delete(giveUp);
        signal?.removeEventListener('abort', abort);
      };
      const giveUp = (reason: unknown) => {
        settle();
        question.withdraw();
        reject(reason);
        call?.cancel();
      };
      const abort = () => giveUp(signal?.reason);
      this.#calls.add(giveUp);
      signal?.addEventListener('abort', abort, { once: true });
      const metadata = metadataOf(options);
      const deadline = Date.now() + Math.ceil(remainingMs(options.deadline)) + 1;
      call = this.#client.makeUnaryRequest(
        path,
        passThrough,
        passThrough,
        message,
        metadata,
        { deadline },
        (failure: ServiceError | null, answer?: Buffer) => {
          settle();
          const error = failure === null ? undefined : errorOfStatus(failure.code, failure.details);
          if (error instanceof ReeveUnavailable) question.fail();
          else question.answer();
          if (error === undefined) resolve(answer ?? Buffer.alloc(0));
          else reject(error);
        },
      );
    });
  }

  stream(path: string, options: { readonly waitForReady: boolean }): ByteStream {
    if (this.#closed) throw new ReeveClosed();
    const call = this.#client.makeBidiStreamRequest(path, passThrough, passThrough, metadataOf(options));
    const question = this.#silence.ask();
    const end = ({ message }: Error) => call.call?.cancelWithStatus(status.UNAVAILABLE, message);
    this.#calls.add(end);
    call.once('metadata', () => question.answer());
    call.once('status', () => {
      this.#calls.delete(end);
      question.fail();
    });
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

function metadataOf({
  waitForReady,
  bearer,
}: {
  readonly waitForReady: boolean;
  readonly bearer?: string | undefined;
}) {
  const metadata = new Metadata({ waitForReady });
  if (bearer !== undefined) metadata.set('authorization', `Bearer ${bearer}`);
  return metadata;
}
