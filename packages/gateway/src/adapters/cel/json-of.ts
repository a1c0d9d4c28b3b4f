import type { Json } from '@reeve/core';
import { InexactNumber } from '@reeve/core';
import { fault } from './faults.ts';
import type { Frame } from './frame.ts';
import { described, Duration, Timestamp, TypeValue } from './values.ts';

/** Deeper arguments are refused from agents, too. */
const deepest = 64;

/** Walking through a value costs this much for each part, and for this many characters of its texts. */
const priceOfPart = 5;
const charactersPerUnit = 16;

/**
 * The value of an expression as JSON, copied. The walk is charged for: parts of the arguments may be in it many times.
 * `depth` is how deep it will stand.
 */
export function jsonOf(frame: Frame, value: unknown, depth: number): Json {
  frame.charge(priceOfPart);
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') {
    frame.charge(value.length / charactersPerUnit);
    return value;
  }
  if (typeof value === 'bigint') {
    if (value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER) return Number(value);
    throw fault('the value is an int of more digits than readers of JSON agree on');
  }
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value;
    throw fault('the value is no finite number');
  }
  return structureOf(frame, value, depth);
}

function structureOf(frame: Frame, value: unknown, depth: number): Json {
  // It keeps the digits that were sent.
  if (value instanceof InexactNumber) return value as unknown as Json;
  if (depth >= deepest) throw fault(`the value is nested deeper than ${deepest}`);
  if (value === undefined || value === null) throw fault('the expression has no value');
  if (Array.isArray(value)) return value.map((item) => jsonOf(frame, item, depth + 1));
  if (value instanceof Map) return objectOf(frame, value as ReadonlyMap<unknown, unknown>, depth);
  if (
    typeof value !== 'object' ||
    value instanceof Timestamp ||
    value instanceof Duration ||
    value instanceof TypeValue
  ) {
    throw fault(`JSON has no value for ${described(value)}`);
  }
  return objectOf(frame, Object.entries(value), depth);
}

function objectOf(frame: Frame, members: Iterable<readonly [unknown, unknown]>, depth: number): Json {
  const made: { [name: string]: Json } = {};
  for (const [name, member] of members) {
    if (typeof name !== 'string') throw fault(`the names of members are texts, not ${described(name)}`);
    frame.charge(name.length / charactersPerUnit);
    const value = jsonOf(frame, member, depth + 1);
    // A plain assignment to "__proto__" would make no member.
    Object.defineProperty(made, name, { value, writable: true, enumerable: true, configurable: true });
  }
  return made;
}
