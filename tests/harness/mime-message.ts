/** The part of MIME that the gateway's emails use, implemented independently of the gateway. */
export interface MimeMessage {
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  readonly html: string;
}

export function readMime(raw: Buffer): MimeMessage {
  const { headers, body } = split(raw);
  const parts = partsOf(headers.get('content-type') ?? '', body).map(split);
  const content = (type: string) => {
    const part = parts.find((candidate) => candidate.headers.get('content-type')?.startsWith(type) === true);
    return part === undefined ? '' : decoded(part.body, part.headers.get('content-transfer-encoding') ?? '7bit');
  };
  return { headers, text: content('text/plain'), html: content('text/html') };
}

interface Entity {
  readonly headers: Map<string, string>;
  readonly body: Buffer;
}

function split(raw: Buffer): Entity {
  const end = raw.indexOf('\r\n\r\n');
  if (end < 0) throw new Error('a message without an empty line after its headers');
  const lines = raw
    .subarray(0, end)
    .toString()
    .replace(/\r\n[ \t]/g, ' ')
    .split('\r\n');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (colon < 1 || headers.has(name)) throw new Error(`a header that is malformed or there twice: ${line}`);
    headers.set(name, unencoded(line.slice(colon + 1).trim()));
  }
  return { headers, body: raw.subarray(end + 4) };
}

function partsOf(contentType: string, body: Buffer): Buffer[] {
  const boundary = /^multipart\/alternative;.*boundary="([^"]+)"/.exec(contentType)?.[1];
  if (boundary === undefined) throw new Error(`not a multipart/alternative: ${contentType}`);
  const pieces = `\r\n${body.toString('latin1')}`.split(`\r\n--${boundary}`);
  if (pieces.at(-1)?.trim() !== '--') throw new Error('a multipart without an end');
  return pieces.slice(1, -1).map((piece) => Buffer.from(piece.replace(/^\r\n/, ''), 'latin1'));
}

function decoded(body: Buffer, encoding: string): string {
  return bytesOf(body.toString('latin1'), encoding).toString().replaceAll('\r\n', '\n');
}

function bytesOf(body: string, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(body, 'base64');
  if (encoding !== 'quoted-printable') return Buffer.from(body, 'latin1');
  return unquoted(body.replace(/=\r\n/g, ''));
}

function unquoted(text: string): Buffer {
  const bytes = text.replace(/=([\dA-F]{2})/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
  return Buffer.from(bytes, 'latin1');
}

/** RFC 2047. Space between two encoded words belongs to neither. */
function unencoded(value: string): string {
  return value
    .replace(/(=\?[^?\s]+\?[BQ]\?[^?\s]*\?=)\s+(?==\?)/gi, '$1')
    .replace(/=\?utf-8\?([BQ])\?([^?\s]*)\?=/gi, (_, encoding: string, word: string) =>
      (encoding.toUpperCase() === 'B' ? Buffer.from(word, 'base64') : unquoted(word.replaceAll('_', ' '))).toString(),
    );
}
