import { connect } from 'node:net';

/** A request as bytes on the wire. */
export interface WireRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | undefined;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

const patienceMs = 30_000;

/** Sends a request exactly as it is, however wrong, which no HTTP client would do. Reads the answer. */
export async function send(base: string, request: WireRequest): Promise<WireAnswer> {
  const { hostname, port } = new URL(base);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.setTimeout(patienceMs, () => socket.destroy(new Error(`no answer within ${patienceMs} ms`)));
  let received: Buffer = Buffer.alloc(0);
  let failure: Error | undefined;
  let answer: WireAnswer | undefined;
  socket.on('error', (error) => (failure = error));
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    try {
      answer = parse(received, request.method === 'HEAD');
    } catch (error) {
      failure = error as Error;
    }
    // Resets the connection instead of closing it, so that thousands of them do not linger.
    if (answer !== undefined || failure !== undefined) socket.resetAndDestroy();
  });
  const closed = new Promise<void>((resolve) => void socket.once('close', resolve));
  socket.write(bytesOf(request, `${hostname}:${port}`));
  await closed;
  if (answer !== undefined) return answer;
  throw (
    failure ??
    new Error(`the connection was closed after ${received.length} bytes: ${received.toString('latin1').slice(0, 200)}`)
  );
}

function bytesOf({ method, target, headers, body }: WireRequest, host: string): Buffer {
  const isGiven = (name: string) => headers.some(([given]) => given.toLowerCase() === name);
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(isGiven('host') ? [] : [`host: ${host}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined || isGiven('transfer-encoding') ? [] : [`content-length: ${body.length}`]),
  ];
  // UTF-8, so that a character beyond ASCII arrives as bytes that are invalid in a header or path.
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body ?? Buffer.alloc(0)]);
}

/** The answer, once it is complete. */
function parse(received: Buffer, isHead: boolean): WireAnswer | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [statusLine = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`this is not a status line: ${statusLine}`);
  const rest = received.subarray(end + 4);
  if (status < 200) return parse(rest, isHead);
  const headers = new Map(lines.map((line) => headerOf(line)));
  // A stream of events has no end to wait for.
  const isEndless = headers.get('content-type') === 'text/event-stream';
  const isEmpty = isHead || isEndless || status === 204 || status === 304;
  const body = isEmpty ? Buffer.alloc(0) : bodyIn(rest, headers);
  return body === undefined ? undefined : { status, headers, body };
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

function bodyIn(rest: Buffer, headers: ReadonlyMap<string, string>): Buffer | undefined {
  if (headers.get('transfer-encoding') === 'chunked') return unchunked(rest);
  const length = Number(headers.get('content-length'));
  if (!headers.has('content-length') || Number.isNaN(length)) throw new Error('the answer does not say how long it is');
  return rest.length < length ? undefined : rest.subarray(0, length);
}

function unchunked(rest: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = rest.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(rest.subarray(at, line).toString('latin1'), 16);
    if (Number.isNaN(size)) throw new Error('the answer is not made of chunks');
    if (size === 0) return Buffer.concat(parts);
    parts.push(rest.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
