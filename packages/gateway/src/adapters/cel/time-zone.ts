import { fault } from './faults.ts';
import type { Frame } from './frame.ts';

const quarterHour = 900_000;

/** The local time of one time zone. Throws a `RangeError` for an unknown zone. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat;
  #quarter = Number.NaN;
  #offset = 0;

  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** Whether the local time is known without a lookup in the calendar, which is slow. */
  isAt(time: Date): boolean {
    return Math.floor(time.getTime() / quarterHour) === this.#quarter;
  }

  /**
   * A date whose UTC members are the local ones. Clocks change on the quarter of an hour, so an offset holds for that
   * long.
   */
  localTime(time: Date): Date {
    const at = time.getTime();
    const quarter = Math.floor(at / quarterHour);
    if (quarter !== this.#quarter) {
      this.#offset = this.#offsetAt(quarter * quarterHour);
      this.#quarter = quarter;
    }
    return new Date(at + this.#offset);
  }

  #offsetAt(at: number): number {
    const shown: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(at)) shown[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
    return new Date(0).setUTCFullYear(year, month - 1, day) + ((hour * 60 + minute) * 60 + second) * 1000 - at;
  }
}

/** A cache of zones. Conditions name few zones; those that agents name replace each other. */
const mostZones = 64;
const zones = new Map<string, TimeZone>();

export function timeZone(name: string): TimeZone {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const made = new TimeZone(name);
  if (zones.size >= mostZones) zones.clear();
  zones.set(name, made);
  return made;
}

/** The cost of making a zone, and of one lookup in its calendar. */
const priceOfZone = 10_000;
const priceOfLook = 1000;

export function localTime(frame: Frame, time: Date, name: string): Date {
  if (!zones.has(name)) frame.charge(priceOfZone);
  try {
    const zone = timeZone(name);
    if (!zone.isAt(time)) frame.charge(priceOfLook);
    return zone.localTime(time);
  } catch (error) {
    if (error instanceof RangeError) throw fault(noSuchZone);
    throw error;
  }
}

export const noSuchZone = 'there is no such time zone; use an IANA name such as "Europe/Berlin"';
