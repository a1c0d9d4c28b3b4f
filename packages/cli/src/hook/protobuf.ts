/** The encoding of Protocol Buffers, as far as the few messages of a hook need it. */

/** One field of a message: a text, bytes, a whole number, or a list of encoded messages or texts. */
type Field = readonly [number: number, value: string | Uint8Array | number | undefined];

const utf8 = new TextDecoder();

/** Encodes fields in their order. What is empty, zero or undefined is left out, as proto3 does. */
export function encodeFields(fields: readonly Field[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const [number, value] of fields) {
    if (value === undefined || value === '' || value === 0) continue;
    if (typeof value === 'number') parts.push(varint(number * 8), varint(value));
    else {
      const bytes = typeof value === 'string' ? Buffer.from(value) : value;
      parts.push(varint(number * 8 + 2), varint(bytes.byteLength), bytes);
    }
  }
  return Buffer.concat(parts);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

/** The fields of a message by their numbers, in order. Numbers of eight bytes and more lose precision. */
export class DecodedFields {
  readonly #fields: (readonly [number: number, value: Uint8Array | number])[] = [];

  constructor(bytes: Uint8Array) {
    const reader = new Reader(bytes);
    while (!reader.done) {
      const tag = reader.varint();
      const number = Math.floor(tag / 8);
      switch (tag % 8) {
        case 0:
          this.#fields.push([number, reader.varint()]);
          break;
        case 1:
          reader.bytes(8);
          break;
        case 2:
          this.#fields.push([number, reader.bytes(reader.varint())]);
          break;
        case 5:
          reader.bytes(4);
          break;
        default:
          throw new Error('unknown wire type');
      }
    }
  }

  /** The last one counts. */
  number(field: number): number {
    const value = this.#fields.findLast(([number]) => number === field)?.[1] ?? 0;
    return typeof value === 'number' ? value : 0;
  }

  text(field: number): string {
    return utf8.decode(this.messages(field).at(-1) ?? new Uint8Array());
  }

  messages(field: number): readonly Uint8Array[] {
    return this.#fields.flatMap(([number, value]) => (number === field && typeof value !== 'number' ? [value] : []));
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.byteLength;
  }

  varint(): number {
    let value = 0;
    for (let factor = 1, count = 0; count < 10; count++, factor *= 128) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new Error('the message ends early');
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
    throw new Error('a number is too long');
  }

  bytes(count: number): Uint8Array {
    const end = this.#at + count;
    if (end > this.#bytes.byteLength) throw new Error('the message ends early');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}
