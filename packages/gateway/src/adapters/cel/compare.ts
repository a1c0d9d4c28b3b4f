import { fault } from './faults.ts';
import type { Frame } from './frame.ts';
import { clear, countOf, described, Duration, itemsOf, lookUp, Timestamp, typeNameOf } from './values.ts';

/** The cost of comparing two values of any kind. Their length is charged separately. */
const priceOfComparison = 5;

/** `==`: values of different types differ, but numbers compare by value. */
export function equal(frame: Frame, left: unknown, right: unknown): boolean {
  if (left === right) {
    if (typeof left === 'string') frame.charge(left.length / 64);
    return true;
  }
  if (typeof left === 'string' || typeof right === 'string') {
    if (typeof left === 'string' && typeof right === 'string') frame.charge(left.length / 64);
    return false;
  }
  clear(left);
  clear(right);
  if (typeof left === 'bigint') return typeof right === 'number' && sameNumber(left, right);
  if (typeof left === 'number') return typeof right === 'bigint' && sameNumber(right, left);
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  return equalObjects(frame, left, right);
}

function equalObjects(frame: Frame, left: object, right: object): boolean {
  if (left instanceof Timestamp) return right instanceof Timestamp && left.nanos === right.nanos;
  if (left instanceof Duration) return right instanceof Duration && left.nanos === right.nanos;
  if (Array.isArray(left)) return Array.isArray(right) && equalLists(frame, left, right);
  return typeNameOf(left) === 'map' && typeNameOf(right) === 'map' && equalMaps(frame, left, right);
}

function equalLists(frame: Frame, left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at++) {
    frame.charge(priceOfComparison);
    if (!equal(frame, left[at], right[at])) return false;
  }
  return true;
}

function equalMaps(frame: Frame, left: object, right: object): boolean {
  const keys = itemsOf(frame, left);
  if (keys.length !== countOf(frame, right)) return false;
  for (const key of keys) {
    frame.charge(10);
    const other = lookUp(right, key);
    if (other === undefined || !equal(frame, lookUp(left, key), other)) return false;
  }
  return true;
}

/** Compares without rounding: a bigint that is not exactly the number differs from it. */
function sameNumber(int: bigint, double: number): boolean {
  return Number.isSafeInteger(double) ? Number(int) === double : Number.isInteger(double) && BigInt(double) === int;
}

/** `in`: the elements of a list, or the keys of a map. */
export function isIn(frame: Frame, value: unknown, of: unknown): boolean {
  if (!Array.isArray(of)) return lookUp(of, value) !== undefined;
  for (const item of of) {
    frame.charge(priceOfComparison);
    if (equal(frame, value, item)) return true;
  }
  return false;
}

/** Below 0 where left is less, above 0 where it is more, NaN where one side is NaN. */
export function order(frame: Frame, left: unknown, right: unknown): number {
  if (isNumber(left) && isNumber(right)) return left < right ? -1 : left > right ? 1 : left >= right ? 0 : Number.NaN;
  if (typeof left === 'string' && typeof right === 'string') {
    frame.charge(Math.min(left.length, right.length) / 16);
    return orderOfTexts(left, right);
  }
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  if (left instanceof Timestamp && right instanceof Timestamp) return Number(left.nanos - right.nanos);
  if (left instanceof Duration && right instanceof Duration) return Number(left.nanos - right.nanos);
  throw fault(`${described(left)} is neither less nor more than ${described(right)}`);
}

export function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Compares by code points, as CEL does. UTF-16 puts code points past U+FFFF before some smaller ones. */
function orderOfTexts(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const difference = rank(left.charCodeAt(at)) - rank(right.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit;
}
