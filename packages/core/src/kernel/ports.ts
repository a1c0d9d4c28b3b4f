import type { Clock } from './clock.ts';

/** What the core needs from the machine. */
export interface Ports {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly sha256: Sha256;
}

/** SHA-256 of a text's UTF-8 bytes, as lower-case hex. */
export type Sha256 = (text: string) => string;

/** Compares two texts in a time that does not depend on where they differ. */
export function equalInConstantTime(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}

/** Unpredictable values from outside: the core makes none itself. */
export interface Randomness {
  /** `bytes` random bytes as lower-case hex. */
  hex(bytes: number): string;
  /** `bytes` random bytes as unpadded base64url. */
  base64url(bytes: number): string;
}

/** The WHATWG URL parser, which every platform has. The core compiles without a platform's types. */
declare const URL: {
  canParse(text: string): boolean;
  new (text: string): ParsedUrl;
};

export interface ParsedUrl {
  readonly hostname: string;
  readonly pathname: string;
}

/** Undefined if the standard refuses the text. `canParse` goes first, because an error takes ten times as long. */
export function parseUrl(text: string): ParsedUrl | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
