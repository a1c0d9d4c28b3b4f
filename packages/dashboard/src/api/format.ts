/** Stands for an unknown value. */
export const unknown = '–';

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const dateOnly = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });

export type TimeForm = 'relative' | 'clock' | 'date' | 'full';

/** A moment in the viewer's zone. Today's moments show the time, others also the date. */
export function formatTime(at: Date, form: TimeForm, now: Date): string {
  if (form === 'relative') return formatRelative(at.getTime() - now.getTime());
  if (form === 'date') return dateOnly.format(at);
  if (form === 'clock' && at.toDateString() === now.toDateString()) return clock.format(at);
  return dateTime.format(at);
}

/** The exact moment, as the gateway sent it. */
export function formatUtc(at: Date): string {
  return `${at.toISOString().replace('T', ' ').replace('Z', '')} UTC`;
}

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

function formatRelative(differenceMs: number): string {
  for (const [unit, ms] of units) {
    if (Math.abs(differenceMs) >= ms) return relative.format(Math.trunc(differenceMs / ms), unit);
  }
  const seconds = Math.trunc(differenceMs / 1000);
  return Math.abs(seconds) < 5 ? 'just now' : relative.format(seconds, 'second');
}

/** A duration: `4.2 s`, `3 m 05 s`, `2 h 07 m`, `4 d 3 h`. */
export function formatDuration(ms: number): string {
  const total = Math.max(0, ms);
  if (total < 10_000) return `${(Math.floor(total / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(total / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds / 60) % 60)} m`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor(seconds / 3600) % 24} h`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/**
 * Dollars from a decimal string, by its digits: `"1234.5"` becomes `$1,234.50`. An amount is rounded to the cent, or
 * below a cent to its first two significant digits.
 */
export function formatUsd(usd: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(usd);
  if (match === null) return unknown;
  const [, sign = '', whole = '0', fraction = ''] = match;
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0;
  const places = BigInt(whole) === 0n && zeros >= 2 && zeros < fraction.length ? zeros + 2 : 2;
  const rounded = roundDecimal(whole, fraction, places);
  const dollars = rounded.slice(0, -places);
  const grouped =
    dollars
      .padStart(dollars.length + ((3 - (dollars.length % 3)) % 3))
      .match(/.{3}/g)
      ?.join(',')
      .trimStart() ?? dollars;
  const kept = rounded
    .slice(-places)
    .replace(/(?<!0)0+$/, '')
    .padEnd(2, '0');
  return `${sign}$${grouped}.${kept}`;
}

/** The digits of an amount with so many decimal places, half a unit up, and at least one digit before them. */
function roundDecimal(whole: string, fraction: string, places: number): string {
  const digits = BigInt(whole + fraction.slice(0, places).padEnd(places, '0'));
  const isUp = (fraction[places] ?? '0') >= '5';
  return (isUp ? digits + 1n : digits).toString().padStart(places + 1, '0');
}

/** Millionths of a dollar as a decimal string. */
export function microsToUsd(micros: number | bigint): string {
  const value = typeof micros === 'bigint' ? micros : BigInt(Math.trunc(micros));
  const digits = (value < 0n ? -value : value).toString().padStart(7, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** A decimal string as exact millionths. Undefined if it is not one. */
export function usdToMicros(usd: string): bigint | undefined {
  const match = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(usd);
  if (match === null) return undefined;
  const [, sign = '', whole = '0', fraction = ''] = match;
  const micros = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
  return sign === '-' ? -micros : micros;
}

const count = new Intl.NumberFormat();

export function formatCount(value: number): string {
  return count.format(value);
}

/** `1 operation`, `2 operations`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : many}`;
}
