import type { Clock, EpochMs } from '../kernel/clock.ts';
import type { Undo } from '../ops/op.ts';
import type { AgentId } from '../tenancy/agent-id.ts';
import type { Books, SavedBooks } from './books.ts';
import { booksOf, freshBooks, rolledOver } from './books.ts';
import type { BudgetPolicy } from './budget-policy.ts';
import type { Micros, Total } from './money.ts';
import { isShareOf, minus, plus } from './money.ts';
import type { Period, Window } from './period.ts';
import { periods } from './period.ts';
import type { TierOf } from './tier.ts';
import { tierKey, tiersOf } from './tier.ts';

/** A cap that a charge would pass. */
export interface Exceeded {
  readonly of: TierOf;
  readonly period: Period;
  readonly limitMicros: Micros;
  /** Settled and reserved, without the charge. */
  readonly totalMicros: Total;
}

/** A share of a cap that is used up for the first time in its period. */
export interface Approached {
  readonly of: TierOf;
  readonly period: Period;
  readonly percent: number;
  readonly limitMicros: Micros;
  readonly totalMicros: Total;
}

/** At which shares of a cap somebody is told, once a period. */
export const thresholds = [80, 95] as const;

type Windows = Readonly<Record<Period, Window>>;

/**
 * What was spent and what is held back, for everybody, each org, each team and each agent. A charge is reserved in all
 * tiers or in none, settled when the action is over and released when it never was. What is reserved stays so over
 * midnight; what is settled belongs to the day and month in which it was.
 */
export class Ledger {
  readonly #clock: Clock;
  readonly #books = new Map<string, Books>();
  #policy: BudgetPolicy;
  #windows: Windows;

  constructor(clock: Clock, policy: BudgetPolicy) {
    this.#clock = clock;
    this.#policy = policy;
    this.#windows = windowsOf(policy, clock.now());
  }

  get policy(): BudgetPolicy {
    return this.#policy;
  }

  /** Puts other caps in force, from the next charge on. */
  set policy(policy: BudgetPolicy) {
    if (policy.calendar.timeZone !== this.#policy.calendar.timeZone) {
      const now = this.#clock.now();
      const next = windowsOf(policy, now);
      this.#windows = this.#books.size === 0 ? next : movedOn(this.#windows, next, now);
    }
    this.#policy = policy;
  }

  /** The present day or month. */
  window(period: Period): Window {
    return this.windows[period];
  }

  /** The present day and month. Periods only ever move on: a clock that is set back gives nobody yesterday's budget again. */
  get windows(): Windows {
    const now = this.#clock.now();
    if (now >= this.#windows.day.end || now < this.#windows.day.start - mostBack) {
      this.#windows = movedOn(this.#windows, windowsOf(this.#policy, now), now);
    }
    return this.#windows;
  }

  /** When the books of a period start anew. */
  resetsAt(period: Period): EpochMs {
    return this.window(period).end;
  }

  /** The first cap that a charge would pass, in the order of enforcement. What costs nothing passes none. */
  exceededBy(agent: AgentId, cost: Micros): Exceeded | undefined {
    if (cost === 0) return undefined;
    for (const of of tiersOf(agent)) {
      const caps = this.#policy.capsOf(of);
      const books = this.#of(of);
      for (const period of periods) {
        const limitMicros = caps[period];
        if (limitMicros === null) continue;
        const totalMicros = plus(books.spent[period], books.reserved);
        if (plus(totalMicros, cost) > limitMicros) return { of, period, limitMicros, totalMicros };
      }
    }
    return undefined;
  }

