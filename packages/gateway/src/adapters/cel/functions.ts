import { toBool, toDouble, toInt, toText } from './conversions.ts';
import type { Frame } from './frame.ts';
import { matches } from './matches.ts';
import {
  contains,
  endsWith,
  indexOf,
  join,
  lastIndexOf,
  lowerAscii,
  sizeOfText,
  split,
  startsWith,
  substring,
  trim,
  upperAscii,
} from './text-functions.ts';
import { duration, timeGetter, timeGetterNames, timestamp } from './time-functions.ts';
import { countOf, typeNameOf, typeValue } from './values.ts';

/** A function of its operands. The first operand of a method is its receiver. */
export type Operation = (frame: Frame, first: unknown, second?: unknown, third?: unknown) => unknown;

interface Known {
  readonly run: Operation;
  /** The least and the most operands it takes. */
  readonly least: number;
  readonly most: number;
}

const functions: ReadonlyMap<string, Known> = new Map([
  ['size', taking(1, size)],
  ['int', taking(1, toInt)],
  ['double', taking(1, toDouble)],
  ['string', taking(1, toText)],
  ['bool', taking(1, toBool)],
  ['dyn', taking(1, (_frame, value) => value)],
  ['type', taking(1, (_frame, value) => typeValue(typeNameOf(value)))],
  ['timestamp', taking(1, (_frame, value) => timestamp(value))],
  ['duration', taking(1, (_frame, value) => duration(value))],
]);

const methods: ReadonlyMap<string, Known> = new Map([
  ['size', taking(1, size)],
  ['contains', taking(2, contains)],
  ['startsWith', taking(2, startsWith)],
  ['endsWith', taking(2, endsWith)],
  ['matches', taking(2, matches)],
  ['indexOf', taking(2, indexOf, 3)],
  ['lastIndexOf', taking(2, lastIndexOf, 3)],
  ['substring', taking(2, substring, 3)],
  ['lowerAscii', taking(1, lowerAscii)],
  ['upperAscii', taking(1, upperAscii)],
  ['trim', taking(1, trim)],
  ['split', taking(2, split, 3)],
  ['join', taking(1, join, 2)],
  ...timeGetterNames.map((name): [string, Known] => [name, taking(1, timeGetter(name), 2)]),
]);

/** The operation of a call; undefined if no function of this name takes so many operands. */
export function operationOf(form: 'function' | 'method', name: string, operands: number): Operation | undefined {
  const known = (form === 'method' ? methods : functions).get(name);
  return known !== undefined && operands >= known.least && operands <= known.most ? known.run : undefined;
}

export function isFunction(form: 'function' | 'method', name: string): boolean {
  return (form === 'method' ? methods : functions).has(name);
}

function taking(least: number, run: Operation, most = least): Known {
  return { run, least, most };
}

function size(frame: Frame, of: unknown): bigint {
  return typeof of === 'string' ? sizeOfText(frame, of) : BigInt(countOf(frame, of));
}
