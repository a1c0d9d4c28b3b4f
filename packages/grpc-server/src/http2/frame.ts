/** The constants of RFC 9113. */
export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 0x20 } as const;

export const errorCode = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  connectError: 10,
  enhanceYourCalm: 11,
  inadequateSecurity: 12,
  http11Required: 13,
} as const;

export type ErrorCode = (typeof errorCode)[keyof typeof errorCode];

export const settingId = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

export const frameHeaderBytes = 9;
/** What a peer may send without being asked (SETTINGS_MAX_FRAME_SIZE). */
export const defaultFrameSize = 16_384;
export const largestFrameSize = 0xff_ffff;
export const defaultWindow = 65_535;
export const largestWindow = 0x7fff_ffff;
export const largestStreamId = 0x7fff_ffff;

export const preface: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** Writes the header of a frame (RFC 9113 §4.1) and returns where its payload begins. */
export function writeFrameHeader(
  out: Uint8Array,
  at: number,
  length: number,
  type: number,
  flags: number,
  stream: number,
): number {
  out[at] = length >>> 16;
  out[at + 1] = length >>> 8;
  out[at + 2] = length;
  out[at + 3] = type;
  out[at + 4] = flags;
  writeUint32(out, at + 5, stream);
  return at + frameHeaderBytes;
}

export function writeUint32(out: Uint8Array, at: number, value: number): void {
  out[at] = value >>> 24;
  out[at + 1] = value >>> 16;
  out[at + 2] = value >>> 8;
  out[at + 3] = value;
}

export function readUint32(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) * 0x100_0000 + (((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0))
  );
}

/** 31 bits, after a bit that is reserved and ignored. */
export function readUint31(bytes: Uint8Array, at: number): number {
  return (
    (((bytes[at] ?? 0) & 127) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)
  );
}
