import type { Limits } from '../limits.ts';
import type { DeadlineWheel } from '../limits/deadline-wheel.ts';
import type { MessageRoom } from '../limits/message-room.ts';
import type { PeerBudget } from '../limits/peer-budget.ts';
import type { Rooms, RoomShares } from '../limits/rooms.ts';
import type { TurnOrder } from '../limits/turn-order.ts';
import type { Status } from '../status.ts';
import type { Routes } from './request-head.ts';
import type { Sender } from './sender.ts';
import type { Turn } from './turn.ts';

/** What all connections of a server share. */
export interface Shared {
  readonly routes: Routes;
  readonly limits: Limits;
  readonly room: MessageRoom;
  readonly rooms: Rooms;
  readonly wheel: DeadlineWheel;
  readonly order: TurnOrder;
  statusOf(error: unknown): Status;
}

/** What the streams of one connection share. */
export interface StreamParts {
  readonly sender: Sender;
  readonly shares: RoomShares;
  readonly turn: Turn;
  readonly budget: PeerBudget;
}
