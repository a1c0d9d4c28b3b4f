import { cleanText } from './clean-text.ts';

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
