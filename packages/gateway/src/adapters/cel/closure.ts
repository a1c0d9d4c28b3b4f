import { fault } from './faults.ts';
import type { Frame } from './frame.ts';
import { described } from './values.ts';

/** A part of a condition, ready to be evaluated. */
export type Closure = (frame: Frame) => unknown;

/** The cost of making, throwing and catching a fault. */
export const priceOfFault = 250;

export function bool(value: unknown, what: string): boolean {
  if (typeof value === 'boolean') return value;
  throw fault(`${what} takes a bool, not ${described(value)}`);
}
