import { cleanText } from './clean-text.ts';

/** A duration in rough words, as a person would say it. */
export function coarseDuration(seconds: number): string {
  if (seconds < 60) return 'less than a minute';
  if (seconds < 90 * 60) return counted(Math.round(seconds / 60), 'minute');
  if (seconds < 48 * 3600) return counted(Math.round(seconds / 3600), 'hour');
  return counted(Math.round(seconds / 86_400), 'day');
}

export function counted(count: number, what: string, plural = `${what}s`): string {
  return `${count} ${count === 1 ? what : plural}`;
}

/** The time left until a moment, for people: `in 4 minutes`, or `over`. */
export function timeLeft(at: string, now = Date.now()): string {
  const seconds = (Date.parse(at) - now) / 1000;
  if (Number.isNaN(seconds)) return at;
  if (seconds <= 0) return 'over';
  return seconds < 120 ? `in ${Math.ceil(seconds)} s` : `in ${coarseDuration(seconds)}`;
}

/** A moment by its distance from now, in few characters: `3m ago`, `in 2h`. */
export function fromNow(at: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(at) - now) / 1000);
  if (Number.isNaN(seconds)) return cleanText(at);
  if (seconds === 0) return 'now';
  return seconds > 0 ? `in ${span(seconds)}` : `${span(-seconds)} ago`;
}

const units = [
  ['s', 1, 120],
  ['m', 60, 120 * 60],
  ['h', 3600, 48 * 3600],
] as const;

function span(seconds: number): string {
  for (const [name, size, end] of units) if (seconds < end) return `${Math.floor(seconds / size)}${name}`;
  return `${Math.floor(seconds / 86_400)}d`;
}
