import { checkedTime } from './arithmetic.ts';
import { fault } from './faults.ts';
import type { Frame } from './frame.ts';
import { textIn } from './text-functions.ts';
import { localTime } from './time-zone.ts';
import { described, Duration } from './values.ts';

/** RFC 3339. */
const timestampPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i;

export function timestamp(value: unknown): Date {
  if (value instanceof Date) return value;
  if (typeof value === 'bigint') return checkedTime(new Date(Number(value) * 1000));
  const text = textIn(value, 'timestamp');
  if (text.length > 64 || !timestampPattern.test(text)) throw notATimestamp();
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw notATimestamp();
  return time;
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
  for (const [, whole = '0', part = '', unit = ''] of unsigned.matchAll(/(\d+)(?:\.(\d+))?(h|ms|m|us|µs|ns|s)/g)) {
    const scale = nanosPer[unit] ?? 0n;
    nanos += BigInt(whole) * scale + (BigInt(`0${part}`) * scale) / 10n ** BigInt(part.length);
  }
  return new Duration(text.startsWith('-') ? -nanos : nanos);
}

type Getter = (time: Date) => number;

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

/** A whole duration, in one unit. */
const durationUnits: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

export const timeGetterNames: readonly string[] = Object.keys(timestampGetters);

export function timeGetter(name: string): (frame: Frame, of: unknown, zone?: unknown) => bigint {
  const ofTimestamp = timestampGetters[name];
  const unit = durationUnits[name];
  return (frame, of, zone) => {
    if (of instanceof Date && ofTimestamp !== undefined) {
      return BigInt(ofTimestamp(zone === undefined ? of : localTime(frame, of, textIn(zone, name))));
    }
    if (of instanceof Duration && unit !== undefined && zone === undefined) return of.nanos / unit;
    throw fault(`${name} works on timestamps, not on ${described(of)}`);
  };
}
