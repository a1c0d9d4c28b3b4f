import type { AgentId, Micros, Total } from '../kernel/index.ts';
import type { EarlierWindow, SavedBalance, Sums, WindowIds } from './balance.ts';
import {
  book,
  copyOf,
  countedFrom,
  freshSums,
  isEmpty,
  later,
  moveBack,
  moveOn,
  oldestOf,
  setNoticed,
  sumsOf,
} from './balance.ts';
import type { Period } from './period.ts';
import { monthOf, periods } from './period.ts';
import type { TierOf } from './tier.ts';
import { everybody, tierKey, tiersOf } from './tier.ts';

type FoldedBalance = Sums & { readonly seq: number };

/** A past day or month of a tier, without its times and its cap. */
export interface ClosedWindow {
  readonly period: Period;
  readonly id: string;
  /** Zero if the amount counts for another window after all. */
  readonly spentMicros: Total;
}

/** What to write for one tier: its new balance and its closed windows. */
export interface BalanceStep {
  readonly of: TierOf;
  readonly balance: Omit<SavedBalance, 'seq'>;
  readonly closed: readonly ClosedWindow[];
}

/** An empty balance whose row is removed. */
export interface EmptyBalance {
  readonly balance: FoldedBalance;
  /** The entry at which the row was written. */
  readonly writtenAt: number;
}

/**
 * What the log entries together say was spent. The store keeps this, a restart starts from it, and the ledger can be
 * checked against it. Every entry names the day it was booked to. So the fold matches the ledger, whatever clocks and
 * time zones did.
 */
export class BalanceFold {
  readonly #balance = new Map<string, FoldedBalance>();
  /** The tiers that have changed since the present save began, in the order of their changes. */
  #changed = new Map<string, TierOf>();
  /** The tiers that the present save still has to write. */
  #saving = new Map<string, TierOf>();
  /**
   * The tiers whose rows say that nothing counts, and which have not changed since, with the entries at which these were
   * written. Such a row can go once all balances are saved up to its entry. Before, a start would add entries to nothing
   * that the row has already.
   */
  readonly #empty = new Map<string, number>();
  readonly #closed = new Map<string, ReadonlyMap<string, ClosedWindow>>();
  #day = '';
  #ids: WindowIds = { day: '', month: '' };
  /** The balances whose windows before that day are still to be closed. */
  #closing: Iterator<FoldedBalance> | undefined;

  put(balance: SavedBalance): void {
    this.#balance.set(tierKey(balance.of), { ...sumsOf(balance), seq: balance.seq });
  }

