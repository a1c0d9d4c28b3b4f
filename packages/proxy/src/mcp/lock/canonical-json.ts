import { isExactNumber } from '@reeve/contract/exact-numbers';
import { writtenNumber } from '../protocol/written-json.ts';

/**
 * A JSON value as RFC 8785 writes it: members in the order of their UTF-16 code units, no spaces. A number that no double
 * holds stays as it was written, so that it differs from all others.
 */
export function canonicalJson(value: unknown): string {
  const number = writtenNumber(value);
  if (number !== undefined) return isExactNumber(number) ? JSON.stringify(Number(number)) : number;
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}
