import { hostileTexts } from '../../fuzz/hostile.ts';
import type { Chance } from '../chance.ts';

/** The wire types of protobuf that carry a value. */
const varint = 0;
const fixed64 = 1;
const lengthDelimited = 2;
const fixed32 = 5;

interface Field {
  readonly number: number;
  readonly type: number;
  /** Without the tag and the length. */
  readonly value: Uint8Array;
}

/** Bytes that form a message of no defined type. */
export function randomMessage(chance: Chance, depth = 4): Uint8Array {
  const fields = Array.from({ length: chance.below(8) }, () => randomField(chance, depth));
  return concat(fields.map(encoded));
}

function randomField(chance: Chance, depth: number): Field {
  const number = chance.happens(0.9) ? 1 + chance.below(16) : 1 + chance.below(2 ** 29 - 1);
  const type = chance.oneOf([
    varint,
    varint,
    fixed64,
    lengthDelimited,
    lengthDelimited,
    lengthDelimited,
    fixed32,
  ] as const);
  return { number, type, value: randomValue(chance, type, depth) };
}

function randomValue(chance: Chance, type: number, depth: number): Uint8Array {
  if (type === fixed64) return chance.bytes(8);
  if (type === fixed32) return chance.bytes(4);
  if (type === varint)
    return varintBytes(
      chance.oneOf([0n, 1n, 3n, 127n, 128n, 2n ** 31n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n] as const),
    );
  switch (chance.below(4)) {
    case 0:
      return depth > 0 ? randomMessage(chance, depth - 1) : new Uint8Array();
    case 1:
      return Buffer.from(chance.oneOf(hostileTexts) ?? '');
    case 2:
      return chance.bytes(chance.below(64));
    default:
      return Buffer.from('x'.repeat(chance.below(chance.happens(0.02) ? 100_000 : 200)));
  }
}

/** A message with one to four changes: to fields at any depth, or to its bytes. */
export function mutateMessage(chance: Chance, message: Uint8Array): Uint8Array {
  let bytes = message;
  for (let change = 1 + chance.below(4); change > 0; change--) {
    bytes = chance.happens(0.15) ? mutateBytes(chance, bytes) : mutateFields(chance, bytes, 4);
  }
  return bytes;
}

function mutateBytes(chance: Chance, bytes: Uint8Array): Uint8Array {
  const at = chance.below(bytes.length + 1);
  switch (chance.below(3)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return concat([bytes.subarray(0, at), chance.bytes(1 + chance.below(4)), bytes.subarray(at)]);
    default:
      return concat([bytes.subarray(0, at), chance.bytes(1), bytes.subarray(at + 1)]);
  }
}

function mutateFields(chance: Chance, bytes: Uint8Array, depth: number): Uint8Array {
  const fields = fieldsOf(bytes);
  if (fields === undefined || fields.length === 0) return mutateBytes(chance, bytes);
  const at = chance.below(fields.length);
  const field = fields[at] ?? randomField(chance, 1);
  switch (chance.below(7)) {
    case 0:
      return concat(fields.toSpliced(at, 1).map(encoded));
    case 1:
      return concat([...fields, field].map(encoded));
    case 2:
      return concat([...fields, randomField(chance, 2)].map(encoded));
    case 3: {
      const type = chance.oneOf([varint, fixed64, lengthDelimited, fixed32] as const);
      return concat(fields.with(at, { ...field, type, value: randomValue(chance, type, 2) }).map(encoded));
    }
    case 4:
      return concat(fields.with(at, { ...field, number: 1 + chance.below(20) }).map(encoded));
    default: {
      const isNested = field.type === lengthDelimited && depth > 0 && fieldsOf(field.value) !== undefined;
      const value = isNested ? mutateFields(chance, field.value, depth - 1) : randomValue(chance, field.type, 2);
      return concat(fields.with(at, { ...field, value }).map(encoded));
    }
  }
}

/** The fields of a message. Undefined if the bytes are not one. */
function fieldsOf(bytes: Uint8Array): Field[] | undefined {
  const fields: Field[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at);
    if (tag === undefined) return undefined;
    const number = Number(tag.value >> 3n);
    const type = Number(tag.value & 7n);
    const found = valueAt(bytes, tag.next, type);
    if (number === 0 || found === undefined) return undefined;
    fields.push({ number, type, value: bytes.subarray(found.from, found.to) });
    at = found.to;
  }
  return fields;
}

function valueAt(bytes: Uint8Array, at: number, type: number): { from: number; to: number } | undefined {
  const read = type === varint || type === lengthDelimited ? readVarint(bytes, at) : undefined;
  const sized: Readonly<Record<number, readonly [number, number] | undefined>> = {
    [varint]: read && [at, read.next],
    [fixed64]: [at, at + 8],
    [lengthDelimited]: read && [read.next, read.next + Number(read.value)],
    [fixed32]: [at, at + 4],
  };
  const [from, to] = sized[type] ?? [0, Number.POSITIVE_INFINITY];
  return to > bytes.length ? undefined : { from, to };
}

function readVarint(bytes: Uint8Array, at: number): { value: bigint; next: number } | undefined {
  let value = 0n;
  for (let nth = 0; nth < 10; nth++) {
    const byte = bytes[at + nth];
    if (byte === undefined) return undefined;
    value |= BigInt(byte & 0x7f) << BigInt(7 * nth);
    if (byte < 0x80) return { value, next: at + nth + 1 };
  }
  return undefined;
}

function encoded({ number, type, value }: Field): Uint8Array {
  const tag = varintBytes((BigInt(number) << 3n) | BigInt(type));
  return concat(type === lengthDelimited ? [tag, varintBytes(BigInt(value.length)), value] : [tag, value]);
}

function varintBytes(value: bigint): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 0x80n) return Uint8Array.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 0x7fn) | 0x80);
  }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}
