import type { StreamFormat } from './stream-format.ts';

/** Why the gateway ends a stream. */
export type Ending =
  /** Its client reads too slowly. */
  | 'slow'
  /** Its client does not answer any more. */
  | 'silent'
  /** The credential that it was opened with is not valid any more. */
  | 'credential'
  /** The gateway is being stopped. */
  | 'drain';

/** A connection to a client, as far as the hub has to know it. */
export interface EventStream {
  readonly format: StreamFormat;
  /** How often `beat` is due. */
  readonly beatEveryMs: number;
  /** Bytes that were written and that the system has not taken yet. */
  readonly buffered: number;
  write(bytes: Uint8Array): void;
  /** Shows the client that the gateway is there; false where the client has not answered the last time. */
  beat(): boolean;
  end(why: Ending): void;
}
