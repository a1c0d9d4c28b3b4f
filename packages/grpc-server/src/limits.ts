import type { FindCredential } from './handlers.ts';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** What the engine allows its peers. A peer is trusted once a handler has called `trust` on one of its calls. */
export interface Limits {
  /** Connections at a time. A new one beyond this is closed at once. */
  readonly connections: number;
  /** Calls at a time on one connection, as it is advertised. More are refused, and may be tried again. */
  readonly streams: number;
  /** The same until the connection is trusted. */
  readonly untrustedStreams: number;
  readonly messageBytes: number;
  /** Larger bounds of messages, by path. They hold once the connection is trusted. */
  readonly trustedMessageBytes: ReadonlyMap<string, number>;
  /**
   * Who finds a credential in the beginning of such a message, by path. Until it has, a peer that is not trusted may send no
   * more of it than of any message that waits for room. Without one, such a message is refused.
   */
  readonly findCredential: ReadonlyMap<string, FindCredential>;
  /** Decoded, as SETTINGS_MAX_HEADER_LIST_SIZE counts. */
  readonly headerListBytes: number;
  /** Encoded, over HEADERS and all its CONTINUATION frames. */
  readonly headerBlockBytes: number;
  /** Frames of one header block. */
  readonly headerBlockFrames: number;
  /** What a message may hold without a claim on the room of all connections. */
  readonly smallMessageBytes: number;
  /** What the messages that are not small may hold in one untrusted connection. */
  readonly largeInConnection: number;
  /** What all unfinished messages may hold in one untrusted connection. */
  readonly inConnection: number;
  /** What messages that are not small may hold in all untrusted connections together. Beyond it, they wait. */
  readonly largeOfStrangers: number;
  /** The same for all connections of one account. */
  readonly largeOfAccount: number;
  /**
   * What cannot wait, in all untrusted connections together: small messages, and what large ones send before they have
   * room. Beyond it, those with most are cut off.
   */
  readonly unfinishedOfStrangers: number;
  /** The same for all connections of one account. */
  readonly unfinishedOfAccount: number;
  /** Calls of one untrusted connection that may wait for room. More are cut off. */
  readonly waitingCalls: number;
  /** Calls of one trusted connection that may wait for room. More are cut off. */
  readonly trustedWaitingCalls: number;
  /** Calls at a time of all untrusted connections together. Beyond it, those with most are refused or cut off. */
  readonly callsOfStrangers: number;
  /** The same for all connections of one account. */
  readonly callsOfAccount: number;
  /**
   * Answers of all untrusted connections together that their peers do not take. Beyond half of it, new calls of those
   * with more than their part are refused. Beyond it, those with most are cut off.
   */
  readonly unsentOfStrangers: number;
  /** The same for all connections of one account. */
  readonly unsentOfAccount: number;
  /** A peer that takes nothing of its answers for this long is cut off. */
  readonly takeWithinMs: number;
  /** From the first byte of a message or header block to its last, and for reading an answer. */
  readonly finishWithinMs: number;
  readonly prefaceWithinMs: number;
  /** An untrusted connection without a call, or a call of one that neither side uses, is closed after this long. */
  readonly idleForMs: number;
  /** A peer that says nothing for this long is asked whether it is there. */
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
  /** Frames that do nothing for a call: how many at once, and how many more each second. Calls earn some, too. */
  readonly idleFrames: number;
  readonly idleFramesPerSecond: number;
  /** Calls that the peer resets: how many at once, and how many more each second. A finished call earns one. */
  readonly resets: number;
  readonly resetsPerSecond: number;
}

export const defaultLimits: Limits = {
  connections: 50_000,
  streams: 10_000,
  untrustedStreams: 2000,
  messageBytes: 4 * mebibyte,
  trustedMessageBytes: new Map(),
  findCredential: new Map(),
  headerListBytes: 16 * kibibyte,
  headerBlockBytes: 32 * kibibyte,
  headerBlockFrames: 16,
  smallMessageBytes: 64 * kibibyte,
  largeInConnection: 9 * mebibyte,
  inConnection: 12 * mebibyte,
  largeOfStrangers: 256 * mebibyte,
  largeOfAccount: 128 * mebibyte,
  unfinishedOfStrangers: 256 * mebibyte,
  unfinishedOfAccount: 128 * mebibyte,
  waitingCalls: 24,
  trustedWaitingCalls: 1000,
  callsOfStrangers: 100_000,
  callsOfAccount: 50_000,
  unsentOfStrangers: 64 * mebibyte,
  unsentOfAccount: 64 * mebibyte,
  takeWithinMs: 60_000,
  finishWithinMs: 30_000,
  prefaceWithinMs: 10_000,
  idleForMs: 5 * 60_000,
  keepaliveMs: 30_000,
  keepaliveTimeoutMs: 20_000,
  idleFrames: 1000,
  idleFramesPerSecond: 200,
  resets: 1000,
  resetsPerSecond: 33,
};
