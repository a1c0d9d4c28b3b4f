import type { Field } from '../hpack/field.ts';

/** What a request says by a field. Everything else is metadata. */
const meanings = [
  ':method',
  ':scheme',
  ':path',
  ':authority',
  'te',
  'content-type',
  'content-length',
  'grpc-timeout',
] as const;

export type Meaning = (typeof meanings)[number] | 'metadata' | 'malformed';

const all: readonly Meaning[] = [...meanings, 'metadata', 'malformed'];
const noteOf: ReadonlyMap<string, number> = new Map(meanings.map((name, index) => [name, index]));
const metadata = all.indexOf('metadata');
const malformed = all.indexOf('malformed');

/** Fields of one connection, which HTTP/2 does not have (RFC 9113 §8.2.2). */
const connectionFields: ReadonlySet<string> = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** What a field means; malformed if RFC 9113 §8.2 or §8.3 forbids it wherever it is. Found out once for each field. */
export function meaningOf(field: Field): Meaning {
  if (field.note < 0) field.note = judge(field);
  return all[field.note] ?? 'malformed';
}

function judge({ name, value }: Field): number {
  if (!isValue(value)) return malformed;
  const known = noteOf.get(name);
  if (known !== undefined) return name === 'te' && value !== 'trailers' ? malformed : known;
  return isName(name) && !connectionFields.has(name) ? metadata : malformed;
}

/** RFC 9113 §8.2.1: nothing up to space, no capitals, no colon, nothing from DEL on. */
function isName(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    if (code <= 0x20 || (code >= 0x41 && code <= 0x5a) || code >= 0x7f || code === 0x3a) return false;
  }
  return name.length > 0;
}

/** RFC 9113 §8.2.1: no NUL, LF or CR, and no white space at either end. */
function isValue(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code === 0 || code === 10 || code === 13) return false;
  }
  return !isBlank(value.charCodeAt(0)) && !isBlank(value.charCodeAt(value.length - 1));
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 9;
}
