import { InexactNumber } from '@reeve/core';
import { fault, limitFault } from './faults.ts';
import type { Frame } from './frame.ts';

/**
 * Values are parsed JSON, and what expressions make of it: `int` is a bigint, `double` a number, `timestamp` a
 * Timestamp, and a map of an expression a Map. Only the own enumerable members of an object exist, and no getter is ever called.
 */
export type TypeName =
  | 'null'
  | 'bool'
  | 'int'
  | 'double'
  | 'string'
  | 'list'
  | 'map'
  | 'timestamp'
  | 'duration'
  | 'type'
  | 'unknown';

/** A moment, in nanoseconds since 1970 in UTC. */
export class Timestamp {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** The value of `type(x)`. There is one object per name. */
export class TypeValue {
  readonly of: TypeName;

  constructor(of: TypeName) {
    this.of = of;
  }
}

type JsonObject = Readonly<Record<string, unknown>>;
type Entries = ReadonlyMap<unknown, unknown>;

export function typeNameOf(value: unknown): TypeName {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return 'double';
  if (typeof value === 'bigint') return 'int';
  return typeof value === 'object' ? typeNameOfObject(value) : 'unknown';
}

/** A value as messages describe it: by its type alone. */
export function described(value: unknown): string {
  const type = typeNameOf(value);
  if (type === 'null') return type;
  return type === 'unknown' ? 'something that is not JSON' : `${type === 'int' ? 'an' : 'a'} ${type}`;
}

function typeNameOfObject(value: object | null): TypeName {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (isJsonObject(value) || value instanceof Map) return 'map';
  if (value instanceof Timestamp) return 'timestamp';
  if (value instanceof Duration) return 'duration';
  return value instanceof TypeValue ? 'type' : 'unknown';
}

function isJsonObject(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The value, for whoever looks at it. Of a number that a double does not hold, nobody can say what it is. */
export function clear(value: unknown): unknown {
  if (value instanceof InexactNumber) throw fault('a number has more digits than can be judged');
  return value;
}

/** The member of a map; undefined if the map has none of this name. */
export function memberOf(of: unknown, name: string): unknown {
  if (isJsonObject(of)) {
    const property = Object.getOwnPropertyDescriptor(of, name);
    return property?.enumerable === true ? property.value : undefined;
  }
  if (of instanceof Map) return (of as Entries).get(name);
  throw fault(`${described(of)} has no members`);
}

/** `list[0]` and `map["name"]`. A whole double may stand for an int: JSON knows no other numbers. */
export function elementOf(of: unknown, key: unknown): unknown {
  if (Array.isArray(of)) {
    const at = wholeNumber(key, 'a list index');
    if (at < 0 || at >= of.length) throw fault(`a list of ${of.length} has no index ${at}`);
    return clear(of[at]);
  }
  const found = lookUp(of, key);
  if (found === undefined) throw fault('the map has no such key');
  return clear(found);
}

/** The value of a key; undefined if there is none. */
export function lookUp(of: unknown, key: unknown): unknown {
  if (typeof key === 'string') return memberOf(of, key);
  if (of instanceof Map) return (of as Entries).get(mapKey(key));
  if (isJsonObject(of)) return undefined;
  throw fault(`${described(of)} has no members`);
}

/** Gives equal numbers the same key. */
export function mapKey(key: unknown): unknown {
  if (typeof key === 'string' || typeof key === 'boolean' || typeof key === 'bigint') return key;
  if (typeof key === 'number' && Number.isInteger(key)) return BigInt(key);
  throw fault(`a map key must be a string, an int or a bool, not ${described(key)}`);
}

export function wholeNumber(value: unknown, what: string): number {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  throw fault(`${what} must be an int, not ${described(value)}`);
}

/** The items of a loop: a list's elements, or a map's keys. */
export function itemsOf(frame: Frame, range: unknown): readonly unknown[] {
  if (Array.isArray(range)) return range;
  if (range instanceof Map) return [...(range as Entries).keys()];
  if (isJsonObject(range)) return namesOf(frame, range);
  throw fault(`${described(range)} has no elements to go through; a list or a map has`);
}

export function countOf(frame: Frame, of: unknown): number {
  if (Array.isArray(of)) return of.length;
  if (of instanceof Map) return of.size;
  if (isJsonObject(of)) return namesOf(frame, of).length;
  throw fault(`${described(of)} has no size`);
}

/** A map with more members than this is not listed. */
const mostMembers = 20_000;
/** JSON of this many characters cannot have more members. */
const surelyFew = mostMembers * 5;

/**
 * Listing the names of a large object takes as long as parsing it, and cannot be interrupted. The number of colons in
 * the text bounds the number of members, and counting them is nearly free.
 */
function namesOf(frame: Frame, of: JsonObject): string[] {
  const { json } = frame.facts.action;
  if (json.length > surelyFew && hasMoreColons(json, mostMembers)) {
    throw limitFault(`the members of a map are not listed where the arguments have more than ${mostMembers}`);
  }
  const names = Object.keys(of);
  frame.charge(names.length * 5);
  return names;
}

function hasMoreColons(json: string, than: number): boolean {
  let left = than;
  for (let at = json.indexOf(':'); at >= 0; at = json.indexOf(':', at + 1)) if (left-- === 0) return true;
  return false;
}

const typeValues = new Map<TypeName, TypeValue>();

export function typeValue(of: TypeName): TypeValue {
  const known = typeValues.get(of) ?? new TypeValue(of);
  typeValues.set(of, known);
  return known;
}
