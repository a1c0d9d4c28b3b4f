import { HpackError } from './hpack-error.ts';
import { codeLengths } from './huffman-lengths.ts';

const endOfString = 256;
const longestCode = 30;

/** Codes by symbol. */
function assignCodes(): number[] {
  const assigned: number[] = [];
  let code = 0;
  for (let length = 1; length <= longestCode; length++) {
    code *= 2;
    for (let symbol = 0; symbol <= endOfString; symbol++) {
      if (codeLengths[symbol] === length) assigned[symbol] = code++;
    }
  }
  return assigned;
}

/**
 * The code tree, walked half a byte at a time. No code is shorter than five bits, so a step ends at most one symbol.
 * `steps[node * 16 + nibble]` has the next node in its low 16 bits and, above them, the symbol plus one.
 */
const failed = 0xffff;

interface Tree {
  readonly steps: Uint32Array;
  /** Whether a string may end at a node. */
  readonly mayEnd: Uint8Array;
}

/** Built when the first coded string comes: many peers never send one. */
let tree: Tree | undefined;

function buildTree(): Tree {
  const codes = assignCodes();
  const children: [number, number][] = [[0, 0]];
  // Leaves are negative: -1 - symbol.
  for (let symbol = 0; symbol <= endOfString; symbol++) {
    const length = codeLengths[symbol] ?? 0;
    let node = 0;
    for (let bit = length - 1; bit >= 0; bit--) {
      const side = ((codes[symbol] ?? 0) >>> bit) & 1;
      const here = children[node] ?? [0, 0];
      if (bit === 0) {
        here[side] = -1 - symbol;
      } else {
        if (here[side] === 0) here[side] = children.push([0, 0]) - 1;
        node = here[side] ?? 0;
      }
    }
  }
  const steps = new Uint32Array(children.length * 16);
  for (let node = 0; node < children.length; node++) {
    for (let nibble = 0; nibble < 16; nibble++) steps[node * 16 + nibble] = stepOf(children, node, nibble);
  }
  // Padding is the beginning of EOS, which is all ones, and less than a byte of it (RFC 7541 §5.2).
  const mayEnd = new Uint8Array(children.length);
  for (let node = 0, ones = 0; ones < 8; ones++) {
    mayEnd[node] = 1;
    node = children[node]?.[1] ?? 0;
  }
  return { steps, mayEnd };
}

function stepOf(children: readonly [number, number][], from: number, nibble: number): number {
  let node = from;
  let ended = 0;
  for (let bit = 3; bit >= 0; bit--) {
    const next = children[node]?.[(nibble >>> bit) & 1] ?? 0;
    if (next === -1 - endOfString) return failed;
    if (next < 0) ended = -next;
    node = Math.max(next, 0);
  }
  return ended * 0x1_0000 + node;
}

/**
 * Decodes into `out` and returns the length. Past the end of `out` it only checks and counts, so the length may be more
 * than fits.
 */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number, out: Uint8Array): number {
  tree ??= buildTree();
  const { steps, mayEnd } = tree;
  let node = 0;
  let length = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    const first = steps[node * 16 + (byte >>> 4)] ?? failed;
    if (first >= 0x1_0000) out[length++] = (first >>> 16) - 1;
    if ((first & failed) === failed) throw new HpackError('a Huffman-coded string contains EOS');
    const second = steps[(first & failed) * 16 + (byte & 15)] ?? failed;
    if (second >= 0x1_0000) out[length++] = (second >>> 16) - 1;
    if ((second & failed) === failed) throw new HpackError('a Huffman-coded string contains EOS');
    node = second & failed;
  }
  if (mayEnd[node] !== 1) throw new HpackError('the padding of a Huffman-coded string is not the beginning of EOS');
  return length;
}

/** For tests and tools: the engine itself sends plain strings. */
export function encodeHuffman(bytes: Uint8Array): Buffer {
  const codes = assignCodes();
  const out: number[] = [];
  let bits = 0n;
  let count = 0;
  for (const byte of bytes) {
    const length = codeLengths[byte] ?? 0;
    bits = (bits << BigInt(length)) | BigInt(codes[byte] ?? 0);
    count += length;
    for (; count >= 8; count -= 8) {
      out.push(Number(bits >> BigInt(count - 8)) & 255);
      bits &= (1n << BigInt(count - 8)) - 1n;
    }
  }
  if (count > 0) out.push(((Number(bits) << (8 - count)) | (255 >>> count)) & 255);
  return Buffer.from(out);
}
