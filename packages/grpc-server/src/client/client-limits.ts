import { defaultLimits } from '../limits.ts';

/** What a client allows its server, and how patient it is. */
export interface ClientLimits {
  readonly messageBytes: number;
  /** Decoded, as SETTINGS_MAX_HEADER_LIST_SIZE counts. */
  readonly headerListBytes: number;
  /** Encoded, over HEADERS and all its CONTINUATION frames. */
  readonly headerBlockBytes: number;
  /** Frames of one header block. */
  readonly headerBlockFrames: number;
  /** What the unfinished messages of all calls of a connection may declare together. */
  readonly unfinishedBytes: number;
  /** Frames that must be answered, while the server does not read the answers. */
  readonly owedAnswers: number;
  /** For the name, the connection, the handshake of TLS and the server's SETTINGS. */
  readonly connectWithinMs: number;
  /** The wait after the first failed attempt. It grows with each that follows. */
  readonly firstBackoffMs: number;
  readonly longestBackoffMs: number;
  /** A server that says nothing for this long while calls are open is asked whether it is there. */
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
}

const mebibyte = 1024 * 1024;

export const defaultClientLimits: ClientLimits = {
  messageBytes: defaultLimits.messageBytes,
  headerListBytes: defaultLimits.headerListBytes,
  headerBlockBytes: defaultLimits.headerBlockBytes,
  headerBlockFrames: defaultLimits.headerBlockFrames,
  unfinishedBytes: 256 * mebibyte,
  owedAnswers: 10_000,
  connectWithinMs: 20_000,
  firstBackoffMs: 100,
  longestBackoffMs: 2000,
  keepaliveMs: 10_000,
  keepaliveTimeoutMs: 5000,
};