  all(): SavedBalance[] {
    return [...this.#balance.values()].map(({ seq, ...balance }) => ({ ...savedOf(balance), seq }));
  }

  /** What counts for a day and month in one tier. */
  counted(of: TierOf, ids: WindowIds): Readonly<Record<Period, Total>> {
    const balance = this.#balance.get(tierKey(of));
    if (balance === undefined) return { day: 0, month: 0 };
    const oldest = this.#oldest();
    const counted = (period: Period) => {
      const from = later(ids[period], oldest[period]);
      // Earlier bookings no longer count, even if nothing has moved the balance on.
      return balance.window[period] < from ? 0 : countedFrom(balance, period, from).spent;
    };
    return { day: counted('day'), month: counted('month') };
  }

  /**
   * Adds an action that entry `seq` settled on that day. A balance as of that entry or a later one includes it already.
   */
  settle(agent: AgentId, actual: Micros, day: string, seq = Number.POSITIVE_INFINITY): void {
    if (actual === 0) return;
    const ids = this.#idsOf(day);
    for (const of of tiersOf(agent)) {
      const balance = this.#on(of, ids, seq);
      if (balance !== undefined) for (const period of periods) book(balance, period, actual);
    }
  }

  /** Adds a correction of what a tier has spent. */
  correct(of: TierOf, period: Period, amount: Total, day: string, seq = Number.POSITIVE_INFINITY): void {
    const balance = this.#on(of, this.#idsOf(day), seq);
    if (balance !== undefined) book(balance, period, amount);
  }

  /** Notes that somebody was told about a used share of a cap. */
  notice(of: TierOf, period: Period, percent: number, day: string, seq = Number.POSITIVE_INFINITY): void {
    const balance = this.#on(of, this.#idsOf(day), seq);
    if (balance !== undefined) setNoticed(balance, period, Math.max(balance.noticed[period], percent));
  }

  /** The clock was ahead: amounts booked to later days now count for this day. */
  goBack(day: string, seq = Number.POSITIVE_INFINITY): void {
    const oldest = this.#oldest();
    for (const balance of this.#balance.values()) if (balance.seq < seq) this.#back(balance, day, oldest);
    this.#day = day;
  }

  /** Whether anything is still to be written. */
  get hasChanged(): boolean {
    return this.#changed.size + this.#saving.size > 0 || this.#closing !== undefined;
  }

  get isSaving(): boolean {
    return this.#saving.size > 0;
  }

  /**
   * Closes the windows before this day and its month, of up to `most` balances. Returns false once all are closed. A
   * balance that changes in the meantime closes its own.
   */
  closeBefore(day: string, most: number): boolean {
    if (day !== this.#day) this.#closing = this.#balance.values();
    this.#day = day;
    const closing = this.#closing;
    if (closing === undefined) return false;
    const oldest = this.#oldest();
    const ids = this.#idsOf(day);
    for (let seen = 0; seen < most; seen++) {
      const { value: balance, done } = closing.next();
      if (done === true) {
        this.#closing = undefined;
        return false;
      }
      this.#roll(balance, ids);
      const key = tierKey(balance.of);
      if (isEmpty(balance, oldest) && !this.#empty.has(key)) this.#changed.set(key, balance.of);
    }
    return true;
  }

  /** Begins a save of all that has changed so far. Later changes wait for the next one, so that each save ends. */
  beginSave(): void {
    this.#saving = this.#changed;
    this.#changed = new Map();
  }

  /** Takes up to `most` tiers of the present save, as they are now, to be written as of the entry `seq`. */
  take(most: number, seq: number): BalanceStep[] {
    const steps: BalanceStep[] = [];
    const oldest = this.#oldest();
    for (const [key, of] of this.#saving) {
      if (steps.length === most) break;
      this.#saving.delete(key);
      this.#changed.delete(key);
      const balance = this.#balance.get(key);
      if (balance === undefined) continue;
      if (isEmpty(balance, oldest)) this.#empty.set(key, seq);
      steps.push({ of, balance: savedOf(balance), closed: [...(this.#closed.get(key)?.values() ?? [])] });
      this.#closed.delete(key);
    }
    return steps;
  }

  /** Undoes a `take`, and gives up its save: the next one writes all of it. */
  giveBack(steps: readonly BalanceStep[]): void {
    const since = [...this.#saving, ...this.#changed];
    this.#saving = new Map();
    this.#changed = new Map([...steps.map(({ of }) => [tierKey(of), of] as const), ...since]);
    for (const { of, closed } of steps) {
      const key = tierKey(of);
      this.#empty.delete(key);
      const closedSince = this.#closed.get(key)?.values() ?? [];
      this.#closed.delete(key);
      for (const window of [...closed, ...closedSince]) this.#close(key, window);
    }
  }

  /** Takes up to `most` empty balances whose rows can go, because all balances are saved up to the entry `savedTo`. */
  takeEmpty(most: number, savedTo: number): EmptyBalance[] {
    const taken: EmptyBalance[] = [];
    for (const [key, writtenAt] of this.#empty) {
      // The oldest stand first.
      if (taken.length === most || writtenAt > savedTo) break;
      const balance = this.#balance.get(key);
      this.#empty.delete(key);
      this.#balance.delete(key);
      if (balance !== undefined) taken.push({ balance, writtenAt });
    }
    return taken;
  }

  /** Undoes a `takeEmpty`. A balance that has changed since stays as it is: it began with nothing, as before. */
  giveBackEmpty(taken: readonly EmptyBalance[]): void {
    for (const { balance, writtenAt } of taken) {
      const key = tierKey(balance.of);
      if (this.#balance.has(key)) continue;
      this.#balance.set(key, balance);
      this.#empty.set(key, writtenAt);
    }
  }

  /** Another gateway has written these windows. */
  forgetClosed(windows: readonly (ClosedWindow & { readonly of: TierOf })[]): void {
    for (const { of, period, id, spentMicros } of windows) {
      const key = tierKey(of);
      const known = this.#closed.get(key);
      const name = `${period} ${id}`;
      if (known?.get(name)?.spentMicros !== spentMicros) continue;
      const left = new Map([...known].filter(([each]) => each !== name));
      if (left.size === 0) this.#closed.delete(key);
      else this.#closed.set(key, left);
    }
  }

  /** The same object for all balances of a day. */
  #idsOf(day: string): WindowIds {
    if (this.#ids.day !== day) this.#ids = { day, month: monthOf(day) };
    return this.#ids;
  }

  #oldest(): WindowIds {
    return oldestOf(this.#balance.get(tierKey(everybody)));
  }

  /** The balance of a tier on a day. Undefined if it includes the entry already. */
  #on(of: TierOf, ids: WindowIds, seq: number): Sums | undefined {
    const key = tierKey(of);
    const balance = this.#balance.get(key) ?? { ...freshSums(of, ids), seq: 0 };
    if (balance.seq >= seq) return undefined;
    this.#balance.set(key, balance);
    this.#note(key, of);
    // Older versions did not record that the clock was set back. Their entries just name an earlier day.
    if (ids.day < balance.window.day) this.#back(balance, ids.day, this.#oldest());
    else this.#roll(balance, ids);
    return balance;
  }

  #roll(balance: Sums, ids: WindowIds): void {
    // Nearly always nothing is over.
    if (balance.window.day >= ids.day && balance.window.month >= ids.month) return;
    const key = tierKey(balance.of);
    moveOn(balance, ids, (period, { id, spent }: EarlierWindow) => {
      this.#note(key, balance.of);
      if (spent !== 0) this.#close(key, { period, id, spentMicros: spent });
    });
  }

  #back(balance: Sums, day: string, oldest: WindowIds): void {
    if (balance.window.day <= day) return;
    const key = tierKey(balance.of);
    this.#note(key, balance.of);
    moveBack(balance, { day, month: monthOf(day) }, oldest, (period, id) => {
      this.#close(key, { period, id, spentMicros: 0 });
    });
  }

  /** The row of a tier is out of date. */
  #note(key: string, of: TierOf): void {
    this.#changed.set(key, of);
    this.#empty.delete(key);
  }

  /** The last known state of a day or month is written. */
  #close(key: string, closed: ClosedWindow): void {
    const known = this.#closed.get(key) ?? new Map<string, ClosedWindow>();
    this.#closed.set(key, new Map([...known, [`${closed.period} ${closed.id}`, closed]]));
  }
}

function savedOf(balance: Sums): Omit<SavedBalance, 'seq'> {
  const { earlier, ...saved } = copyOf(balance);
  const { of, spent, window, noticed } = saved;
  const plain = { of, spent, window, noticed };
  return earlier.day.length + earlier.month.length === 0 ? plain : { ...plain, earlier };
}
