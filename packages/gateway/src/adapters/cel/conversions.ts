import { checkedInt } from './arithmetic.ts';
import { fault } from './faults.ts';
import type { Frame } from './frame.ts';
import { durationText, secondsOf, timestampText } from './time-texts.ts';
import { described, Duration, Timestamp } from './values.ts';

/** Texts of numbers are short; longer texts are refused unread. */
const longestNumber = 64;

export function toInt(_frame: Frame, value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return checkedInt(BigInt(Math.trunc(value)));
  if (typeof value === 'string' && value.length <= longestNumber && /^[+-]?\d+$/.test(value)) {
    return checkedInt(BigInt(value.replace('+', '')));
  }
  if (value instanceof Timestamp) return secondsOf(value);
  throw fault(`int cannot be made of ${described(value)} like this`);
}

export function toDouble(_frame: Frame, value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'string' && value.length <= longestNumber) {
    if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(value)) return Number(value);
  }
  throw fault(`double cannot be made of ${described(value)} like this`);
}

export function toText(_frame: Frame, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Duration) return durationText(value);
  throw fault(`string cannot be made of ${described(value)}`);
}

const yes: ReadonlySet<unknown> = new Set(['1', 't', 'true', 'TRUE', 'True']);
const no: ReadonlySet<unknown> = new Set(['0', 'f', 'false', 'FALSE', 'False']);

export function toBool(_frame: Frame, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  if (yes.has(value)) return true;
  if (no.has(value)) return false;
  throw fault(`bool cannot be made of ${described(value)} like this`);
}
