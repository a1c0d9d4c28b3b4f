export interface UnsentBounds {
  /** What all peers without a credential together may leave untaken. */
  readonly unsentOfStrangers: number;
  /** What all peers of one account together may. */
  readonly unsentOfAccount: number;
}

/** Beyond this share of its room, an account refuses those who hold more than the others. */
const crowdedAbove = 1 / 2;
/** How much of the room is free again after some were cut off, so that looking for them is rare. */
const relief = 1 / 16;

/**
 * Room for what was sent to peers and not taken by them. Peers without a credential share one, and so do those of each
 * account. If it overflows, whoever holds most is cut off: who takes what was sent holds next to nothing, so nobody can
 * fill the room to the harm of others.
 */
export class UnsentRoom {
  readonly #bounds: UnsentBounds;
  readonly #strangers: Account;
  readonly #accounts = new Map<string, Account>();

  constructor(bounds: UnsentBounds) {
    this.#bounds = bounds;
    this.#strangers = new Account(bounds.unsentOfStrangers, () => undefined);
  }

  /** What all hold together. */
  get held(): number {
    return [...this.#accounts.values()].reduce((sum, { held }) => sum + held, this.#strangers.held);
  }

  /** Whether an account had better begin nothing that leaves more untaken. */
  isCrowded(name: string): boolean {
    const account = this.#accounts.get(name);
    return account !== undefined && account.held > account.most * crowdedAbove;
  }

  /** A connection, which has shown no credential yet. `cutOff` must let go of what it holds. */
  join(cutOff: () => void): UnsentShare {
    return new UnsentShare(this.#strangers, cutOff, (name) => this.#accountOf(name));
  }

  #accountOf(name: string): Account {
    const known = this.#accounts.get(name);
    if (known !== undefined) return known;
    const account = new Account(this.#bounds.unsentOfAccount, () => this.#accounts.delete(name));
    this.#accounts.set(name, account);
    return account;
  }
}

class Account {
  readonly most: number;
  held = 0;
  /** How many connections it has, whether they hold something or not. */
  connections = 0;
  readonly holding = new Set<UnsentShare>();
  readonly #onEmpty: () => void;

  constructor(most: number, onEmpty: () => void) {
    this.most = most;
    this.#onEmpty = onEmpty;
  }

  left(): void {
    this.connections--;
    if (this.connections === 0) this.#onEmpty();
  }

  relieve(): void {
    const until = this.most * (1 - relief);
    for (const share of [...this.holding].sort((one, other) => other.bytes - one.bytes)) {
      if (this.held <= until) return;
      share.cutOff();
    }
  }
}

/** What one connection holds. */
export class UnsentShare {
  bytes = 0;
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
    if (account === undefined || this.bytes === 0) return false;
    const crowded = account.most * crowdedAbove;
    return account.held > crowded && this.bytes > crowded / account.holding.size;
  }

  /** The peer has shown a credential of this account. The first one counts. */
  belongTo(name: string): void {
    if (this.#isNamed || this.#account === undefined) return;
    this.#isNamed = true;
    const { bytes } = this;
    this.#leave();
    this.#account = this.#accountOf(name);
    this.#account.connections++;
    this.hold(bytes);
  }

  /** Says how much it holds now. */
  hold(bytes: number): void {
    const account = this.#account;
    if (account === undefined || bytes === this.bytes) return;
    const isMore = bytes > this.bytes;
    if (this.bytes === 0) this.#seen = undefined;
    account.held += bytes - this.bytes;
    this.bytes = bytes;
    if (bytes === 0) account.holding.delete(this);
    else account.holding.add(this);
    if (isMore && account.held > account.most) account.relieve();
  }

  /** How long the peer has taken nothing of it, if it has taken so much in all. */
  untakenMs(taken: number, now: number): number {
    if (this.bytes === 0 || taken !== this.#seen?.taken) this.#seen = { taken, at: now };
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
