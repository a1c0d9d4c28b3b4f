import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { protocolOf, readAuthority } from './destination.ts';
import { dismiss } from './dismiss.ts';
import type { GovernedConnections } from './governed-connections.ts';
import { exchange, longestHead, readPlain, whatIsWrong } from './plain-requests.ts';
import type { Refusal } from './refusal.ts';
import { bodyOf, refusalOf, refusalText } from './refusal.ts';
import { serveSocks } from './socks.ts';
import { departure, joinTunnel } from './tunnel.ts';

export const mostClients = 512;
/** How long a program may take to say what it wants. */
const headMs = 15_000;
const socksVersion = 5;

/** The proxy that a program meets: CONNECT and plain requests of HTTP, and SOCKS, on one address. */
export class ProxyFront {
  readonly mostClients = mostClients;
  readonly #connections: GovernedConnections;
  readonly #clients = new Map<Socket, NodeJS.Timeout>();
  /** Those whose last request was refused: their connection ends with the answer. */
  readonly #refused = new WeakSet<Duplex>();
  #http: Server | undefined;

  constructor(connections: GovernedConnections) {
    this.#connections = connections;
  }

  /** Made for the first who needs it: a program must not wait for what it may never use. */
  #reader(): Server {
    // To import it takes longer, as that loads all that it could be asked for, such as WebSocket.
    const { createServer } = process.getBuiltinModule('node:http');
    const http = createServer({ maxHeaderSize: longestHead, requireHostHeader: false, insecureHTTPParser: false });
    http.maxHeadersCount = 0;
    http.timeout = 0;
    http.on('request', (request, response) => void this.#plain(request, response));
    http.on('connect', (request, socket, head) => void this.#tunnel(request, socket as Socket, head));
    http.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      // What follows a refused request is not looked at.
      if (socket.destroyed || this.#refused.has(socket)) return;
      this.#refused.add(socket);
      const reason = `the request cannot be read (${error.code ?? 'it is malformed'})`;
      dismiss(socket as Socket, refusalText({ status: 400, reason }));
    });
    return http;
  }

  readonly accept = (client: Socket): void => {
    client.on('error', () => client.destroy());
    this.#await(client);
    client.once('close', () => {
      clearTimeout(this.#clients.get(client));
      this.#clients.delete(client);
    });
    client.once('readable', () => {
      const first: unknown = client.read();
      if (!Buffer.isBuffer(first)) return;
      client.unshift(first);
      if (first[0] !== socksVersion) (this.#http ??= this.#reader()).emit('connection', client);
      else serveSocks(client, this.#connections, () => this.#heard(client)).catch(() => client.destroy());
    });
  };

  /** Cuts all that is left. */
  close(): void {
    for (const client of this.#clients.keys()) client.destroy();
  }

  #await(client: Socket): void {
    clearTimeout(this.#clients.get(client));
    this.#clients.set(client, setTimeout(() => client.destroy(), headMs).unref());
  }

  #heard(client: Socket): void {
    clearTimeout(this.#clients.get(client));
  }

  async #tunnel(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    this.#heard(client);
    const place = readAuthority(request.url ?? '');
    const hasBody =
      request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
    const wrong =
      place === undefined ? 'CONNECT takes HOST:PORT' : hasBody ? 'CONNECT has no body' : whatIsWrong(request);
    if (place === undefined || wrong !== undefined) {
      return dismiss(client, refusalText({ status: 400, reason: wrong ?? '' }));
    }
    if (head.length > 0) client.unshift(head);
    try {
      const to = { ...place, protocol: protocolOf(place.port) };
      await this.#connections.open(to, true, departure(client), async (line) => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        await joinTunnel(client, line);
      });
    } catch (error) {
      dismiss(client, refusalText(refusalOf(error)));
    }
  }

  async #plain(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const client = request.socket;
    this.#heard(client);
    response.once('close', () => {
      if (!client.destroyed) this.#await(client);
    });
    const read = readPlain(request);
    if (typeof read === 'string') return this.#refuse(response, { status: 400, reason: read });
    try {
      await this.#connections.open(read.to, false, departure(client), (line) =>
        exchange(request, read, response, line),
      );
    } catch (error) {
      if (response.headersSent) response.destroy();
      else this.#refuse(response, refusalOf(error));
    }
  }

  /** The client may not have sent all of this request, so that nobody knows where another would begin. */
  #refuse(response: ServerResponse, { status, reason }: Pick<Refusal, 'status' | 'reason'>): void {
    if (response.socket !== null) this.#refused.add(response.socket);
    const body = bodyOf(reason);
    const headers = { 'content-type': 'text/plain; charset=utf-8', 'content-length': body.length, connection: 'close' };
    response.writeHead(status, headers).end(body);
  }
}
