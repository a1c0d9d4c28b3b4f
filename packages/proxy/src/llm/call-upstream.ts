import type { IncomingMessage } from 'node:http';
import * as http from 'node:http';
import * as https from 'node:https';
import { bareHost } from '@reeve/contract/host-name';
import type { LateAgent } from './late-agent.ts';
import { lateAgent } from './late-agent.ts';
import type { Upstream } from './model-config.ts';

/** The upstream could not be called, or did not answer. */
export class UpstreamFailure extends Error {
  /** Whether the upstream may have got the request, and so may count it. */
  readonly mayHaveArrived: boolean;

  constructor(message: string, mayHaveArrived: boolean) {
    super(message);
    this.name = 'UpstreamFailure';
    this.mayHaveArrived = mayHaveArrived;
  }
}

export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string | string[]>;
}

/**
 * Sends a request that is ready, and waits for the head of the answer. Redirects are not followed: they would take the
 * key along. To be called once.
 */
export type SendUpstream = (body: Buffer | undefined, signal: AbortSignal) => Promise<IncomingMessage>;

/** How long a connection is kept for the next call, unless the upstream asks for less. */
const idleMs = 30_000;
const largestHeaders = 64 * 1024;

/** The connections to the upstreams. They are kept open between calls. */
export class UpstreamConnections {
  readonly #http = lateAgent(new http.Agent({ keepAlive: true, timeout: idleMs }));
  readonly #https = lateAgent(new https.Agent({ keepAlive: true, timeout: idleMs }));

  /** Makes a request ready. Nothing of it leaves, and it takes no connection, before it is sent. */
  prepare({ baseUrl }: Upstream, { method, path, headers }: UpstreamRequest): SendUpstream {
    const isSecure = baseUrl.protocol === 'https:';
    const late = isSecure ? this.#https : this.#http;
    const request = (isSecure ? https : http).request({
      protocol: baseUrl.protocol,
      hostname: bareHost(baseUrl.hostname),
      ...(baseUrl.port === '' ? {} : { port: Number(baseUrl.port) }),
      method,
      path,
      headers,
      maxHeaderSize: largestHeaders,
      agent: late.agent,
    });
    return (body, signal) => sent(request, late, body, signal);
  }

  close(): void {
    this.#http.agent.destroy();
    this.#https.agent.destroy();
  }
}

function sent(
  request: http.ClientRequest,
  late: LateAgent,
  body: Buffer | undefined,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let [isConnected, isSettled] = [false, false];
    const fail = (why: string) => {
      if (!isSettled) reject(new UpstreamFailure(why, isConnected));
      isSettled = true;
    };
    // As the option `signal` of a request does, for less.
    const abort = () => request.destroy(new Error('the call is stopped'));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    request.once('socket', (socket) => {
      if (!socket.connecting) isConnected = true;
      else socket.once(request.protocol === 'https:' ? 'secureConnect' : 'connect', () => (isConnected = true));
    });
    request.once('response', (answer) => {
      // Whoever reads the answer sees its errors. Before that, nobody would.
      answer.on('error', () => {});
      isSettled = true;
      resolve(answer);
    });
    request.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? 'it does not answer'));
    // An answer that wants to change the protocol ends without an error and without a response.
    request.once('close', () => {
      signal.removeEventListener('abort', abort);
      fail('it does not answer');
    });
    late.connect(request);
    request.end(body);
  });
}
