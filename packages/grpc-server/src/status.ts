/** A status of gRPC. */
export interface Status {
  readonly code: number;
  readonly message: string;
}

/** The codes that the engine itself gives. */
export const statusCode = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  deadlineExceeded: 4,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const;

/** Percent-encodes a status message, as gRPC over HTTP/2 says: space to tilde stay, but for the percent sign. */
export function encodeMessage(message: string): string {
  if (/^[ -$&-~]*$/.test(message)) return message;
  let encoded = '';
  for (const byte of Buffer.from(message)) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    encoded += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}
