import type { RoomShare } from './shared-room.ts';

export interface RoomBounds {
  /**
   * What a message may hold without a claim on the room of others. It is no less than what a peer may send of a message
   * before it is let go on.
   */
  readonly smallMessageBytes: number;
  /**
   * What all messages that are not small may hold in one connection without an account. It is less than the whole, so
   * that a credential gets through.
   */
  readonly largeInConnection: number;
  readonly inConnection: number;
  /** The same for all such connections together. Beyond it, messages that are not small wait for each other. */
  readonly largeOfStrangers: number;
  /** The same for all connections of one account. */
  readonly largeOfAccount: number;
  /** How many calls of one connection may wait. */
  readonly waitingCalls: number;
  /** The same for a connection of an account. */
  readonly trustedWaitingCalls: number;
}

/** What the calls of one connection hold together. */
export interface ConnectionRoom {
  /** Whose it is; undefined until it has shown a credential. */
  readonly account: string | undefined;
  held: number;
  /** What cannot wait: small messages, and what large ones may send before there is room for them. */
  readonly unfinished: RoomShare;
  /** Streams of the connection whose answers are not read. Meanwhile nothing large is read from it. */
  stalled: number;
  readonly waiting: Set<Claim>;
}

/** A call that asks for room. */
export interface Claim {
  readonly connection: ConnectionRoom;
  readonly needed: number;
  held: number;
  /** What it may have sent while it waits. */
  waitsWith: number;
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

/**
 * Shares the room for unfinished messages. Large ones wait for each other, those of strangers apart from those of each
 * account. Nobody can make a small one wait, because all of it may be sent at once: those have a room in which whoever
 * holds most is cut off. The cost of a release does not grow with the number of calls.
 */
export class MessageRoom {
  readonly #bounds: RoomBounds;
  readonly #strangers: Pool;
  /** Those in which something is held or waited for. */
  readonly #accounts = new Map<string, Pool>();

  constructor(bounds: RoomBounds) {
    this.#bounds = bounds;
    this.#strangers = poolOf(bounds.largeOfStrangers);
  }

  /** Call it when a call needs more or less room. False if the call can neither have the room nor wait for it. */
  settle(claim: Claim): boolean {
    const { connection, held } = claim;
    const obstacle = this.#obstacleOf(claim);
    if (obstacle !== undefined) return this.#wait(claim, obstacle);
    this.#hold(claim, claim.needed, 0);
    const waited = connection.waiting.delete(claim);
    if (waited) claim.gotRoom();
    if (waited || claim.held < held) this.readOn(connection);
    return true;
  }

  /** Whether others wait for room of the kind that this call holds. */
  isContested({ connection, held }: Claim): boolean {
    return this.#isLarge(held) && this.#poolOf(connection).queue.size > 0;
  }

  /** Resumes the calls that now have room, after this connection has released some. */
  readOn(connection: ConnectionRoom): void {
    this.#serve(connection);
    const pool = this.#poolOf(connection);
    this.#serveQueue(pool);
    const { account } = connection;
    if (account !== undefined && pool.held === 0 && pool.queue.size === 0) this.#accounts.delete(account);
  }

  /** Takes back what a connection holds by these calls. Call it before it gets an account, and `settle` after that. */
  leave(connection: ConnectionRoom, claims: readonly Claim[]): void {
    for (const claim of claims) this.#hold(claim, 0, 0);
    const pool = this.#poolOf(connection);
    pool.queue.delete(connection);
    this.#serveQueue(pool);
  }

  #obstacleOf({ connection, needed, held }: Claim): Obstacle {
    const more = needed - held;
    if (more <= 0) return undefined;
    const { largeInConnection, inConnection } = this.#bounds;
    const isLarge = this.#isLarge(needed);
    if (connection.account === undefined) {
      if (connection.held + more > (isLarge ? largeInConnection : inConnection)) return 'connection';
      if (isLarge && connection.stalled > 0) return 'connection';
    }
    if (!isLarge) return undefined;
    const pool = this.#poolOf(connection);
    const others = pool.held - this.#largeOf(held);
    return others > 0 && others + needed > pool.most ? pool : undefined;
  }

  #isLarge(bytes: number): boolean {
    return bytes > this.#bounds.smallMessageBytes;
  }

  #poolOf({ account }: ConnectionRoom): Pool {
    if (account === undefined) return this.#strangers;
    const known = this.#accounts.get(account);
    if (known !== undefined) return known;
    const pool = poolOf(this.#bounds.largeOfAccount);
    this.#accounts.set(account, pool);
    return pool;
  }

  #wait(claim: Claim, obstacle: 'connection' | Pool): boolean {
    const { connection } = claim;
    const most = connection.account === undefined ? this.#bounds.waitingCalls : this.#bounds.trustedWaitingCalls;
    if (!connection.waiting.has(claim) && connection.waiting.size >= most) return false;
    connection.waiting.add(claim);
    if (obstacle !== 'connection') obstacle.queue.add(connection);
    this.#hold(claim, claim.held, Math.min(claim.needed, this.#bounds.smallMessageBytes));
    claim.awaitRoom();
    return true;
  }

  #hold(claim: Claim, held: number, waitsWith: number): void {
    const { connection } = claim;
    const large = this.#largeOf(held) - this.#largeOf(claim.held);
    const more = held - claim.held;
    const beforeRoom = waitsWith - claim.waitsWith;
    if (large !== 0) this.#poolOf(connection).held += large;
    connection.held += more;
    claim.held = held;
    claim.waitsWith = waitsWith;
    connection.unfinished.hold(connection.unfinished.held + more - large + beforeRoom);
  }

  #largeOf(held: number): number {
    return this.#isLarge(held) ? held : 0;
  }

  #serveQueue(pool: Pool): void {
    for (const first of pool.queue) {
      this.#serve(first);
      if (pool.queue.has(first)) break;
    }
  }

  #serve(connection: ConnectionRoom): void {
    const waitsFor = new Set<Obstacle>();
    for (const claim of connection.waiting) {
      const obstacle = this.#obstacleOf(claim);
      if (obstacle === undefined) {
        this.#hold(claim, claim.needed, 0);
        connection.waiting.delete(claim);
        claim.gotRoom();
        continue;
      }
      waitsFor.add(obstacle);
      // Many may wait in a connection of an account: they go on in their order.
      if (connection.account !== undefined) break;
    }
    const pool = this.#poolOf(connection);
    if (waitsFor.has(pool)) pool.queue.add(connection);
    else pool.queue.delete(connection);
  }
}

function poolOf(most: number): Pool {
  return { most, held: 0, queue: new Set() };
}
