import { coarseDuration } from './duration.ts';

/** The time left until a moment, for people: `in 4 minutes`, or `over`. */
export function timeLeft(at: string, now = Date.now()): string {
  const seconds = (Date.parse(at) - now) / 1000;
  if (Number.isNaN(seconds)) return at;
  if (seconds <= 0) return 'over';
  return seconds < 120 ? `in ${Math.ceil(seconds)} s` : `in ${coarseDuration(seconds)}`;
}
