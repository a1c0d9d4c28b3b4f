import type { Undo } from '../journal/index.ts';
import { nothingToApply } from '../journal/index.ts';
import type { Total } from '../kernel/index.ts';
import { minus, plus } from '../kernel/index.ts';
import type { SavedBalance, Sums, WindowIds } from './balance.ts';
import {
  Balance,
  booked,
  idsOfDay,
  movedBack,
  movedOn,
  nothingBooked,
  noticedOn,
  oldestOf,
  sumsOf,
  unnoticed,
} from './balance.ts';
import type { BookedEvent } from './budget-slice.ts';
import type { Period } from './period.ts';
import type { TierOf } from './tier.ts';
import { everybody, tierKey, tiersCharged } from './tier.ts';

type Replaced = readonly [of: TierOf, before: Sums, after: Sums];

const unknownEntry = Number.POSITIVE_INFINITY;

/**
 * The balances of all tiers. They know no clock: whoever books names the day. So the same facts in the same order make
 * the same balances, at every gateway and after every restart.
 *
 * An entry of the log that a balance contains already (`asOf`) changes nothing.
 */
export class Balances {
  readonly #byTier = new Map<string, Balance>();
  readonly #onReplaced: ((balance: Balance, before: Sums) => void) | undefined;
  #everybody: Balance | undefined;

  constructor(onReplaced?: (balance: Balance, before: Sums) => void) {
    this.#onReplaced = onReplaced;
  }

  get size(): number {
    return this.#byTier.size;
  }

  /** What everybody together has settled. */
  get total(): Sums | undefined {
    return this.#everybody?.sums;
  }

  /** The oldest day and month that count. */
  get oldest(): WindowIds {
    return oldestOf(this.total);
  }

  find(of: TierOf): Balance | undefined {
    return this.#byTier.get(tierKey(of));
  }

  all(): IterableIterator<Balance> {
    return this.#byTier.values();
  }

  put({ of, seq, ...saved }: SavedBalance): void {
    this.add(new Balance(of, sumsOf(saved), seq));
  }

  /** Puts back what a tier has settled. What it reserves stays. */
  restore(of: TierOf, sums: Sums): void {
    this.#of(of).sums = sums;
  }

  add(balance: Balance): void {
    const key = tierKey(balance.of);
    this.#byTier.set(key, balance);
    if (key === tierKey(everybody)) this.#everybody = balance;
  }

  delete(of: TierOf): void {
    const key = tierKey(of);
    this.#byTier.delete(key);
    if (key === tierKey(everybody)) this.#everybody = undefined;
  }

  /** Changes what is reserved for actions, in all tiers that they are charged to. */
  reserve(tiers: readonly TierOf[], amount: Total): Undo {
    const add = (by: Total) => {
      for (const of of tiers) {
        const balance = this.#of(of);
        balance.reserved = plus(balance.reserved, by);
      }
    };
    add(amount);
    return () => add(minus(0, amount));
  }

  /** Books a cost to a day, in all tiers that it is charged to. */
  settle(tiers: readonly TierOf[], amount: Total, day: string, seq = unknownEntry): Undo {
    return this.#book(tiers, { day: amount, month: amount }, day, seq);
  }

  /** Corrects what a tier has settled in the day or the month of a day. */
  correct(of: TierOf, period: Period, amount: Total, day: string, seq = unknownEntry): Undo {
    return this.#book([of], { day: 0, month: 0, [period]: amount }, day, seq);
  }

  /** Somebody was told that this share of a cap is used up. */
  notice(of: TierOf, period: Period, percent: number, day: string, seq = unknownEntry): Undo {
    const balance = this.#of(of);
    if (balance.asOf >= seq) return nothingToApply();
    const told = movedOn(balance.sums, idsOfDay(day)).noticed[period];
    const replaced = this.#replace(balance, noticedOn(balance.sums, period, percent, day));
    return () => this.#putBack([replaced], (sums) => unnoticed(sums, period, percent, told));
  }

  /** The clock was ahead: what was booked to later days counts for this one. */
  moveBack(day: string, seq = unknownEntry): Undo {
    const { oldest } = this;
    const replaced: Replaced[] = [];
    for (const balance of this.all()) {
      if (balance.asOf < seq) replaced.push(this.#replace(balance, movedBack(balance.sums, idsOfDay(day), oldest)));
    }
    return () => this.#putBack(replaced, (sums) => sums);
  }

  /** Puts other sums in place. They say the same, or the store will. */
  replace(balance: Balance, after: Sums): void {
    this.#replace(balance, after);
  }

  #book(tiers: readonly TierOf[], amounts: Readonly<Record<Period, Total>>, day: string, seq: number): Undo {
    const replaced: Replaced[] = [];
    for (const of of tiers) {
      const balance = this.#of(of);
      if (balance.asOf < seq) replaced.push(this.#replace(balance, booked(balance.sums, day, amounts)));
    }
    const less = { day: minus(0, amounts.day), month: minus(0, amounts.month) };
    return () => this.#putBack(replaced, (sums) => booked(sums, day, less));
  }

  /**
   * Where another gateway has changed the balance since, or it was empty and is forgotten, the former sums are no way
   * back: `without` says what is.
   */
  #putBack(replaced: readonly Replaced[], without: (sums: Sums) => Sums): void {
    for (const [of, before, after] of replaced) {
      const balance = this.#of(of);
      this.#replace(balance, balance.sums === after ? before : without(balance.sums));
    }
  }

  #replace(balance: Balance, after: Sums): Replaced {
    const before = balance.sums;
    balance.sums = after;
    if (before !== after) this.#onReplaced?.(balance, before);
    return [balance.of, before, after];
  }

  #of(of: TierOf): Balance {
    const known = this.find(of);
    if (known !== undefined) return known;
    const balance = new Balance(of, nothingBooked);
    this.add(balance);
    return balance;
  }
}

/** What a fact means to balances, whoever keeps them and whenever they learn of it. `seq` is its entry, if that is known. */
export function bookFact(balances: Balances, fact: BookedEvent, seq?: number): Undo {
  switch (fact.type) {
    case 'ops_change':
      if (fact.booked === undefined || fact.op.costMicros === 0) return nothingToApply();
      return balances.settle(tiersCharged(fact.op), fact.op.costMicros, fact.booked, seq);
    case 'budget': {
      const { of, period, percent, amountMicros, day } = fact;
      if (day === undefined) return nothingToApply();
      if (percent !== null) return balances.notice(of, period, percent, day, seq);
      return amountMicros === undefined ? nothingToApply() : balances.correct(of, period, amountMicros, day, seq);
    }
    case 'audit_alert':
      return fact.movedBackTo === undefined ? nothingToApply() : balances.moveBack(fact.movedBackTo, seq);
  }
}
