import { UsageError } from '../cli-error.ts';

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** `90d`, `12h`, `30m`, `45s`, or a number of seconds. */
export function durationSeconds(text: string, flag: string): number {
  const [, count, unit = 's'] = /^(\d{1,9})([smhdw])?$/.exec(text.trim()) ?? [];
  const seconds = Number(count) * (units[unit] ?? Number.NaN);
  if (seconds > 0) return seconds;
  throw new UsageError(`${flag} must be a time such as 90d, 12h, 30m or 45s, not "${text}"`);
}

/** A point in time: RFC 3339, or how long ago. */
export function pointInTime(text: string, flag: string): string {
  if (/^\d{1,9}[smhdw]$/.test(text.trim()))
    return new Date(Date.now() - durationSeconds(text, flag) * 1000).toISOString();
  if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString();
  if (/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/i.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new UsageError(
    `${flag} must be a time such as 2026-11-15T08:00:00Z, 2026-11-15, or 2h for two hours ago, not "${text}"`,
  );
}

/** A future point in time: RFC 3339, a date, or a duration from now. */
export function futureTime(text: string, flag: string): string {
  const isSpan = /^\d{1,9}[smhdw]$/.test(text.trim());
  const given = isSpan ? Date.now() + durationSeconds(text, flag) * 1000 : timeOf(text);
  if (given > Date.now()) return new Date(given).toISOString();
  const why = Number.isNaN(given) ? `not "${text}"` : 'and that is over';
  throw new UsageError(`${flag} must be a time to come such as 2h, 2026-11-15T18:00:00Z or 2026-11-15, ${why}`);
}

function timeOf(text: string): number {
  const isTime = /^\d{4}-\d\d-\d\d(T.*(Z|[+-]\d\d:\d\d))?$/i.test(text);
  return isTime ? Date.parse(text) : Number.NaN;
}
