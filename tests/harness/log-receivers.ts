import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect } from 'vitest';
import type { LoggedEntry } from './audit-log.ts';

/** What a receiver of forwarded entries has got, repetitions included, in the order of arrival. */
export interface LogReceiver extends AsyncDisposable {
  readonly port: number;
  readonly lines: readonly string[];
}

/**
 * Checks what a receiver has: every entry up to `last` from `first` on, in order. A repetition may begin anywhere
 * before, but nothing comes before all that precedes it. Each hash must fit, and each entry link to the one before.
 */
export function expectWholeLog(lines: readonly string[], first: number, last: number): void {
  let newest = first - 1;
  const hashes = new Map<number, string>();
  for (const line of lines) {
    const entry = JSON.parse(line) as LoggedEntry;
    expect(entry.seq, 'a gap').toBeLessThanOrEqual(newest + 1);
    expect(entry.seq).toBeGreaterThanOrEqual(first);
    const canonical = line.replace(/,"hash":"[0-9a-f]{64}"\}$/, '}');
    expect(entry.hash).toBe(createHash('sha256').update(canonical).digest('hex'));
    const before = hashes.get(entry.seq - 1);
    if (before !== undefined) expect(entry.prev_hash).toBe(before);
    hashes.set(entry.seq, entry.hash);
    newest = Math.max(newest, entry.seq);
  }
  expect(newest).toBe(last);
}

interface Post {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Answers a request in another way than to accept it. */
type Fault = (response: ServerResponse, request: { readonly socket: Socket }) => void;

export function refuse(status: number, headers: Readonly<Record<string, string>> = {}): Fault {
  return (response) => void response.writeHead(status, headers).end('no');
}

/** The connection breaks before there is an answer. */
export const cut: Fault = (_response, { socket }) => void socket.destroy();

/** A receiver over HTTP. It takes what comes, after the given faults. */
export class HttpReceiver implements LogReceiver {
  readonly posts: Post[] = [];
  readonly lines: string[] = [];
  faults: (Fault | undefined)[] = [];
  /** The body of good answers. */
  answer = '{}';
  readonly #linesOf: (post: Post) => string[];
  readonly #server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const post = { path: request.url ?? '', headers: request.headers, text: Buffer.concat(chunks).toString() };
      this.posts.push(post);
      const fault = this.faults.shift();
      if (fault !== undefined) {
        fault(response, request);
        return;
      }
      this.lines.push(...this.#linesOf(post));
      response.writeHead(200, { 'content-type': 'application/json' }).end(this.answer);
    });
  });

  private constructor(linesOf: (post: Post) => string[]) {
    this.#linesOf = linesOf;
  }

  static async start(linesOf: (post: Post) => string[], port = 0): Promise<HttpReceiver> {
    const receiver = new HttpReceiver(linesOf);
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

/** The lines of a batch whose signature is verified as a receiver would. */
export function signedLines(secret: string): (post: Post) => string[] {
  return ({ headers, text }) => {
    const [, time = '', mac = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['reeve-signature'])) ?? [];
    expect(mac).toBe(createHmac('sha256', secret).update(`${time}.${text}`).digest('hex'));
    return text.split('\n').slice(0, -1);
  };
}

interface OtlpBody {
  readonly resourceLogs: {
    readonly scopeLogs: { readonly logRecords: { readonly body: { readonly stringValue: string } }[] }[];
  }[];
}

/** The bodies of OpenTelemetry's log records. */
export function otlpLines({ text }: Post): string[] {
  const { resourceLogs } = JSON.parse(text) as OtlpBody;
  const records = resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords));
  return records.map(({ body }) => body.stringValue);
}

/** A syslog server over TCP or TLS that counts octets. It can break connections in the middle of a message. */
export class SyslogReceiver implements LogReceiver {
  readonly messages: string[] = [];
  /** After how many bytes each of the next connections breaks. */
  cuts: number[] = [];
  /** What senders have called it, over TLS. */
  readonly names = new Set<unknown>();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(tls: { readonly cert: Buffer; readonly key: Buffer } | undefined) {
    const take = (socket: Socket) => this.#take(socket);
    this.#server = tls === undefined ? createServer(take) : createTlsServer(tls, take);
  }

  static async start(tls?: { readonly cert: Buffer; readonly key: Buffer }, port = 0): Promise<SyslogReceiver> {
    const receiver = new SyslogReceiver(tls);
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get lines(): string[] {
    return this.messages.map((message) => message.slice(message.indexOf('] {') + 2));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #take(socket: Socket): void {
    this.#sockets.add(socket);
    if ('servername' in socket) this.names.add(socket.servername);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
    const cutAfter = this.cuts.shift() ?? Number.POSITIVE_INFINITY;
    let received = 0;
    let rest: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
      rest = this.#read(Buffer.concat([rest, chunk.subarray(0, Math.max(0, cutAfter - received + chunk.length))]));
      if (received >= cutAfter) socket.destroy();
    });
  }

  #read(bytes: Buffer): Buffer {
    for (let rest = bytes; ; ) {
      const space = rest.indexOf(' ');
      const length = Number(rest.toString('latin1', 0, space));
      if (space < 1 || rest.length < space + 1 + length) return rest;
      expect(length).toBeGreaterThan(0);
      this.messages.push(rest.toString('utf8', space + 1, space + 1 + length));
      rest = rest.subarray(space + 1 + length);
    }
  }
}
