/** A header block that cannot be decoded. For HTTP/2 it is a connection error COMPRESSION_ERROR (RFC 9113 §4.3). */
export class HpackError extends Error {
  override readonly name = 'HpackError';
}

/** A header list that is far larger than what the peer was told it may be. */
export class HpackBomb extends HpackError {}
