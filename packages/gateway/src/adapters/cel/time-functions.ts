import { checkedDuration, checkedTime } from './arithmetic.ts';
import { fault } from './faults.ts';
import type { Frame } from './frame.ts';
import { textIn } from './text-functions.ts';
import { localTime } from './time-zone.ts';
import { described, Duration, Timestamp } from './values.ts';

/** RFC 3339. */
const timestampPattern =
  /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})T(?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})(?:\.(?<part>\d{1,9}))?(?:Z|(?<sign>[+-])(?<east>\d{2}):(?<eastMinute>\d{2}))$/i;

export function timestamp(value: unknown): Timestamp {
  if (value instanceof Timestamp) return value;
  if (typeof value === 'bigint') return checkedTime(value * 1_000_000_000n);
  const text = textIn(value, 'timestamp');
  const parts = text.length > 64 ? undefined : timestampPattern.exec(text)?.groups;
  if (parts === undefined) throw notATimestamp();
  const { year, month, day, hour, minute, second, part = '', sign, east = '0', eastMinute = '0' } = parts;
  const time = new Date(0);
  time.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  // A day that the month does not have rolls over into the next one.
  if (time.getUTCDate() !== Number(day) || time.getUTCMonth() !== Number(month) - 1) throw notATimestamp();
  const isClock = (hours: unknown, minutes: unknown) => Number(hours) < 24 && Number(minutes) < 60;
  if (!isClock(hour, minute) || Number(second) > 59 || !isClock(east, eastMinute)) throw notATimestamp();
  const offset = (Number(east) * 60 + Number(eastMinute)) * (sign === '-' ? -1 : 1);
  const seconds = time.getTime() / 1000 + (Number(hour) * 60 + Number(minute) - offset) * 60 + Number(second);
  return checkedTime(BigInt(seconds) * 1_000_000_000n + BigInt(part.padEnd(9, '0')));
}

function notATimestamp(): Error {
  return fault('timestamp takes a text such as "2026-01-31T09:00:00Z"');
}

const nanosPer: Readonly<Record<string, bigint>> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1000n,
  µs: 1000n,
  ns: 1n,
};

export function duration(value: unknown): Duration {
  if (value instanceof Duration) return value;
  const text = textIn(value, 'duration');
  const unsigned = text.slice(0, 64).replace(/^[-+]/, '');
  if (text.length > 64 || !/^(?:\d+(?:\.\d+)?(?:h|ms|m|us|µs|ns|s))+$/.test(unsigned)) {
    throw fault('duration takes a text such as "1h30m", "90s" or "250ms"');
  }
  let nanos = 0n;
  for (const [, whole = '0', part = '', unit = ''] of unsigned.matchAll(/(\d+)(?:\.(\d+))?(h|ms|m|us|µs|ns|s)/gy)) {
    const scale = nanosPer[unit] ?? 0n;
    nanos += BigInt(whole) * scale + (BigInt(`0${part}`) * scale) / 10n ** BigInt(part.length);
  }
  return checkedDuration(text.startsWith('-') ? -nanos : nanos);
}

type Getter = (time: Date) => number;

/** The millisecond in which a moment lies. */
function dateOf({ nanos }: Timestamp): Date {
  const part = nanos % 1_000_000n;
  return new Date(Number((part < 0n ? nanos - 1_000_000n : nanos) / 1_000_000n));
}

const day = 86_400_000;

/** Parts of a timestamp, in UTC or in the named zone. As in CEL, all but `getDate` count from 0. */
const timestampGetters: Readonly<Record<string, Getter>> = {
  getFullYear: (time) => time.getUTCFullYear(),
  getMonth: (time) => time.getUTCMonth(),
  getDate: (time) => time.getUTCDate(),
  getDayOfMonth: (time) => time.getUTCDate() - 1,
  getDayOfWeek: (time) => time.getUTCDay(),
  getDayOfYear: (time) => Math.floor((time.getTime() - new Date(0).setUTCFullYear(time.getUTCFullYear(), 0, 1)) / day),
  getHours: (time) => time.getUTCHours(),
  getMinutes: (time) => time.getUTCMinutes(),
  getSeconds: (time) => time.getUTCSeconds(),
  getMilliseconds: (time) => time.getUTCMilliseconds(),
};

/** A whole duration in one unit; of milliseconds, those within the last second (as in CEL). */
const durationGetters: Readonly<Record<string, (nanos: bigint) => bigint>> = {
  getHours: (nanos) => nanos / 3_600_000_000_000n,
  getMinutes: (nanos) => nanos / 60_000_000_000n,
  getSeconds: (nanos) => nanos / 1_000_000_000n,
  getMilliseconds: (nanos) => (nanos % 1_000_000_000n) / 1_000_000n,
};

export const timeGetterNames: readonly string[] = Object.keys(timestampGetters);

export function timeGetter(name: string): (frame: Frame, of: unknown, zone?: unknown) => bigint {
  const ofTimestamp = timestampGetters[name];
  const ofDuration = durationGetters[name];
  return (frame, of, zone) => {
    if (of instanceof Timestamp && ofTimestamp !== undefined) {
      const time = dateOf(of);
      return BigInt(ofTimestamp(zone === undefined ? time : localTime(frame, time, textIn(zone, name))));
    }
    if (of instanceof Duration && ofDuration !== undefined && zone === undefined) return ofDuration(of.nanos);
    throw fault(`${name} works on timestamps, not on ${described(of)}`);
  };
}
