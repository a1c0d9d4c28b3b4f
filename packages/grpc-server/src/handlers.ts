import type { Metadata, MetadataEntries } from './metadata.ts';

/** What is common to all calls. */
export interface Call {
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly metadata: Metadata;
  /** When the client stops waiting, on `performance.now()`. */
  readonly deadline: number | undefined;
  /** False once either side has ended the call. */
  readonly isOpen: boolean;
  /**
   * The peer has shown a valid credential of this account: its connection may hold more. What the peers of an account
   * leave untaken counts together. The first account of a connection stays.
   */
  trust(account?: string): void;
  /** Metadata to send before the first answer. */
  setHeaders(entries: MetadataEntries): void;
  /** Metadata to send with the status. */
  setTrailers(entries: MetadataEntries): void;
}

export interface UnaryCall extends Call {
  /** Ends the call with a message, which is copied. */
  answer(message: Uint8Array): void;
  /** Ends the call with the status of this error. */
  fail(error: unknown): void;
  /**
   * Called if the call is over before it was answered: cancelled, cut off, or past its deadline. A handler without it
   * counts as running until it answers, and must do so.
   */
  onCancelled: (() => void) | undefined;
}

/**
 * Gets the message of a call. It is a view of what was read: nothing overwrites it, but it keeps the whole read in memory.
 * A throw fails the call.
 */
export type UnaryHandler = (message: Uint8Array, call: UnaryCall) => void;

/**
 * Looks for a credential in the beginning of a message, and trusts the call by it. Undefined if more of the message must
 * come first; false if it shows no valid one. The bytes hold until it returns.
 */
export type FindCredential = (begin: Uint8Array, call: Call) => boolean | undefined | Promise<boolean>;

/** The server's end of a stream. After `end` or `fail` nothing more is sent. */
export interface ServerStream extends Call {
  /** Tells the client that the call was accepted, if nothing has been sent yet. */
  open(): void;
  /**
   * Copies the message, and returns whether the other side keeps up. If it does not, `drained` is called once it does.
   * `constant` is the rest of the message: bytes that never change, which are not copied.
   */
  send(message: Uint8Array, constant?: Uint8Array): boolean;
  /** Stops messages until `resume`. */
  pause(): void;
  resume(): void;
  end(): void;
  fail(error: unknown): void;
}

/** The events of a stream. A throw fails the stream. */
export interface StreamListener {
  /** The message is a view of what was read. Copy it to keep it for long. */
  message(message: Uint8Array): void;
  /** The other side will send no more. */
  ended(): void;
  /** What was sent has left. Called after a `send` that returned false. */
  drained?(): void;
  /** The stream is gone, however it ended. Called once. */
  closed(): void;
}

export type StreamHandler = (stream: ServerStream) => StreamListener;
