import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import type { Destination } from './destination.ts';
import { authorityOf, readAuthority } from './destination.ts';
import type { Line } from './line.ts';

/** What a request for a proxy asks for. */
export interface PlainRequest {
  readonly to: Destination;
  /** The path and query as they were sent. */
  readonly path: string;
  readonly headers: readonly string[];
}

export const longestHead = 65_536;

/** Headers that concern one connection only, and those that this proxy sets itself. */
const ownHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
]);

/** Reads a request with a whole URL. A text says what is wrong with it. */
export function readPlain(request: IncomingMessage): PlainRequest | string {
  const [, authority, rest = ''] = /^http:\/\/([^/?#@\\\s]+)([/?][^#\s]*)?$/i.exec(request.url ?? '') ?? [];
  if (authority === undefined)
    return 'this is a proxy: ask for an http:// URL without user and fragment, or use CONNECT';
  const place = readAuthority(authority, 80);
  if (place === undefined) return 'the URL has no host that can be read';
  const wrong = whatIsWrong(request);
  if (wrong !== undefined) return wrong;
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  const to = { ...place, protocol: 'http' } as const;
  const framing = bodyHeaders(request);
  const headers = ['Host', authorityOf(to), ...passedOn(request.rawHeaders), ...framing, 'Connection', 'close'];
  return { to, path, headers };
}

/** What makes two readers of a request disagree where it ends. The parser refuses most of it before. */
export function whatIsWrong({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): string | undefined {
  const count = new Map<string, number>();
  const values = new Map<string, string>();
  for (const [name, value] of pairsOf(rawHeaders)) {
    if (/[\0\r\n]/.test(value)) return `the header ${name} holds a control character`;
    count.set(name.toLowerCase(), (count.get(name.toLowerCase()) ?? 0) + 1);
    values.set(name.toLowerCase(), value);
  }
  const repeated = ['host', 'content-length', 'transfer-encoding'].find((name) => (count.get(name) ?? 0) > 1);
  if (repeated !== undefined) return `the header ${repeated} is there more than once`;
  const [length, coding] = [values.get('content-length'), values.get('transfer-encoding')];
  if (length !== undefined && coding !== undefined) return 'content-length and transfer-encoding exclude each other';
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return 'content-length must be a number';
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return 'transfer-encoding must be chunked';
  return undefined;
}

function bodyHeaders({ headers }: IncomingMessage): readonly string[] {
  const length = headers['content-length'];
  if (length !== undefined) return ['Content-Length', length];
  return headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked'];
}

/** Headers for the other side, as they were written, without those of this connection. */
function passedOn(rawHeaders: readonly string[]): readonly string[] {
  const connections = pairsOf(rawHeaders).filter(([name]) => name.toLowerCase() === 'connection');
  const named = new Set(connections.flatMap(([, value]) => value.split(',').map((each) => each.trim().toLowerCase())));
  const isOwn = (name: string) => ownHeaders.has(name) || name === 'content-length' || named.has(name);
  return pairsOf(rawHeaders).flatMap(([name, value]) => (isOwn(name.toLowerCase()) ? [] : [name, value]));
}

function pairsOf(raw: readonly string[]): readonly (readonly [string, string])[] {
  return Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at] ?? '', raw[2 * at + 1] ?? ''] as const);
}

/** Sends the request on, written anew, and the answer back. Rejects if there is no answer. */
export async function exchange(
  request: IncomingMessage,
  { path, headers }: PlainRequest,
  response: ServerResponse,
  line: Line,
): Promise<void> {
  const sent = process.getBuiltinModule('node:http').request({
    createConnection: () => line,
    method: request.method ?? 'GET',
    path,
    headers,
    setHost: false,
    maxHeaderSize: longestHead,
  });
  request.pipe(sent);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    // It may fail more than once.
    sent.once('response', resolve).on('error', reject);
    sent.once('close', () => reject(new Error('the server has not answered')));
  });
  for (const stream of [answer, response]) stream.on('error', () => {});
  const length = answer.headers['content-length'];
  const framing = length === undefined ? [] : ['Content-Length', length];
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, [...passedOn(answer.rawHeaders), ...framing]);
  answer.pipe(response);
  try {
    await finished(answer);
    await finished(response);
  } catch {
    // Half an answer must not look whole.
    response.destroy();
  }
}
