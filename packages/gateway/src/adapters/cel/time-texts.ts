import type { Duration, Timestamp } from './values.ts';

const nanosPerSecond = 1_000_000_000n;

/** Whole seconds since 1970. What is left of a second counts forwards, before 1970 too. */
export function secondsOf({ nanos }: Timestamp): bigint {
  const part = partOf(nanos);
  return (nanos - part) / nanosPerSecond;
}

/** RFC 3339 in UTC, with as many digits of a second as it needs. */
export function timestampText(time: Timestamp): string {
  const whole = new Date(Number(secondsOf(time)) * 1000).toISOString().slice(0, -'.000Z'.length);
  return `${whole}${fraction(partOf(time.nanos))}Z`;
}

/** Seconds, with as many digits as it needs. */
export function durationText({ nanos }: Duration): string {
  const size = nanos < 0n ? -nanos : nanos;
  return `${nanos < 0n ? '-' : ''}${size / nanosPerSecond}${fraction(size % nanosPerSecond)}s`;
}

function partOf(nanos: bigint): bigint {
  return ((nanos % nanosPerSecond) + nanosPerSecond) % nanosPerSecond;
}

function fraction(nanos: bigint): string {
  return nanos === 0n
    ? ''
    : `.${String(nanos)
        .padStart(9, '0')
        .replace(/(?<!0)0+$/, '')}`;
}
