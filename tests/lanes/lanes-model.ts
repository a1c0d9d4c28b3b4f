/*
 * A model of lanes, as docs/scale.md proposes them: a log for each org, one common log, and one log of shares. It has the
 * rules of the proposal and nothing of the product. Each rule can be left out, to see that its absence is noticed.
 */

/** What everybody rests on. Few commits, and each is known to a lane's next commit. */
export type CommonFact =
  | { readonly kind: 'cap_set'; readonly cap: number }
  | { readonly kind: 'credential_revoked'; readonly credential: number }
  | { readonly kind: 'everything_stopped' };

/** Who holds how much of the global cap. */
export type ShareFact =
  | { readonly kind: 'taken'; readonly lane: number; readonly epoch: number; readonly amount: number }
  | { readonly kind: 'received'; readonly lane: number; readonly epoch: number; readonly returned: number }
  | { readonly kind: 'reported'; readonly lane: number; readonly epoch: number; readonly used: number };

export type LaneFact =
  | { readonly kind: 'charged'; readonly op: string; readonly amount: number; readonly credential: number }
  | { readonly kind: 'settled'; readonly op: string; readonly amount: number }
  | { readonly kind: 'returned'; readonly epoch: number; readonly amount: number }
  | { readonly kind: 'reported'; readonly epoch: number };

/** A commit names the version of the common log that it rests on. */
export interface Commit<Fact> {
  readonly common: number;
  readonly fact: Fact;
}

export interface Rules {
  /** A commit is refused unless it rests on the newest version of the common log. */
  readonly restsOnCommon: boolean;
  /** A lower cap voids the shares that were taken before it. */
  readonly lowerCapVoidsShares: boolean;
  /** A share is given back in the lane first, and received afterwards. */
  readonly returnsBeforeReceipt: boolean;
  /** A lane that has not reported counts with all that it may have used. */
  readonly unreportedCountsWhole: boolean;
  /** What falls below what was used when the cap was lowered is given back. */
  readonly givesBackWhatItUsed: boolean;
}

export const allRules: Rules = {
  restsOnCommon: true,
  lowerCapVoidsShares: true,
  returnsBeforeReceipt: true,
  unreportedCountsWhole: true,
  givesBackWhatItUsed: true,
};

export interface Common {
  readonly cap: number;
  /** Counts how often the cap was lowered. */
  readonly epoch: number;
  readonly revoked: ReadonlySet<number>;
  readonly stops: number;
}

export function commonOf(log: readonly CommonFact[], { lowerCapVoidsShares }: Rules): Common {
  let [cap, epoch, stops] = [0, 0, 0];
  const revoked = new Set<number>();
  for (const fact of log) {
    if (fact.kind === 'cap_set') {
      if (fact.cap < cap && lowerCapVoidsShares) epoch++;
      cap = fact.cap;
    } else if (fact.kind === 'everything_stopped') stops++;
    else revoked.add(fact.credential);
  }
  return { cap, epoch, revoked, stops };
}

/** What one lane holds in an epoch, by the log of shares. */
interface Share {
  /** What the lane had used when it first reported in this epoch. Undefined: it has not. */
  reported: number | undefined;
  taken: number;
  received: number;
}

/** The shares of all lanes in an epoch, and the most that each lane can have used when the epoch began. */
export class Shares {
  readonly epoch: number;
  readonly #mostBefore: (lane: number) => number;
  readonly #of = new Map<number, Share>();
  readonly #lanes: number;

  constructor(log: readonly ShareFact[], epoch: number, lanes: number) {
    this.epoch = epoch;
    this.#lanes = lanes;
    const before = epoch === 0 ? undefined : new Shares(log, epoch - 1, lanes);
    this.#mostBefore = (lane) => before?.mostUsed(lane) ?? 0;
    for (const fact of log) {
      if (fact.epoch !== epoch) continue;
      const share = this.#share(fact.lane);
      if (fact.kind === 'taken') share.taken += fact.amount;
      else if (fact.kind === 'received') share.received = Math.max(share.received, fact.returned);
      else share.reported ??= fact.used;
    }
  }

  /** The most that a lane can use before it takes more. */
  mostUsed(lane: number): number {
    const { reported, taken, received } = this.#share(lane);
    return (reported ?? this.#mostBefore(lane)) + taken - received;
  }

  /** What nobody holds. */
  free(cap: number, { unreportedCountsWhole }: Rules): number {
    let held = 0;
    for (let lane = 0; lane < this.#lanes; lane++) {
      if (unreportedCountsWhole || this.hasReported(lane)) held += this.mostUsed(lane);
    }
    return cap - held;
  }

  takenBy(lane: number): number {
    return this.#share(lane).taken;
  }

  receivedFrom(lane: number): number {
    return this.#share(lane).received;
  }

  hasReported(lane: number): boolean {
    return this.epoch === 0 || this.#share(lane).reported !== undefined;
  }

  #share(lane: number): Share {
    const known = this.#of.get(lane) ?? { reported: undefined, taken: 0, received: 0 };
    this.#of.set(lane, known);
    return known;
  }
}

/** The state of one lane: the fold of its commits, each on top of the common log that it names. */
export class Lane {
  readonly #rules: Rules;
  readonly running = new Map<string, number>();
  used = 0;
  #stops = 0;
  #epoch = 0;
  /** The least that was used since the epoch began. */
  #floor: number | undefined;
  /** What the lane had used when it first saw the epoch. */
  readonly #base = new Map<number, number>([[0, 0]]);
  readonly #returned = new Map<number, number>();

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** A common fact takes effect in a lane where the first commit that knows it stands. */
  see({ epoch, stops }: Common): void {
    if (!this.#base.has(epoch)) {
      this.#base.set(epoch, this.used);
      this.#epoch = epoch;
      this.#floor = this.used;
    }
    if (stops > this.#stops) this.running.clear();
    this.#stops = Math.max(this.#stops, stops);
  }

  apply(fact: LaneFact): void {
    switch (fact.kind) {
      case 'charged':
        this.running.set(fact.op, fact.amount);
        this.used += fact.amount;
        break;
      case 'settled':
        this.used += fact.amount - (this.running.get(fact.op) ?? fact.amount);
        this.running.delete(fact.op);
        this.#giveBack();
        break;
      case 'returned':
        this.#returned.set(fact.epoch, this.returned(fact.epoch) + fact.amount);
        break;
      case 'reported':
        break;
    }
  }

  returned(epoch: number): number {
    return this.#returned.get(epoch) ?? 0;
  }

  /** What the lane had used when the epoch began for it. */
  base(epoch: number): number {
    return this.#base.get(epoch) ?? this.used;
  }

  /**
   * What a lane had used before the cap was lowered is not its share: the cap may be lower than what all lanes have used
   * together. So what falls below that goes back at once, and is not used again.
   */
  #giveBack(): void {
    const epoch = this.#epoch;
    const floor = this.#floor ?? this.used;
    if (epoch === 0 || this.used >= floor || !this.#rules.givesBackWhatItUsed) return;
    this.#returned.set(epoch, this.returned(epoch) + floor - this.used);
    this.#floor = this.used;
  }

  /** What the lane may still use of its share. */
  room(epoch: number, taken: number): number {
    return this.base(epoch) + taken - this.returned(epoch) - this.used;
  }
}
