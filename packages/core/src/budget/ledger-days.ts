import type { Clock, EpochMs } from '../kernel/index.ts';
import type { Undo } from '../journal/index.ts';
import type { WindowIds, Windows } from './balance.ts';
import { idsOf } from './balance.ts';
import type { Calendar, Period, Window } from './period.ts';

/**
 * Zones are apart by 26 hours at most, and clocks are set right by minutes: a clock that is behind by no more than this is
 * waited for, in the day that had begun.
 */
const mostWaitedFor = 2 * 86_400_000;

/** A clock that is further behind for so long is right, and was wrong before. One that is not yet set is soon. */
const steadyMs = 3_600_000;

/**
 * Which day and month it is for budgets. By themselves they only ever move on. A clock that is set back a little changes
 * nothing until the day that had begun is over. One that is set back further is believed: its day is the present one, for
 * which all that was booked to later ones counts. Costs go on being booked to the later one, should the clock come back
 * to it, until it has stayed behind for so long that it will not.
 */
export class LedgerDays {
  readonly #clock: Clock;
  #calendar: Calendar;
  #booking: Windows;
  #bookingIds: WindowIds;
  /** The latest that anything was booked to. */
  #booked: WindowIds | undefined;
  /** By a clock that is far behind: its day and month, and since when on the clock that never jumps. */
  #behind: { readonly windows: Windows; readonly since: number } | undefined;

  constructor(clock: Clock, calendar: Calendar) {
    this.#clock = clock;
    this.#calendar = calendar;
    this.#booking = this.#at(clock.now());
    this.#bookingIds = idsOf(this.#booking);
  }

  /** What costs are booked to. */
  get booking(): Windows {
    this.#look();
    return this.#booking;
  }

  get bookingIds(): WindowIds {
    this.#look();
    return this.#bookingIds;
  }

  /** What caps are for, and until when. */
  get present(): Windows {
    this.#look();
    return this.#behind?.windows ?? this.#booking;
  }

  /** Whether that is another day than costs are booked to. As true as the last look at the clock. */
  get isBehind(): boolean {
    return this.#behind !== undefined;
  }

  /** Another calendar counts. A day that was begun stays so, where anything was booked to it. */
  follow(calendar: Calendar, isBegun: boolean): void {
    const ids = this.#bookingIds;
    this.#calendar = calendar;
    this.#behind = undefined;
    const next = this.#at(this.#clock.now());
    this.#book(!isBegun || next.day.id >= ids.day ? next : this.#named(ids));
  }

  /** Something is booked to the day and month of now. */
  noteBooked(): void {
    this.#booked = this.#bookingIds;
  }

  /** Something was booked to that day and month before a restart. */
  restore(ids: WindowIds): void {
    if (this.#booked === undefined || ids.day > this.#booked.day) this.#booked = ids;
    if (ids.day <= this.#bookingIds.day) return;
    this.#behind = undefined;
    this.#book(this.#named(ids));
  }

  /** Balance to the present day from now on, where the clock has been behind for long enough; returns how to take that back. */
  goBack(): Undo | undefined {
    this.#look();
    const behind = this.#behind;
    if (behind === undefined || this.#clock.elapsed() - behind.since < steadyMs) return undefined;
    const [before, booked] = [this.#booking, this.#booked];
    this.#behind = undefined;
    this.#book(behind.windows);
    this.#booked = this.#bookingIds;
    return () => {
      this.#book(before);
      this.#booked = booked;
      this.#behind = behind;
    };
  }

  #look(): void {
    const now = this.#clock.now();
    const { day } = this.#booking;
    if (now >= day.start - mostWaitedFor && now < day.end) {
      this.#behind = undefined;
    } else if (now >= day.end) {
      this.#behind = undefined;
      this.#book(this.#next(now));
    } else if (this.#behind === undefined) {
      this.#fallBehind(now);
    } else {
      const { windows, since } = this.#behind;
      if (now >= windows.day.start && now < windows.day.end) return;
      const next = this.#at(now);
      // Midnight comes by itself; another jump is another clock to wait for.
      this.#behind = { windows: next, since: next.day.start === windows.day.end ? since : this.#clock.elapsed() };
    }
  }

  #fallBehind(now: EpochMs): void {
    const windows = this.#at(now);
    const booked = this.#booked;
    if (booked === undefined || booked.day <= windows.day.id) {
      // Nothing was booked later: there is nothing that could be given again.
      this.#book(windows);
    } else if (booked.day < this.#bookingIds.day) {
      this.#book(this.#named(booked));
      this.#look();
    } else this.#behind = { windows, since: this.#clock.elapsed() };
  }

  #book(windows: Windows): void {
    this.#booking = windows;
    this.#bookingIds = idsOf(windows);
  }

  /** The day after what is booked to; where the calendar knows no such, what is booked to goes on for another. */
  #next(now: EpochMs): Windows {
    const next = this.#at(now);
    if (next.day.id >= this.#bookingIds.day) return next;
    return { day: { ...this.#booking.day, end: next.day.end }, month: this.#booking.month };
  }

  #at(now: EpochMs): Windows {
    return { day: this.#calendar.window('day', now), month: this.#calendar.window('month', now) };
  }

  #named(ids: WindowIds): Windows {
    return { day: this.#window('day', ids.day), month: this.#window('month', ids.month) };
  }

  /** Some calendars leave a day out: then it is what they have in its place, by its name. */
  #window(period: Period, id: string): Window {
    return this.#calendar.named(period, id) ?? { ...this.#calendar.window(period, Date.parse(id)), id };
  }
}
