/** A status of gRPC. */
export interface Status {
  readonly code: number;
  readonly message: string;
  /** When a client that retries by itself may do so. */
  readonly retryAfterMs?: number | undefined;
}

/** The codes of gRPC. */
export const statusCode = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const;

const longestMessage = 1024;

/**
 * Percent-encodes a status message, as gRPC over HTTP/2 says: space to tilde stay, but for the percent sign.
 * One that would take more than 1 KiB is cut: clients bound the fields that they read.
 */
export function encodeMessage(message: string): string {
  const start = message.slice(0, longestMessage);
  if (/^[ -$&-~]*$/.test(start)) return start;
  let encoded = '';
  // Code point by code point, so that none is cut within.
  for (const character of start) {
    const next = encodeCharacter(character);
    if (encoded.length + next.length > longestMessage) break;
    encoded += next;
  }
  return encoded;
}

function encodeCharacter(character: string): string {
  let encoded = '';
  for (const byte of Buffer.from(character)) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    encoded += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}

/** Reads a status message. What is no valid percent-encoding stays as it is, as gRPC over HTTP/2 asks. */
export function decodeMessage(encoded: string): string {
  const bytes = Buffer.from(encoded, 'latin1');
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const [, digits] = /^%([0-9a-f]{2})/i.exec(encoded.slice(at, at + 3)) ?? [];
    bytes[length++] = digits === undefined ? (bytes[at] ?? 0) : Number.parseInt(digits, 16);
    if (digits !== undefined) at += 2;
  }
  return bytes.toString('utf8', 0, length);
}
