import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import { connect, constants } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { isLocalAddress } from '@reeve/contract/host-name';
import type { AgentName } from '../agent-identity/agent-name.ts';
import type { GrpcGateway } from '../agent-identity/grpc-gateway.ts';
import type { CheckAnswer } from './hook-messages.ts';
import { batchRequest, identifyRequest, readBatchAnswers, readCheckAnswer, readIdentity } from './hook-messages.ts';

const paths = {
  identifyAgent: '/reeve.v1.AgentService/IdentifyAgent',
  checkAction: '/reeve.v1.PolicyService/CheckAction',
  batchCheck: '/reeve.v1.PolicyService/BatchCheck',
  completeAction: '/reeve.v1.PolicyService/CompleteAction',
} as const;

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

/** Statuses that say that nobody answered: deadline exceeded, unavailable. */
const away = new Set([4, 14]);

const callMs = 5000;
const connectMs = 2000;
const mostBytes = 4 * 1024 * 1024;

/**
 * The few calls of a hook, over bare HTTP/2. A hook is a process for each use of a tool, and loading a library for gRPC
 * would take longer than everything else that it does.
 */
export class GatewayCalls implements Disposable {
  readonly #session: ClientHttp2Session;

  private constructor(session: ClientHttp2Session) {
    this.#session = session;
    session.on('error', () => undefined);
  }

  /** Connects to the first gateway that answers. */
  static async open({ addresses, tls }: GrpcGateway): Promise<GatewayCalls> {
    const failures: string[] = [];
    for (const address of addresses) {
      try {
        return new GatewayCalls(await opened(address, tls));
      } catch (error) {
        failures.push(`${address}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    throw new GatewayAway(failures.join('; '));
  }

  async identify(token: string): Promise<AgentName> {
    const agent = await this.#call(paths.identifyAgent, identifyRequest(token), readIdentity);
    if (agent === undefined) throw new GatewayRefusal(13, 'the gateway did not say whose token it is');
    return agent;
  }

  /** Sends encoded checks. Answers come in their order. */
  async check(requests: readonly Uint8Array[]): Promise<readonly CheckAnswer[]> {
    const [only] = requests;
    if (requests.length === 1 && only !== undefined)
      return [await this.#call(paths.checkAction, only, readCheckAnswer)];
    const answers = await this.#call(paths.batchCheck, batchRequest(requests), readBatchAnswers);
    if (answers.length !== requests.length) throw new GatewayRefusal(13, 'the gateway did not answer every check');
    return answers;
  }

  async complete(request: Uint8Array): Promise<void> {
    await this.#call(paths.completeAction, request, () => undefined);
  }

  #call<Response>(path: string, body: Uint8Array, read: (bytes: Uint8Array) => Response): Promise<Response> {
    return new Promise<Response>((resolve, reject) => {
      const stream = this.#session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      const chunks: Buffer[] = [];
      let size = 0;
      let status: number | undefined;
      let words = '';
      const heed = (headers: IncomingHttpHeaders) => {
        const given = [headers['grpc-status'] ?? []].flat()[0];
        status ??= given === undefined ? undefined : Number(given);
        words = [headers['grpc-message'] ?? words].flat()[0] ?? '';
      };
      const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), callMs);
      stream.on('response', heed).on('trailers', heed);
      stream.on('data', (chunk: Buffer) => {
        size += chunk.byteLength;
        if (size > mostBytes) stream.close(constants.NGHTTP2_CANCEL);
        else chunks.push(chunk);
      });
      stream.on('error', (error) => reject(new GatewayAway(error.message)));
      stream.on('close', () => {
        clearTimeout(timer);
        if (status === undefined || away.has(status))
          reject(new GatewayAway(words === '' ? 'no answer' : decoded(words)));
        else if (status !== 0) reject(new GatewayRefusal(status, decoded(words)));
        else settle(() => resolve(read(Buffer.concat(chunks).subarray(framing))), reject);
      });
      stream.end(framed(body));
    });
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }
}

function settle(act: () => void, reject: (error: Error) => void): void {
  try {
    act();
  } catch {
    reject(new GatewayRefusal(13, 'the answer of the gateway cannot be read'));
  }
}

function opened(address: string, tls: GrpcGateway['tls']): Promise<ClientHttp2Session> {
  const { promise, resolve, reject } = Promise.withResolvers<ClientHttp2Session>();
  const path = address.startsWith('unix:') ? address.replace(/^unix:(?:\/\/(?=\/))?/, '') : undefined;
  const scheme = tls === undefined && isLocalAddress(address) ? 'http' : 'https';
  const session =
    path === undefined
      ? connect(`${scheme}://${address}`, { ...tls })
      : connect('http://localhost', { createConnection: () => connectSocket(path) });
  const timer = setTimeout(() => session.destroy(new Error('no answer')), connectMs);
  session.once('error', reject);
  session.once('close', () => reject(new Error('closed')));
  // Any HTTP/2 peer sends settings.
  session.once('remoteSettings', () => resolve(session));
  return promise.finally(() => clearTimeout(timer));
}

/** The header of each message: one byte for "not compressed", four for the length. */
const framing = 5;

function framed(body: Uint8Array): Buffer {
  const frame = Buffer.alloc(framing + body.byteLength);
  frame.writeUInt32BE(body.byteLength, 1);
  frame.set(body, framing);
  return frame;
}

/** The message of a status is percent-encoded. */
function decoded(words: string): string {
  try {
    return decodeURIComponent(words);
  } catch {
    return words;
  }
}
