import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';

/** The answer over a bare socket. */
export interface RawAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

/** Sends bytes that no HTTP client would send, and reads until the gateway closes the connection. */
export async function sendRaw(base: string, bytes: string | Uint8Array): Promise<RawAnswer> {
  const socket = await openSocket(base);
  socket.write(bytes);
  return await rawAnswer(socket);
}

export async function openSocket(base: string): Promise<Socket> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket;
}

/** Reads an answer until the connection ends. */
export async function rawAnswer(socket: Socket): Promise<RawAnswer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  const [head = '', ...rest] = Buffer.concat(chunks).toString().split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { status: Number(first.split(' ')[1]), headers: new Map(headers), text: rest.join('\r\n\r\n') };
}

/** The text of a request that closes the connection. */
export function rawRequest(method: string, path: string, headers: readonly string[] = [], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, ...length, '', body].join(
    '\r\n',
  );
}
