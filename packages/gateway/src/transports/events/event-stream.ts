import type { StreamFormat } from './stream-format.ts';

/** Why the gateway ends a stream. */
export type Ending =
  /** Its client reads too slowly. */
  | 'slow'
  /** Its client does not answer any more. */
  | 'silent'
  /** Its credential is no longer valid. */
  | 'credential'
  /** The gateway is stopping. */
  | 'drain';

/** A connection to a client, as the hub sees it. */
export interface EventStream {
  readonly format: StreamFormat;
  /** How often `beat` is due. */
  readonly beatEveryMs: number;
  /** Bytes that were written and that the system has not taken yet. */
  readonly buffered: number;
  write(bytes: Uint8Array): void;
  /** Shows the client that the gateway is alive; false if the client has not answered the last beat. */
  beat(): boolean;
  end(why: Ending): void;
  /** Ends it at once, and lets go of what it has buffered. */
  destroy(): void;
}
