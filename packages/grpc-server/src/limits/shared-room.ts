export interface SharedBounds {
  /** What all peers without a credential together may hold. */
  readonly ofStrangers: number;
  /** What all peers of one account together may. */
  readonly ofAccount: number;
  /** From this share of its room on, those who hold more than the others had better begin nothing new; 1 if not given. */
  readonly nearlyFullFrom?: number;
}

/** How much of the room is free again after some were cut off, so that looking for them is rare. */
const relief = 1 / 16;

/**
 * Room for what peers make the server keep: answers that they do not take, messages that they do not finish, calls that
 * they leave open. Peers without a credential share one, and so do those of each account. If it overflows, whoever
 * holds most is cut off: who takes and finishes holds next to nothing, so nobody can fill the room to the harm of
 * others.
 */
export class SharedRoom {
  readonly #bounds: SharedBounds;
  readonly #strangers: Account;
  readonly #accounts = new Map<string, Account>();

  constructor(bounds: SharedBounds) {
    this.#bounds = bounds;
    this.#strangers = new Account(bounds.ofStrangers, bounds.nearlyFullFrom, () => undefined);
  }

  /** What all hold together. */
  get held(): number {
    return [...this.#accounts.values()].reduce((sum, { held }) => sum + held, this.#strangers.held);
  }

  /** Whether an account had better begin nothing that takes more. */
  isNearlyFull(name: string): boolean {
    return this.#accounts.get(name)?.isNearlyFull ?? false;
  }

  /** A connection, which has shown no credential yet. `cutOff` must let go of what it holds. */
  join(cutOff: () => void): RoomShare {
    return new RoomShare(this.#strangers, cutOff, (name) => this.#accountOf(name));
  }

  #accountOf(name: string): Account {
    const known = this.#accounts.get(name);
    if (known !== undefined) return known;
    const account = new Account(this.#bounds.ofAccount, this.#bounds.nearlyFullFrom, () => this.#accounts.delete(name));
    this.#accounts.set(name, account);
    return account;
  }
}

class Account {
  readonly most: number;
  held = 0;
  /** How many connections it has, whether they hold something or not. */
  connections = 0;
  readonly holding = new Set<RoomShare>();
  readonly #nearlyFullFrom: number;
  readonly #onEmpty: () => void;

  constructor(most: number, nearlyFullFrom = 1, onEmpty: () => void) {
    this.most = most;
    this.#nearlyFullFrom = most * nearlyFullFrom;
    this.#onEmpty = onEmpty;
  }

  get isNearlyFull(): boolean {
    return this.held >= this.#nearlyFullFrom;
  }

  /** What each of those who hold something may hold once it is nearly full. */
  get part(): number {
    return this.#nearlyFullFrom / this.holding.size;
  }

  left(): void {
    this.connections--;
    if (this.connections === 0) this.#onEmpty();
  }

  relieve(): void {
    const until = this.most * (1 - relief);
    for (const share of [...this.holding].sort((one, other) => other.held - one.held)) {
      if (this.held <= until) return;
      share.cutOff();
    }
  }
}

/** What one connection holds. */
export class RoomShare {
  held = 0;
  readonly #cutOff: () => void;
  readonly #accountOf: (name: string) => Account;
  /** Undefined once it has left. */
  #account: Account | undefined;
  #isNamed = false;
  /** How much the peer had taken when that was last looked at, and when that was first seen. */
  #seen: { readonly taken: number; readonly at: number } | undefined;

  constructor(account: Account, cutOff: () => void, accountOf: (name: string) => Account) {
    this.#account = account;
    this.#cutOff = cutOff;
    this.#accountOf = accountOf;
    account.connections++;
  }

  /** Whether it takes more than its part of a room that is filling up: then it had better begin nothing new. */
  get isCrowding(): boolean {
    const account = this.#account;
    return account !== undefined && this.held > 0 && account.isNearlyFull && this.held >= account.part;
  }

  /** What all who share the room may hold together. */
  get most(): number {
    return this.#account?.most ?? 0;
  }

  /** The peer has shown a credential of this account. The first one counts. */
  belongTo(name: string): void {
    if (this.#isNamed || this.#account === undefined) return;
    this.#isNamed = true;
    const { held } = this;
    this.#leave();
    this.#account = this.#accountOf(name);
    this.#account.connections++;
    this.hold(held);
  }

  /** Says how much it holds now. */
  hold(held: number): void {
    const account = this.#account;
    if (account === undefined || held === this.held) return;
    const isMore = held > this.held;
    if (this.held === 0) this.#seen = undefined;
    account.held += held - this.held;
    this.held = held;
    if (held === 0) account.holding.delete(this);
    else account.holding.add(this);
    if (isMore && account.held > account.most) account.relieve();
  }

  /** How long the peer has taken nothing of it, if it has taken so much in all. */
  untakenMs(taken: number, now: number): number {
    if (this.held === 0 || taken !== this.#seen?.taken) this.#seen = { taken, at: now };
    return now - this.#seen.at;
  }

  /** The connection is gone, and so is what it held. */
  leave(): void {
    this.#leave();
    this.#account = undefined;
  }

  cutOff(): void {
    this.leave();
    this.#cutOff();
  }

  #leave(): void {
    this.hold(0);
    this.#account?.left();
  }
}
