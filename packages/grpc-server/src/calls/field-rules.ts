import type { Field } from '../hpack/static-table.ts';

export interface PseudoFields {
  readonly method: string;
  readonly scheme: string;
  readonly path: string;
}

export function pseudoFieldsOf(fields: readonly Field[]): PseudoFields {
  let method = '';
  let scheme = '';
  let path = '';
  for (const { name, value } of fields) {
    if (!name.startsWith(':')) break;
    if (name === ':method') method = value;
    else if (name === ':scheme') scheme = value;
    else if (name === ':path') path = value;
  }
  return { method, scheme, path };
}

const requestPseudoFields: ReadonlySet<string> = new Set([':method', ':scheme', ':path', ':authority']);
/** Fields of one connection, which HTTP/2 does not have (RFC 9113 §8.2.2). */
const connectionFields: ReadonlySet<string> = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** What is malformed about these fields by RFC 9113 §8.2 and §8.3, if anything is. */
export function faultOfFields(fields: readonly Field[]): string | undefined {
  const seen = new Set<string>();
  let isPastPseudo = false;
  for (const { name, value } of fields) {
    if (name.startsWith(':')) {
      if (isPastPseudo) return 'a pseudo-header field comes after a regular one';
      if (!requestPseudoFields.has(name)) return 'an unknown pseudo-header field';
      if (seen.has(name)) return `${name} comes twice`;
      seen.add(name);
    } else {
      isPastPseudo = true;
      if (!isName(name)) return 'a field name has characters that are not allowed';
      if (connectionFields.has(name)) return `${name} has no place in HTTP/2`;
      if (name === 'te' && value !== 'trailers') return 'te is not "trailers"';
    }
    if (!isValue(value)) return 'a field value has characters that are not allowed';
  }
  return undefined;
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
