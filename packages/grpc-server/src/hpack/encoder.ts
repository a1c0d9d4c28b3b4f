/** Writes an integer with a prefix of so many bits, whose byte already has `flags` above them (RFC 7541 §5.1). */
function pushInteger(out: number[], flags: number, prefixBits: number, value: number): void {
  const most = (1 << prefixBits) - 1;
  if (value < most) {
    out.push(flags | value);
    return;
  }
  out.push(flags | most);
  let rest = value - most;
  for (; rest > 127; rest = Math.floor(rest / 128)) out.push((rest % 128) | 128);
  out.push(rest);
}

function pushString(out: number[], text: string): void {
  pushInteger(out, 0, 7, text.length);
  for (let at = 0; at < text.length; at++) out.push(text.charCodeAt(at) & 255);
}

const plainLiteral = 0;
/** No hop on the way may put the field into a table (RFC 7541 §6.2.3), where others could guess it. */
export const neverIndexed = 0x10;

/**
 * Literals without indexing and with plain strings (RFC 7541 §6.2.2): the encoder has no state, so the same block is
 * valid on every connection, whatever table size the peer allows.
 */
export function encodeFields(fields: readonly (readonly [name: string, value: string])[], form = plainLiteral): Buffer {
  const out: number[] = [];
  for (const [name, value] of fields) {
    out.push(form);
    pushString(out, name);
    pushString(out, value);
  }
  return Buffer.from(out);
}

/** The index of `:status: 200` in the static table, as a whole header field. */
export const status200 = 0x88;
