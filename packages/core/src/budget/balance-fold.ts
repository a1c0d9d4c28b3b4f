import type { Total } from '../kernel/index.ts';
import type { Applying, Undo } from '../journal/index.ts';
import { undoAll, WriteBehind } from '../journal/index.ts';
import type { Balance, SavedBalance, Sums, WindowIds } from './balance.ts';
import type { BudgetsChange } from './budget-slice.ts';
import { idsOfDay, isEmpty, movedOn } from './balance.ts';
import { Balances } from './balances.ts';
import type { Period } from './period.ts';
import { periods } from './period.ts';
import type { TierOf } from './tier.ts';
import { tierKey } from './tier.ts';

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

/** An empty balance whose row is to be removed. */
interface EmptyBalance {
  readonly balance: Balance;
  /** The entry at which the row was written. */
  readonly writtenAt: number;
}

/**
 * The balances that are durable, and which of them the store still lacks. The store keeps them, and a restart starts
 * from them.
 */
export class BalanceFold {
  readonly balances = new Balances((balance, before) => this.#onReplaced(balance, before));
  /** The tiers whose rows are out of date. */
  readonly rows = new WriteBehind<TierOf>();
  /**
   * The tiers whose rows say that nothing counts, and which have not changed since, with the entries at which these were
   * written. Such a row can go once all balances are saved up to its entry. Before, a start would add entries to nothing
   * that the row has already.
   */
  readonly #empty = new Map<string, EmptyBalance>();
  readonly #closed = new Map<string, ReadonlyMap<string, ClosedWindow>>();
  #day = '';
  /** The balances whose windows before that day are still to be closed. */
  #closing: Iterator<Balance> | undefined;

  /** Whether anything is still to be written. */
  get hasChanged(): boolean {
    return this.rows.hasChanged || this.#closing !== undefined;
  }

  /**
   * Closes the windows before this day and its month, of up to `most` balances. Returns false once all are closed. A
   * balance that changes in the meantime closes its own.
   */
  closeBefore(day: string, most: number): boolean {
    if (day !== this.#day) this.#closing = this.balances.all();
    this.#day = day;
    const closing = this.#closing;
    if (closing === undefined) return false;
    const { oldest } = this.balances;
    for (let seen = 0; seen < most; seen++) {
      const { value: balance, done } = closing.next();
      if (done === true) {
        this.#closing = undefined;
        return false;
      }
      this.balances.replace(balance, movedOn(balance.sums, idsOfDay(day)));
      const key = tierKey(balance.of);
      if (isEmpty(balance.sums, oldest) && !this.#empty.has(key)) this.rows.changed(key, balance.of);
    }
    return true;
  }

  /** What to write for a tier, as it is now. */
  stepOf(of: TierOf): BalanceStep | undefined {
    const balance = this.balances.find(of);
    return balance && { of, balance: savedOf(balance), closed: [...(this.#closed.get(tierKey(of))?.values() ?? [])] };
  }

  /** Up to `most` tiers whose rows can go, because all balances are saved up to the entry `savedTo`. */
  nextEmpty(most: number, savedTo: number): TierOf[] {
    const found: TierOf[] = [];
    for (const { balance, writtenAt } of this.#empty.values()) {
      // The oldest stand first.
      if (found.length === most || writtenAt > savedTo) break;
      found.push(balance.of);
    }
    return found;
  }

  /** Rows are written and removed, here or elsewhere. */
  apply({ saved, over, closed, asOf }: BudgetsChange, how: Applying): Undo {
    const written = saved.map(({ of }) => [tierKey(of), of] as const);
    const undo = this.rows.apply(written, asOf?.seq ?? null, how);
    if (!how.isHere) {
      this.#forgetClosed(closed);
      return undo;
    }
    const { oldest } = this.balances;
    const saves = saved.map(({ of, seq }) => this.#save(of, seq, oldest));
    return undoAll(undo, ...saves, ...over.map((of) => this.#remove(of)));
  }

  #save(of: TierOf, seq: number, oldest: WindowIds): Undo {
    const key = tierKey(of);
    const balance = this.balances.find(of);
    const closed = this.#closed.get(key);
    this.#closed.delete(key);
    if (balance !== undefined && isEmpty(balance.sums, oldest)) this.#empty.set(key, { balance, writtenAt: seq });
    return () => {
      this.#empty.delete(key);
      const since = this.#closed.get(key)?.values() ?? [];
      this.#closed.delete(key);
      for (const window of [...(closed?.values() ?? []), ...since]) this.#close(key, window);
    };
  }

  #remove(of: TierOf): Undo {
    const key = tierKey(of);
    const known = this.#empty.get(key);
    this.#empty.delete(key);
    this.balances.delete(of);
    return () => {
      // A balance that has changed since stays as it is: it began with nothing, as before.
      if (known === undefined || this.balances.find(of) !== undefined) return;
      this.balances.add(known.balance);
      this.#empty.set(key, known);
    };
  }

  /** Another gateway has written these windows. */
  #forgetClosed(windows: readonly (ClosedWindow & { readonly of: TierOf })[]): void {
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

  /** The row of a tier is out of date, unless only a day without bookings is over. */
  #onReplaced({ of, sums }: Balance, before: Sums): void {
    if (sums.spent === before.spent && sums.noticed === before.noticed && sums.earlier === before.earlier) return;
    const key = tierKey(of);
    this.rows.changed(key, of);
    this.#empty.delete(key);
    if (sums.earlier !== before.earlier) for (const closed of closedBetween(before, sums)) this.#close(key, closed);
  }

  /** The last known state of a day or month is written. */
  #close(key: string, closed: ClosedWindow): void {
    const known = this.#closed.get(key) ?? new Map<string, ClosedWindow>();
    this.#closed.set(key, new Map([...known, [`${closed.period} ${closed.id}`, closed]]));
  }
}

/** The days and months whose record is another one now. */
function* closedBetween(before: Sums, after: Sums): Generator<ClosedWindow> {
  for (const period of periods) {
    const [were, are] = [before.earlier[period], after.earlier[period]];
    for (const { id, spent } of are) {
      const was = were.find((window) => window.id === id)?.spent ?? 0;
      if (spent !== was) yield { period, id, spentMicros: spent };
    }
    // What was booked to these counts for another one after all.
    for (const { id } of were) if (id >= after.window[period]) yield { period, id, spentMicros: 0 };
  }
}

function savedOf({ of, sums: { spent, window, noticed, earlier } }: Balance): Omit<SavedBalance, 'seq'> {
  const plain = { of, spent, window, noticed };
  return earlier.day.length + earlier.month.length === 0 ? plain : { ...plain, earlier };
}
