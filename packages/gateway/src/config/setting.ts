import type { Parse } from './parsers.ts';

export interface Setting<Value> {
  /** The name in the configuration file. The variable is `SVC_` and the same in capitals. */
  readonly key: string;
  /** The command-line option, if the setting has one. */
  readonly flag?: string;
  /** The default as an operator would write it; undefined if there is none. */
  readonly default?: string;
  /** Describes a default that is not a fixed text. */
  readonly defaultNote?: string;
  readonly parse: Parse<Value>;
  /** Never shown, not even in the error that rejects it. */
  readonly secret?: boolean;
  readonly help: string;
}

type Extras = Omit<Setting<unknown>, 'key' | 'parse' | 'help' | 'default'>;

export function required<Value>(
  key: string,
  byDefault: string,
  parse: Parse<Value>,
  help: string,
  extras: Extras = {},
) {
  return { key, default: byDefault, parse, help, ...extras };
}

export function optional<Value>(key: string, parse: Parse<Value>, help: string, extras: Extras = {}) {
  return { key, parse: parse as Parse<Value | undefined>, help, ...extras };
}
