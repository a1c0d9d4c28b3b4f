import type { IncomingMessage } from 'node:http';
import * as http from 'node:http';
import * as https from 'node:https';
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
  readonly body: Buffer | undefined;
  readonly signal: AbortSignal;
}

/** How long a connection is kept for the next call, unless the upstream asks for less. */
const idleMs = 30_000;
const largestHeaders = 64 * 1024;

/** The connections to the upstreams. They are kept open between calls. */
export class UpstreamConnections {
  readonly #http = new http.Agent({ keepAlive: true, timeout: idleMs });
  readonly #https = new https.Agent({ keepAlive: true, timeout: idleMs });

  /** Sends a request and waits for the head of the answer. Redirects are not followed: they would take the key along. */
  call({ baseUrl }: Upstream, { method, path, headers, body, signal }: UpstreamRequest): Promise<IncomingMessage> {
    const isSecure = baseUrl.protocol === 'https:';
    const options = {
      protocol: baseUrl.protocol,
      hostname: baseUrl.hostname.replace(/^\[|\]$/g, ''),
      ...(baseUrl.port === '' ? {} : { port: Number(baseUrl.port) }),
      method,
      path,
      headers,
      maxHeaderSize: largestHeaders,
    };
    return new Promise((resolve, reject) => {
      const request = isSecure
        ? https.request({ ...options, agent: this.#https })
        : http.request({ ...options, agent: this.#http });
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
        else socket.once(isSecure ? 'secureConnect' : 'connect', () => (isConnected = true));
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
      request.end(body);
    });
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}
