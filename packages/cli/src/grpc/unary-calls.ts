import { CappedReader } from '@reeve/contract';
import { GrpcClient, statusCode } from '@reeve/grpc-server/client';

/** The gateway did not answer, or not in time. */
export class GatewayAway extends Error {}

/** The gateway answered with a status. */
export class GatewayRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A method of the contract, with its codecs. */
export interface UnaryMethod<Request, Response> {
  readonly path: string;
  readonly request: { encode(message: Request): { finish(): Uint8Array } };
  readonly response: { decode(reader: CappedReader): Response };
  /** The longest answer, where it is longer than that of other methods. */
  readonly longest?: number;
}

export interface UnaryCallsOptions {
  readonly address: string;
  /** Undefined for plain text. */
  readonly tls: { readonly ca?: string } | undefined;
  readonly connectMs: number;
  readonly callMs: number;
}

/** Nobody has answered then. The server's side gives a call up when it is made to stop. */
const away: ReadonlySet<number> = new Set([statusCode.cancelled, statusCode.deadlineExceeded, statusCode.unavailable]);

/** A few calls to one gateway, without what the SDK adds for agents that stay: retries, streams, heartbeats. */
export class UnaryCalls implements Disposable {
  readonly #client: GrpcClient;
  readonly #callMs: number;

  private constructor(client: GrpcClient, callMs: number) {
    this.#client = client;
    this.#callMs = callMs;
  }

  /** Connects. Rejects if nobody answers. */
  static async open({ address, tls, connectMs, callMs }: UnaryCallsOptions): Promise<UnaryCalls> {
    const client = new GrpcClient({ address, tls, limits: { connectWithinMs: connectMs } });
    try {
      await held(client.connect());
    } catch (error) {
      client.close();
      throw error;
    }
    return new UnaryCalls(client, callMs);
  }

  /** Rejects with `GatewayAway` or `GatewayRefusal`. */
  call<Request, Response>(
    { path, request, response, longest }: UnaryMethod<Request, Response>,
    message: Request,
    bearer?: string,
  ): Promise<Response> {
    const metadata = bearer === undefined ? [] : ([['authorization', `Bearer ${bearer}`]] as const);
    const encoded = request.encode(message).finish();
    const answer = new Promise<Response>((resolve, reject) => {
      this.#client.unary(
        path,
        encoded,
        { timeoutMs: this.#callMs, metadata, messageBytes: longest },
        (status, bytes) => {
          if (bytes !== undefined) settle(() => resolve(response.decode(new CappedReader(bytes))), reject);
          else if (away.has(status.code)) reject(new GatewayAway(status.message));
          else reject(new GatewayRefusal(status.code, status.message));
        },
      );
    });
    return held(answer);
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

function settle(act: () => void, reject: (error: Error) => void): void {
  try {
    act();
  } catch {
    reject(new GatewayRefusal(statusCode.internal, 'the answer of the gateway cannot be read'));
  }
}

/** The client keeps no process alive. Whoever waits for an answer does. */
async function held<Result>(waitedFor: Promise<Result>): Promise<Result> {
  const hold = setInterval(() => undefined, 2 ** 31 - 1);
  try {
    return await waitedFor;
  } finally {
    clearInterval(hold);
  }
}