  /** Holds a charge back in all tiers, and tells which shares of caps are used up by it. */
  reserve(agent: AgentId, cost: Micros): { readonly undo: Undo; readonly approached: readonly Approached[] } {
    return this.#book(agent, (books) => {
      books.reserved = plus(books.reserved, cost);
    });
  }

  /** Holds back again what was held back before a restart; nobody is told. */
  hold(agent: AgentId, cost: Micros): void {
    if (cost === 0) return;
    for (const of of tiersOf(agent)) {
      const books = this.#of(of);
      books.reserved = plus(books.reserved, cost);
    }
  }

  /** The action is over: what it did cost takes the place of what was held back for it, on the day that is told. */
  settle(
    agent: AgentId,
    reserved: Micros,
    actual: Micros,
  ): { readonly undo: Undo; readonly approached: readonly Approached[]; readonly day: string } {
    const booked = this.#book(agent, (books) => {
      books.reserved = minus(books.reserved, reserved);
      for (const period of periods) books.spent[period] = plus(books.spent[period], actual);
    });
    return { ...booked, day: this.#windows.day.id };
  }

  /** The action never was, or nobody will tell: what was held back is free again. */
  release(agent: AgentId, reserved: Micros): Undo {
    return this.#book(agent, (books) => {
      books.reserved = minus(books.reserved, reserved);
    }).undo;
  }

  /** The books of a tier as they stand now; of one that never spent anything none are kept. */
  read(of: TierOf): Readonly<Books> {
    const { windows } = this;
    const known = this.#books.get(tierKey(of));
    return known === undefined ? freshBooks(of, windows) : rolledOver(known, windows);
  }

  all(): Readonly<Books>[] {
    return [...this.#books.values()].map(({ of }) => this.#of(of));
  }

  /** Books of a month that is over, for which nothing is held back, need no place. */
  forgetIdle(): void {
    const { month } = this.windows;
    for (const [key, books] of this.#books) {
      if (books.reserved === 0 && books.window.month < month.id) this.#books.delete(key);
    }
  }

  /** Puts back what a store remembered. A day that was begun stays so, as long as it can be one of these days. */
  restore(saved: SavedBooks): void {
    this.#books.set(tierKey(saved.of), booksOf(saved));
    const { day, month } = this.#windows;
    const { day: id, month: monthId } = saved.window;
    if (id > day.id && Date.parse(id) - mostBack < this.#clock.now()) {
      this.#windows = { day: { ...day, id }, month: { ...month, id: monthId } };
    }
  }

  #book(agent: AgentId, change: (books: Books) => void): { undo: Undo; approached: Approached[] } {
    const before: [Books, Books][] = [];
    const approached: Approached[] = [];
    // One day for all tiers, though midnight may come in between.
    const { windows } = this;
    for (const of of tiersOf(agent)) {
      const books = this.#of(of, windows);
      before.push([books, structuredCopy(books)]);
      change(books);
      approached.push(...this.#approached(books));
    }
    const undo = () => {
      for (const [books, was] of before) Object.assign(books, was);
    };
    return { undo, approached };
  }

  #approached(books: Books): Approached[] {
    const caps = this.#policy.capsOf(books.of);
    const found: Approached[] = [];
    for (const period of periods) {
      const limitMicros = caps[period];
      if (limitMicros === null) continue;
      const totalMicros = plus(books.spent[period], books.reserved);
      for (const percent of thresholds) {
        if (books.noticed[period] >= percent || !isShareOf(totalMicros, percent, limitMicros)) continue;
        books.noticed[period] = percent;
        found.push({ of: books.of, period, percent, limitMicros, totalMicros });
      }
    }
    return found;
  }

  #of(of: TierOf, windows = this.windows): Books {
    const key = tierKey(of);
    const known = this.#books.get(key);
    if (known !== undefined) return rolledOver(known, windows);
    const books = freshBooks(of, windows);
    this.#books.set(key, books);
    return books;
  }
}

function windowsOf({ calendar }: BudgetPolicy, now: EpochMs): Windows {
  return { day: calendar.window('day', now), month: calendar.window('month', now) };
}

/** Zones are apart by 26 hours at most. A clock that was further ahead than this was wrong, and is not waited for. */
const mostBack = 2 * 86_400_000;

/** The later of two; where that is the one before, it is looked at again when the other one ends. */
function movedOn(before: Windows, next: Windows, now: EpochMs): Windows {
  if (next.day.id >= before.day.id || now < before.day.start - mostBack) return next;
  return { day: { ...before.day, end: next.day.end }, month: before.month };
}

function structuredCopy(books: Books): Books {
  return { ...books, spent: { ...books.spent }, noticed: { ...books.noticed }, window: { ...books.window } };
}
