import { isNumber } from './compare.ts';
import { fault } from './faults.ts';
import type { Frame } from './frame.ts';
import { described, Duration, Timestamp } from './values.ts';

const leastInt = -(2n ** 63n);
const mostInt = 2n ** 63n - 1n;

export function checkedInt(value: bigint): bigint {
  if (value < leastInt || value > mostInt) throw fault('the result does not fit into an int of 64 bits');
  return value;
}

/** NaN is neither less nor more than anything, so it would pass every limit. It is an error instead. */
function checkedDouble(value: number): number {
  if (Number.isNaN(value)) throw fault('the result is not a number');
  return value;
}

function mismatch(operator: string, left: unknown, right: unknown): Error {
  return fault(`"${operator}" does not go with ${described(left)} and ${described(right)}`);
}

export function add(frame: Frame, left: unknown, right: unknown): unknown {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkedInt(left + right);
  if (isNumber(left) && isNumber(right)) return checkedDouble(Number(left) + Number(right));
  if (typeof left === 'string' && typeof right === 'string') {
    frame.charge((left.length + right.length) / 16);
    return left + right;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    frame.charge(left.length + right.length);
    return [...(left as unknown[]), ...(right as unknown[])];
  }
  if (left instanceof Duration && right instanceof Duration) return checkedDuration(left.nanos + right.nanos);
  if (left instanceof Timestamp && right instanceof Duration) return checkedTime(left.nanos + right.nanos);
  if (left instanceof Duration && right instanceof Timestamp) return checkedTime(left.nanos + right.nanos);
  throw mismatch('+', left, right);
}

export function subtract(left: unknown, right: unknown): unknown {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkedInt(left - right);
  if (isNumber(left) && isNumber(right)) return checkedDouble(Number(left) - Number(right));
  if (left instanceof Duration && right instanceof Duration) return checkedDuration(left.nanos - right.nanos);
  if (left instanceof Timestamp && right instanceof Duration) return checkedTime(left.nanos - right.nanos);
  if (left instanceof Timestamp && right instanceof Timestamp) return checkedDuration(left.nanos - right.nanos);
  throw mismatch('-', left, right);
}

export function multiply(left: unknown, right: unknown): unknown {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkedInt(left * right);
  if (isNumber(left) && isNumber(right)) return checkedDouble(Number(left) * Number(right));
  throw mismatch('*', left, right);
}

export function divide(left: unknown, right: unknown): unknown {
  if (!isNumber(left) || !isNumber(right)) throw mismatch('/', left, right);
  if (Number(right) === 0) throw fault('division by zero');
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkedInt(left / right);
  return checkedDouble(Number(left) / Number(right));
}

export function remainder(left: unknown, right: unknown): unknown {
  if (!isNumber(left) || !isNumber(right)) throw mismatch('%', left, right);
  if (Number(right) === 0) throw fault('division by zero');
  if (typeof left === 'bigint' && typeof right === 'bigint') return left % right;
  return checkedDouble(Number(left) % Number(right));
}

export function negate(value: unknown): unknown {
  if (typeof value === 'bigint') return checkedInt(-value);
  if (typeof value === 'number') return -value;
  throw fault(`"-" does not go with ${described(value)}`);
}

const second = 1_000_000_000n;
/** From the year 1 to the year 9999, as in CEL. */
const firstTime = -62_135_596_800n * second;
const lastTime = 253_402_300_800n * second - 1n;
/** About 10,000 years: the longest span between two moments. */
const longestDuration = 315_576_000_000n * second;

export function checkedTime(nanos: bigint): Timestamp {
  if (nanos < firstTime || nanos > lastTime) throw fault('the timestamp is out of range');
  return new Timestamp(nanos);
}

export function checkedDuration(nanos: bigint): Duration {
  if (nanos < -longestDuration || nanos > longestDuration) throw fault('the duration is out of range');
  return new Duration(nanos);
}
