import type { Field } from './field.ts';

const slots = 16;
const largestLiteral = 256;

/**
 * Literals that are not indexed, by their bytes. Clients send the path and credentials so in every block, and most often
 * in Huffman code. Bytes that refer to no entry of the dynamic table always mean the same.
 */
export class LiteralCache {
  readonly #fields: (Field | undefined)[] = Array.from({ length: slots }, () => undefined);
  readonly #bytes: (Buffer | undefined)[] = Array.from({ length: slots }, () => undefined);

  find(slot: number, bytes: Buffer, start: number, end: number): Field | undefined {
    const known = this.#bytes[slot % slots];
    if (known === undefined || known.length !== end - start) return undefined;
    return known.compare(bytes, start, end) === 0 ? this.#fields[slot % slots] : undefined;
  }

  add(slot: number, bytes: Buffer, start: number, end: number, field: Field): void {
    if (end - start > largestLiteral) return;
    this.#bytes[slot % slots] = Buffer.from(bytes.subarray(start, end));
    this.#fields[slot % slots] = field;
  }
}
