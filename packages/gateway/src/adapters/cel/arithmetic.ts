import { isNumber } from './compare.ts';
import { fault } from './faults.ts';
import type { Frame } from './frame.ts';
import { described, Duration } from './values.ts';

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
  if (left instanceof Duration && right instanceof Duration) return new Duration(left.nanos + right.nanos);
  if (left instanceof Date && right instanceof Duration) return moved(left, right.nanos);
  if (left instanceof Duration && right instanceof Date) return moved(right, left.nanos);
  throw mismatch('+', left, right);
}

export function subtract(left: unknown, right: unknown): unknown {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkedInt(left - right);
  if (isNumber(left) && isNumber(right)) return checkedDouble(Number(left) - Number(right));
  if (left instanceof Duration && right instanceof Duration) return new Duration(left.nanos - right.nanos);
  if (left instanceof Date && right instanceof Duration) return moved(left, -right.nanos);
  if (left instanceof Date && right instanceof Date) {
    return new Duration(BigInt(left.getTime() - right.getTime()) * 1_000_000n);
  }
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

function moved(time: Date, nanos: bigint): Date {
  return checkedTime(new Date(time.getTime() + Number(nanos / 1_000_000n)));
}

export function checkedTime(time: Date): Date {
  if (Number.isNaN(time.getTime())) throw fault('the timestamp is out of range');
  return time;
}
