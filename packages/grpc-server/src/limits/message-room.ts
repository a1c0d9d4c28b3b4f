export interface RoomBounds {
  /** What a message may hold without a claim on the room of all connections. */
  readonly smallMessageBytes: number;
  /**
   * What all messages that are not small may hold in one connection. It is less than the whole, so that a credential
   * gets through.
   */
  readonly largeInConnection: number;
  readonly inConnection: number;
  /** The same for all connections together. Beyond it, messages that are not small wait for each other. */
  readonly inAll: number;
  /** How many calls of one connection may wait. */
  readonly waitingCalls: number;
}

/** What the calls of one connection hold together. */
export interface ConnectionRoom {
  held: number;
  /** Streams of the connection whose answers are not read. Meanwhile nothing large is read from it. */
  stalled: number;
  readonly waiting: Set<Claim>;
}

/** A call that asks for room. */
export interface Claim {
  readonly connection: ConnectionRoom;
  readonly needed: number;
  held: number;
  /** There is no room yet: let the peer send no more. */
  awaitRoom(): void;
  /** There is room now. */
  gotRoom(): void;
}

/** Which side must release room first. */
type Obstacle = 'connection' | 'others' | undefined;

/** Shares the room for unfinished messages. The cost of a release does not grow with the number of calls. */
export class MessageRoom {
  readonly #bounds: RoomBounds;
  /** Connections that wait for others, in order of arrival. */
  readonly #queue = new Set<ConnectionRoom>();
  #held = 0;

  constructor(bounds: RoomBounds) {
    this.#bounds = bounds;
  }

  /** Call it when a call needs more or less room. False if the call can neither have the room nor wait for it. */
  settle(claim: Claim): boolean {
    const { connection } = claim;
    const { held } = claim;
    const obstacle = this.#obstacleOf(claim);
    if (obstacle !== undefined) return this.#wait(claim, obstacle);
    this.#hold(claim);
    const waited = connection.waiting.delete(claim);
    if (waited) claim.gotRoom();
    if (waited || claim.held < held) this.readOn(connection);
    return true;
  }

  /** Resumes the calls that now have room, after this connection has released some. */
  readOn(connection: ConnectionRoom): void {
    this.#serve(connection);
    for (const first of this.#queue) {
      this.#serve(first);
      if (this.#queue.has(first)) return;
    }
  }

  #obstacleOf({ connection, needed, held }: Claim): Obstacle {
    const more = needed - held;
    if (more <= 0) return undefined;
    const { smallMessageBytes, largeInConnection, inConnection, inAll } = this.#bounds;
    const isSmall = needed <= smallMessageBytes;
    if (connection.held + more > (isSmall ? inConnection : largeInConnection)) return 'connection';
    if (isSmall) return undefined;
    if (connection.stalled > 0) return 'connection';
    return this.#held + more > inAll ? 'others' : undefined;
  }

  #wait(claim: Claim, obstacle: Obstacle): boolean {
    const { connection } = claim;
    if (!connection.waiting.has(claim) && connection.waiting.size >= this.#bounds.waitingCalls) return false;
    connection.waiting.add(claim);
    if (obstacle === 'others') this.#queue.add(connection);
    claim.awaitRoom();
    return true;
  }

  #hold(claim: Claim): void {
    const more = claim.needed - claim.held;
    claim.held += more;
    claim.connection.held += more;
    this.#held += more;
  }

  #serve(connection: ConnectionRoom): void {
    let waitsForOthers = false;
    for (const claim of connection.waiting) {
      const obstacle = this.#obstacleOf(claim);
      if (obstacle === undefined) {
        this.#hold(claim);
        connection.waiting.delete(claim);
        claim.gotRoom();
      }
      waitsForOthers ||= obstacle === 'others';
    }
    if (waitsForOthers) this.#queue.add(connection);
    else this.#queue.delete(connection);
  }
}
