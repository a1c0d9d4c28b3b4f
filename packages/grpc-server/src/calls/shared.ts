import type { Limits } from '../limits.ts';
import type { DeadlineWheel } from '../limits/deadline-wheel.ts';
import type { MessageRoom } from '../limits/message-room.ts';
import type { UnsentRoom } from '../limits/unsent-room.ts';
import type { TurnOrder } from '../limits/turn-order.ts';
import type { Status } from '../status.ts';
import type { Routes } from './request-head.ts';

/** What all connections of a server share. */
export interface Shared {
  readonly routes: Routes;
  readonly limits: Limits;
  readonly room: MessageRoom;
  readonly unsent: UnsentRoom;
  readonly wheel: DeadlineWheel;
  readonly order: TurnOrder;
  statusOf(error: unknown): Status;
}
