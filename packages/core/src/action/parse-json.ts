import type { Json } from '../audit/index.ts';
import { InexactNumber } from '../kernel/index.ts';

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const { parse } = JSON as unknown as { parse(this: void, text: string, reviver: Reviver): unknown };

/** Parses a JSON text. Whatever is listed as inexact becomes what `keep` makes of it, not the double next to it. */
export function parseJson(
  json: string,
  inexact: ReadonlySet<string>,
  keep: (written: string) => unknown = (written) => new InexactNumber(written),
): Json {
  if (inexact.size === 0) return JSON.parse(json) as Json;
  return parse(json, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && inexact.has(source) ? keep(source) : value,
  ) as Json;
}

/** Strips the byte order mark that some clients send. It is not part of the document. */
export function withoutMark(json: string): string {
  return json.startsWith('\uFEFF') ? json.slice(1) : json;
}
