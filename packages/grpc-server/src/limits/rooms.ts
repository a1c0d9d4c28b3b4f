import type { Limits } from '../limits.ts';
import type { RoomShare } from './shared-room.ts';
import { SharedRoom } from './shared-room.ts';

/** The rooms that all connections share, and other servers that run beside this one. */
export interface Rooms {
  /** Bytes of answers that peers do not take. */
  readonly unsent: SharedRoom;
  /** Bytes of messages that peers do not finish. */
  readonly unfinished: SharedRoom;
  /** Calls that are open. */
  readonly calls: SharedRoom;
}

/** From this share of its room for answers on, an account refuses those who hold more than the others. */
const nearlyFullFrom = 1 / 2;

export function roomsOf(limits: Limits): Rooms {
  return {
    unsent: new SharedRoom({
      ofStrangers: limits.unsentOfStrangers,
      ofAccount: limits.unsentOfAccount,
      nearlyFullFrom,
    }),
    unfinished: new SharedRoom({ ofStrangers: limits.unfinishedOfStrangers, ofAccount: limits.unfinishedOfAccount }),
    calls: new SharedRoom({ ofStrangers: limits.callsOfStrangers, ofAccount: limits.callsOfAccount }),
  };
}

/** What one connection holds of each room. */
export class RoomShares implements Record<keyof Rooms, RoomShare> {
  readonly unsent: RoomShare;
  readonly unfinished: RoomShare;
  readonly calls: RoomShare;

  constructor(rooms: Rooms, cutOff: (why: string) => void) {
    this.unsent = rooms.unsent.join(() => cutOff('too many answers wait to be taken'));
    this.unfinished = rooms.unfinished.join(() => cutOff('too many messages are unfinished'));
    this.calls = rooms.calls.join(() => cutOff('too many calls are open'));
  }

  belongTo(account: string): void {
    this.#each((share) => share.belongTo(account));
  }

  leave(): void {
    this.#each((share) => share.leave());
  }

  #each(act: (share: RoomShare) => void): void {
    for (const share of [this.unsent, this.unfinished, this.calls]) act(share);
  }
}
