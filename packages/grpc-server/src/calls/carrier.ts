import type { ErrorCode } from '../http2/frame.ts';
import type { Limits } from '../limits.ts';
import type { Claim, ConnectionRoom } from '../limits/message-room.ts';
import type { Status } from '../status.ts';
import type { Sender } from './sender.ts';
import type { Turn } from './turn.ts';

/** What a call needs of its connection. */
export interface Carrier<Carried> extends ConnectionRoom {
  /** When the last bytes came, on `performance.now()`. */
  readonly now: number;
  readonly limits: Limits;
  readonly sender: Sender;
  readonly turn: Turn;
  /** A unary handler has begun, or has answered, however long its call is over. */
  handling(change: 1 | -1): void;
  statusOf(error: unknown): Status;
  trust(account: string): void;
  /** Asks for the room that a call needs. False if it can neither have it nor wait. */
  settle(call: Claim): boolean;
  /** Resumes calls that wait for room, after answers of a stalled call were read. */
  readOn(): void;
  /** Looks at a call again at the end of this turn: what it holds, and how much more it may send. */
  touch(call: Carried): void;
  /** Ends a call by RST_STREAM. */
  reset(call: Carried, code: ErrorCode): void;
  /** The call has sent its last frame. */
  remove(call: Carried, isReset: boolean): void;
}
