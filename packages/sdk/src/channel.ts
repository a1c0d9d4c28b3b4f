import type { ClientDuplexStream, ClientUnaryCall, ServiceError } from '@grpc/grpc-js';
import { Client, connectivityState, Metadata } from '@grpc/grpc-js';
import manifest from '../package.json' with { type: 'json' };
import type { Settings } from './connect-options.ts';
import type { Deadline } from './outage/retry.ts';
import { remainingMs } from './outage/retry.ts';
import { errorOfStatus } from './outage/error-of-status.ts';
import { ReeveClosed } from './errors.ts';
import { ProcessHold } from './process-hold.ts';
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

const passThrough = (bytes: Buffer) => bytes;

/** A connection to the gateway that carries byte calls. It connects with the first call, and again after a loss. */
export class Channel {
  /** Held by whatever waits on this connection. */
  readonly hold = new ProcessHold();
  readonly #client: Client;
  readonly #calls = new Set<() => void>();
  #closed = false;

  constructor({ address, tls }: Settings) {
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

  get closed(): boolean {
    return this.#closed;
  }

  get connected(): boolean {
    return !this.#closed && this.#client.getChannel().getConnectivityState(false) === connectivityState.READY;
  }

  /** One attempt of one call. */
  unary(path: string, message: Buffer, options: AttemptOptions): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new ReeveClosed();
      const { signal } = options;
      signal?.throwIfAborted();
      let call: ClientUnaryCall | undefined;
      const release = this.hold.take();
      const settle = () => {
        release();
        this.#calls.delete(close);
        signal?.removeEventListener('abort', abort);
      };
      const giveUp = (reason: unknown) => {
        settle();
        reject(reason);
        call?.cancel();
      };
      const close = () => giveUp(new ReeveClosed());
      const abort = () => giveUp(signal?.reason);
      this.#calls.add(close);
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
        (error: ServiceError | null, answer?: Buffer) => {
          settle();
          if (error !== null) reject(errorOfStatus(error.code, error.details));
          else resolve(answer ?? Buffer.alloc(0));
        },
      );
    });
  }

  stream(path: string, options: { readonly waitForReady: boolean }): ByteStream {
    if (this.#closed) throw new ReeveClosed();
    const call = this.#client.makeBidiStreamRequest(path, passThrough, passThrough, metadataOf(options));
    const cancel = () => call.cancel();
    this.#calls.add(cancel);
    call.once('status', () => this.#calls.delete(cancel));
    return call;
  }

  /** Ends every call that is in flight. */
  close(): void {
    this.#closed = true;
    for (const end of this.#calls) end();
    this.#calls.clear();
    this.#client.close();
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
