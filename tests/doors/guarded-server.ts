import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { send } from '../harness/token-issuer.ts';

interface Heard {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
}

/** An MCP server over HTTP that looks at tokens, and notes what it was sent. */
export class GuardedServer implements AsyncDisposable {
  readonly url: string;
  readonly heard: Heard[] = [];
  /** How it refuses a request, or undefined to take it. */
  refusal: (token: string | undefined, method: string) => Record<string, string | number> | undefined = () => undefined;
  /** Replaces the answer to a GET, as of its documents. */
  documents: Record<string, unknown> = {};
  /** Whether clients may listen to it with GET. */
  hasStreams = false;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#take(request, response));
  }

  static async start(): Promise<GuardedServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new GuardedServer(server);
  }

  /** The tokens of the calls of tools. */
  tokens(): (string | undefined)[] {
    const calls = this.heard.filter(({ method }) => method === 'tools/call');
    return calls.map(({ headers }) => headers.authorization?.replace('Bearer ', ''));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const document = request.method === 'GET' ? this.documents[request.url ?? ''] : undefined;
    if (document !== undefined) return send(response, 200, document);
    if (request.method === 'GET' && this.hasStreams) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      return;
    }
    if (request.method !== 'POST') return send(response, 405, {});
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id?: unknown; method: string };
    this.heard.push({ method, headers: request.headers });
    const refusal = this.refusal(request.headers.authorization?.replace('Bearer ', ''), method);
    if (refusal !== undefined) {
      const { status = 401, ...headers } = refusal;
      response.writeHead(Number(status), { 'content-type': 'application/json', ...headers }).end('{}');
      return;
    }
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    send(response, 200, { jsonrpc: '2.0', id, result: resultOf(method) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

function resultOf(method: string): unknown {
  if (method === 'initialize') {
    return {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'guarded', version: '1' },
    };
  }
  if (method === 'tools/list') return { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
  return { content: [{ type: 'text', text: 'done' }] };
}
