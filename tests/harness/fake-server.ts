import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
  readonly idempotencyKey?: string;
}

export interface FakeAnswer {
  readonly status?: number;
  readonly json?: unknown;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Script = (seen: SeenRequest, response: ServerResponse) => FakeAnswer | undefined;

/** A server that follows a test's script and records requests. A script without a result answers itself, or never. */
export class FakeServer {
  readonly url: string;
  readonly seen: SeenRequest[] = [];
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async start(script: Script): Promise<FakeServer> {
    const server = createServer((request, response) => {
      void answer(request, response);
    });
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const key = request.headers['idempotency-key'];
      const seen = {
        method: request.method ?? '',
        path: request.url ?? '',
        authorization: request.headers.authorization,
        body: Buffer.concat(chunks).toString(),
        ...(typeof key === 'string' ? { idempotencyKey: key } : {}),
      };
      fake.seen.push(seen);
      const { status = 200, json, body = '', headers = {} } = script(seen, response) ?? { status: 0 };
      if (status === 0) return;
      const type =
        json === undefined ? {} : { 'content-type': status >= 400 ? 'application/problem+json' : 'application/json' };
      response.writeHead(status, { ...type, ...headers }).end(json === undefined ? body : JSON.stringify(json));
    };
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const fake = new FakeServer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    return fake;
  }

  /** The requests to a path, whatever their query. */
  to(path: string): SeenRequest[] {
    return this.seen.filter((request) => request.path.split('?')[0] === path);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}
