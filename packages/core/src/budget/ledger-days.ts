import type { Clock, EpochMs } from '../kernel/index.ts';
import type { Undo } from '../journal/index.ts';
import type { WindowIds, Windows } from './balance.ts';
import { idsOf, idsOfDay } from './balance.ts';
import type { Calendar, Period, Window } from './period.ts';

/**
 * If the clock is behind by no more than this, the ledger waits for it in the day that had begun. Zones are 26 hours
 * apart at most, and clocks are set right by minutes.
 */
const mostWaitedFor = 2 * 86_400_000;

/**
 * A clock that stays further behind for this long is right, and was wrong before. A clock that is not set yet is set
 * sooner.
 */
const steadyMs = 3_600_000;

/**
 * The day and month of budgets. By themselves they only move forward. A clock that is set back a little changes nothing
 * until the begun day is over. A clock that is set back further is believed: its day is the present one, and all
 * amounts booked to later days count for it. Costs are still booked to the later day, in case the clock returns to it,
 * until the clock has stayed behind for long enough.
 */
export class LedgerDays {
  readonly #clock: Clock;
  #calendar: Calendar;
  #booking: Windows;
  #bookingIds: WindowIds;
  /** Set while the clock is far behind: its day and month, and since when on the monotonic clock. */
  #behind: { readonly windows: Windows; readonly since: number } | undefined;

  readonly #lastBooked: () => string | undefined;

  /** `lastBooked`: the latest day with a booking. */
  constructor(clock: Clock, calendar: Calendar, lastBooked: () => string | undefined) {
    this.#clock = clock;
    this.#calendar = calendar;
    this.#lastBooked = lastBooked;
    this.#booking = this.#at(clock.now());
    this.#bookingIds = idsOf(this.#booking);
  }

  /** The day and month that costs are booked to. */
  get booking(): Windows {
    this.#look();
    return this.#booking;
  }

  get bookingIds(): WindowIds {
    this.#look();
    return this.#bookingIds;
  }

  /** The day and month that caps apply to. */
  get present(): Windows {
    this.#look();
    return this.#behind?.windows ?? this.#booking;
  }

  get presentIds(): WindowIds {
    this.#look();
    return this.#behind === undefined ? this.#bookingIds : idsOf(this.#behind.windows);
  }

  /** Switches to another calendar. A begun day stays begun if anything was booked to it. */
  follow(calendar: Calendar, isBegun: boolean): void {
    const ids = this.#bookingIds;
    this.#calendar = calendar;
    this.#behind = undefined;
    const next = this.#at(this.#clock.now());
    this.#book(!isBegun || next.day.id >= ids.day ? next : this.#named(ids));
  }

  /** The day and month that the clock has shown for long enough to be believed, if costs are still booked to later ones. */
  get steadilyBehind(): Windows | undefined {
    this.#look();
    const behind = this.#behind;
    return behind === undefined || this.#clock.elapsed() - behind.since < steadyMs ? undefined : behind.windows;
  }

  /** Books to that day and month from now on. */
  goBack(ids: WindowIds): Undo {
    const [before, behind] = [this.#booking, this.#behind];
    this.#behind = undefined;
    this.#book(this.#named(ids));
    return () => {
      this.#book(before);
      this.#behind = behind;
    };
  }

  #look(): void {
    const booked = this.#lastBooked();
    if (booked !== undefined && booked > this.#bookingIds.day) {
      // A day with a booking has begun, whatever the clock says.
      this.#behind = undefined;
      this.#book(this.#named(idsOfDay(booked)));
    }
    const now = this.#clock.now();
    const { day } = this.#booking;
    if (now >= day.start - mostWaitedFor && now < day.end) {
      this.#behind = undefined;
    } else if (now >= day.end) {
      this.#behind = undefined;
      this.#book(this.#next(now));
    } else if (this.#behind === undefined) {
      this.#fallBehind(now, booked);
    } else {
      const { windows, since } = this.#behind;
      if (now >= windows.day.start && now < windows.day.end) return;
      const next = this.#at(now);
      // Midnight comes by itself. Any other jump starts the wait anew.
      this.#behind = { windows: next, since: next.day.start === windows.day.end ? since : this.#clock.elapsed() };
    }
  }

  #fallBehind(now: EpochMs, booked: string | undefined): void {
    const windows = this.#at(now);
    if (booked === undefined || booked <= windows.day.id) {
      // Nothing was booked later, so no budget is given twice.
      this.#book(windows);
    } else if (booked < this.#bookingIds.day) {
      this.#book(this.#named(idsOfDay(booked)));
      this.#look();
    } else this.#behind = { windows, since: this.#clock.elapsed() };
  }

  #book(windows: Windows): void {
    this.#booking = windows;
    this.#bookingIds = idsOf(windows);
  }

  /** The day after the booking day. If the calendar has none, the booking day continues for another day. */
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

  /** Some calendars skip a day. Then this is the window in its place, under the skipped name. */
  #window(period: Period, id: string): Window {
    return this.#calendar.named(period, id) ?? { ...this.#calendar.window(period, Date.parse(id)), id };
  }
}
