import { largestTokens } from '../count-tokens.ts';

type Members = Readonly<Record<string, unknown>>;

/** A member that is an object. */
export function objectIn(value: unknown, key: string): Members | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const member = (value as Members)[key];
  return typeof member === 'object' && member !== null && !Array.isArray(member) ? (member as Members) : undefined;
}

/** A number of tokens. Undefined for anything that cannot be one. */
export function tokensIn(value: Members | undefined, key: string): number | undefined {
  const tokens = value?.[key];
  const isCount = typeof tokens === 'number' && Number.isInteger(tokens) && tokens >= 0 && tokens <= largestTokens;
  return isCount ? tokens : undefined;
}
