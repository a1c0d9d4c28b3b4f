import { UsageError } from '../cli-error.ts';
import type { Argument, Completes, Option } from './command.ts';

/** The kinds of options and arguments. */

export function flag(summary: string, more: Pick<Option, 'short' | 'aliases'> = {}): Option<boolean> {
  return { ...more, summary, read: (texts) => texts.length > 0 };
}

type More = Pick<Option, 'short' | 'aliases' | 'completes'>;

export function text(placeholder: string, summary: string, more: More = {}): Option<string | undefined> {
  return { ...more, placeholder, summary, read: (texts) => texts.at(-1) };
}

/** Accepts several occurrences, or one with commas. */
export function texts(placeholder: string, summary: string, more: More = {}): Option<readonly string[]> {
  const read = (given: readonly string[]) =>
    given.flatMap((one) => one.split(',').map((part) => part.trim())).filter((part) => part !== '');
  return { ...more, placeholder, summary, read };
}

/** Accepts several occurrences, and takes each as it is. */
export function each(placeholder: string, summary: string, more: More = {}): Option<readonly string[]> {
  return { ...more, placeholder, summary, read: (given) => given };
}

export function choice<const Value extends string>(
  values: readonly Value[],
  summary: string,
  more: More = {},
): Option<Value | undefined> {
  const read = (given: readonly string[], flagName: string) => {
    const last = given.at(-1);
    return last === undefined ? undefined : oneOf(values, last, flagName);
  };
  return { ...more, placeholder: values.join('|'), summary, completes: values, read };
}

export function number(
  placeholder: string,
  summary: string,
  range: { readonly min: number; readonly max: number },
): Option<number | undefined> {
  const read = (given: readonly string[], flagName: string) => {
    const last = given.at(-1);
    if (last === undefined) return undefined;
    const value = /^\d+$/.test(last) ? Number(last) : Number.NaN;
    if (value >= range.min && value <= range.max) return value;
    throw new UsageError(`${flagName} must be a whole number from ${range.min} to ${range.max}, not "${last}"`);
  };
  return { placeholder, summary, read };
}

/** A number that may have a fraction, such as 0.5. */
export function decimal(
  placeholder: string,
  summary: string,
  range: { readonly min: number; readonly max: number },
): Option<number | undefined> {
  const read = (given: readonly string[], flagName: string) => {
    const last = given.at(-1);
    if (last === undefined) return undefined;
    const value = /^\d+(?:\.\d+)?$/.test(last) ? Number(last) : Number.NaN;
    if (value >= range.min && value <= range.max) return value;
    throw new UsageError(`${flagName} must be a number from ${range.min} to ${range.max}, not "${last}"`);
  };
  return { placeholder, summary, read };
}

export function required(summary: string, completes?: Completes): Argument<string> {
  const read = (given: string | undefined, name: string) => {
    if (given === undefined || given === '') throw new UsageError(`${name} is missing`);
    return given;
  };
  return { summary, isOptional: false, read, ...(completes === undefined ? {} : { completes }) };
}

export function optional(summary: string, completes?: Completes): Argument<string | undefined> {
  return { summary, isOptional: true, read: (given) => given, ...(completes === undefined ? {} : { completes }) };
}

export function oneOf<const Value extends string>(values: readonly Value[], given: string, name: string): Value {
  const found = values.find((value) => value === given);
  if (found !== undefined) return found;
  throw new UsageError(`${name} must be one of ${values.join(', ')}, not "${given}"`);
}
