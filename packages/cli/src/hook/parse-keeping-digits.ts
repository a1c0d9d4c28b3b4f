import { inexactNumbersIn } from '@reeve/contract/exact-numbers';

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const exactJson = JSON as unknown as { parse(text: string, reviver: Reviver): unknown; rawJSON(text: string): unknown };

/** Parses JSON. A number that a double does not hold is written out again with the digits that it came with. */
export function parseKeepingDigits(text: string): unknown {
  const inexact = inexactNumbersIn(text);
  if (inexact.size === 0) return JSON.parse(text);
  return exactJson.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && inexact.has(source) ? exactJson.rawJSON(source) : value,
  );
}
