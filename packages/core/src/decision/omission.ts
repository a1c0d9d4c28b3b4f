import type { Json } from '../audit/index.ts';

/** Arguments that were too long left their length and digest. Entries of earlier versions count characters. */
export function isOmission(args: Json | undefined): boolean {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return false;
  const { sha256, omitted_bytes, omitted_characters, ...others } = args as { readonly [member: string]: Json };
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256) || Object.keys(others).length > 0) return false;
  return (typeof omitted_bytes === 'number') !== (typeof omitted_characters === 'number');
}
