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
  /** The same for those that are small. */
  readonly smallInAll: number;
  /** How many calls of one connection may wait. */
  readonly waitingCalls: number;
  /** The same bounds for connections that are trusted, whatever the size of a message. */
  readonly inTrusted: number;
  readonly inAllTrusted: number;
  readonly trustedWaitingCalls: number;
}

/** What the calls of one connection hold together. */
export interface ConnectionRoom {
  readonly isTrusted: boolean;
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

/** Room that connections share. */
interface Pool {
  readonly most: number;
  held: number;
  /** Connections that wait for others, in order of arrival. */
  readonly queue: Set<ConnectionRoom>;
}

/** Who must release room first: the connection itself, or anyone who shares the pool. */
type Obstacle = 'connection' | Pool | undefined;

/** Shares the room for unfinished messages. The cost of a release does not grow with the number of calls. */
export class MessageRoom {
  readonly #bounds: RoomBounds;
  readonly #small: Pool;
  readonly #large: Pool;
  readonly #trusted: Pool;

  constructor(bounds: RoomBounds) {
    this.#bounds = bounds;
    this.#small = poolOf(bounds.smallInAll);
    this.#large = poolOf(bounds.inAll);
    this.#trusted = poolOf(bounds.inAllTrusted);
  }

  /** Call it when a call needs more or less room. False if the call can neither have the room nor wait for it. */
  settle(claim: Claim): boolean {
    const { connection } = claim;
    const { held } = claim;
    const obstacle = this.#obstacleOf(claim);
    if (obstacle !== undefined) return this.#wait(claim, obstacle);
    this.#hold(claim, claim.needed);
    const waited = connection.waiting.delete(claim);
    if (waited) claim.gotRoom();
    if (waited || claim.held < held) this.readOn(connection);
    return true;
  }

  /** Takes back what a call holds. Call it before its connection becomes trusted, and `settle` after that. */
  release(claim: Claim): void {
    this.#hold(claim, 0);
  }

  /** Whether others wait for room of the kind that this call holds. */
  isContested({ connection, held }: Claim): boolean {
    return this.#poolFor(connection, held).queue.size > 0;
  }

  /** Resumes the calls that now have room, after this connection has released some. */
  readOn(connection: ConnectionRoom): void {
    this.#serve(connection);
    for (const pool of [this.#small, this.#large, this.#trusted]) {
      for (const first of pool.queue) {
        this.#serve(first);
        if (pool.queue.has(first)) break;
      }
    }
  }

  #obstacleOf({ connection, needed, held }: Claim): Obstacle {
    const more = needed - held;
    if (more <= 0) return undefined;
    const { smallMessageBytes, largeInConnection, inConnection, inTrusted } = this.#bounds;
    const pool = this.#poolFor(connection, needed);
    if (connection.isTrusted) {
      // Whoever holds nothing else may always send one message.
      if (connection.held === held) return undefined;
      if (connection.held + more > inTrusted) return 'connection';
    } else {
      const isSmall = needed <= smallMessageBytes;
      if (connection.held + more > (isSmall ? inConnection : largeInConnection)) return 'connection';
      if (!isSmall && connection.stalled > 0) return 'connection';
    }
    const mine = this.#poolFor(connection, held) === pool ? held : 0;
    return pool.held + needed - mine > pool.most ? pool : undefined;
  }

  #poolFor({ isTrusted }: ConnectionRoom, bytes: number): Pool {
    if (isTrusted) return this.#trusted;
    return bytes <= this.#bounds.smallMessageBytes ? this.#small : this.#large;
  }

  #wait(claim: Claim, obstacle: 'connection' | Pool): boolean {
    const { connection } = claim;
    const most = connection.isTrusted ? this.#bounds.trustedWaitingCalls : this.#bounds.waitingCalls;
    if (!connection.waiting.has(claim) && connection.waiting.size >= most) return false;
    connection.waiting.add(claim);
    if (obstacle !== 'connection') obstacle.queue.add(connection);
    claim.awaitRoom();
    return true;
  }

  #hold(claim: Claim, bytes: number): void {
    const { connection, held } = claim;
    this.#poolFor(connection, held).held -= held;
    this.#poolFor(connection, bytes).held += bytes;
    connection.held += bytes - held;
    claim.held = bytes;
  }

  #serve(connection: ConnectionRoom): void {
    const waitsFor = new Set<Obstacle>();
    for (const claim of connection.waiting) {
      const obstacle = this.#obstacleOf(claim);
      if (obstacle === undefined) {
        this.#hold(claim, claim.needed);
        connection.waiting.delete(claim);
        claim.gotRoom();
        continue;
      }
      waitsFor.add(obstacle);
      // Many may wait in a trusted connection: they go on in their order.
      if (connection.isTrusted) break;
    }
    for (const pool of [this.#small, this.#large, this.#trusted]) {
      if (waitsFor.has(pool)) pool.queue.add(connection);
      else pool.queue.delete(connection);
    }
  }
}

function poolOf(most: number): Pool {
  return { most, held: 0, queue: new Set() };
}
