import { DynamicTable, entryOverhead, sizeOf } from './dynamic-table.ts';
import { Field } from './field.ts';
import { HpackBomb, HpackError } from './hpack-error.ts';
import { decodeHuffman } from './huffman.ts';
import { LiteralCache } from './literal-cache.ts';
import { staticTable } from './static-table.ts';

const largestInteger = 0x0fff_ffff;
const empty = Buffer.alloc(0);
/** A list beyond so many times the limit is no mistake. */
const bombTimes = 8;

/** A decoded header list, or only its size if that is over the limit. */
export interface FieldList {
  readonly fields: readonly Field[];
  /** As SETTINGS_MAX_HEADER_LIST_SIZE counts it. */
  readonly size: number;
  readonly isTooLarge: boolean;
}

/** The decoder of one connection (RFC 7541). It throws nothing but `HpackError`. */
export class HpackDecoder {
  readonly #table: DynamicTable;
  readonly #largestList: number;
  readonly #literals = new LiteralCache();
  #bytes: Buffer = empty;
  #at = 0;
  #end = 0;

  constructor(tableSize: number, largestList: number) {
    this.#table = new DynamicTable(tableSize);
    this.#largestList = largestList;
  }

  /** Changes whenever the same bytes may begin to mean something else. */
  get version(): number {
    return this.#table.version;
  }

  decode(bytes: Buffer, start: number, end: number): FieldList {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    const fields: Field[] = [];
    let size = 0;
    let mayResize = true;
    while (this.#at < end) {
      const first = bytes[this.#at] ?? 0;
      if ((first & 0xe0) === 0x20) {
        if (!mayResize) throw new HpackError('a table size update comes after a header field');
        this.#table.resize(this.#integer(5));
        continue;
      }
      mayResize = false;
      const field = this.#field(first);
      size += sizeOf(field);
      if (size <= this.#largestList) fields.push(field);
      else if (size > this.#largestList * bombTimes) throw new HpackBomb(`a header list takes over ${size} bytes`);
    }
    this.#bytes = empty;
    const isTooLarge = size > this.#largestList;
    return { fields: isTooLarge ? [] : fields, size, isTooLarge };
  }

  #field(first: number): Field {
    if (first >= 0x80) {
      const index = this.#integer(7);
      if (index === 0) throw new HpackError('a header field has index 0');
      return this.#table.at(index);
    }
    if (first < 0x40) return this.#literal();
    const index = this.#integer(6);
    const name = index === 0 ? this.#string() : this.#table.at(index).name;
    const field = new Field(name, this.#string());
    this.#table.add(field);
    return field;
  }

  /** A literal without indexing, or never indexed (RFC 7541 §6.2.2 and §6.2.3). */
  #literal(): Field {
    const start = this.#at;
    const index = this.#integer(4);
    const stringsAt = this.#at;
    const isFixed = index <= staticTable.length;
    if (isFixed) {
      const end = this.#endOfStrings(index === 0 ? 2 : 1);
      const known = this.#literals.find(slotOf(index, this.#bytes, stringsAt), this.#bytes, start, end);
      if (known !== undefined) {
        this.#at = end;
        return known;
      }
      this.#at = stringsAt;
    }
    const name = index === 0 ? this.#string() : this.#table.at(index).name;
    const field = new Field(name, this.#string());
    if (isFixed) this.#literals.add(slotOf(index, this.#bytes, stringsAt), this.#bytes, start, this.#at, field);
    return field;
  }

  /** Where so many strings end that begin here; any place past them if they are cut off. */
  #endOfStrings(count: number): number {
    let end = this.#at;
    for (let string = 0; string < count && end < this.#end; string++) {
      this.#at = end;
      const length = this.#integer(7);
      end = this.#at + length;
    }
    return Math.min(end, this.#end);
  }

  /** RFC 7541 §5.1. */
  #integer(prefixBits: number): number {
    const most = (1 << prefixBits) - 1;
    let value = (this.#bytes[this.#at++] ?? 0) & most;
    if (value < most) return value;
    for (let shift = 0; ; shift += 7) {
      if (this.#at >= this.#end) throw new HpackError('an integer is cut off');
      const byte = this.#bytes[this.#at++] ?? 0;
      // Below 2^28 nothing overflows, and no length in a header block comes near it.
      if (shift > 21) throw new HpackError('an integer is too large');
      value += (byte & 127) << shift;
      if (byte < 128) break;
    }
    if (value > largestInteger) throw new HpackError('an integer is too large');
    return value;
  }

  /** RFC 7541 §5.2. A string over the limit of the whole list is cut after it, because nobody will see it. */
  #string(): string {
    if (this.#at >= this.#end) throw new HpackError('a string is missing');
    const isCoded = (this.#bytes[this.#at] ?? 0) >= 0x80;
    const length = this.#integer(7);
    const start = this.#at;
    const end = start + length;
    if (end > this.#end) throw new HpackError('a string is cut off');
    this.#at = end;
    if (!isCoded) return this.#bytes.toString('latin1', start, Math.min(end, start + this.#largestList));
    const scratch = scratchOf(this.#largestList + entryOverhead);
    const decoded = decodeHuffman(this.#bytes, start, end, scratch);
    return scratch.toString('latin1', 0, Math.min(decoded, this.#largestList));
  }
}

/** Different names should have different places, whether they are indexed or spelt out. */
function slotOf(index: number, bytes: Buffer, stringsAt: number): number {
  return index > 0 ? index : (bytes[stringsAt] ?? 0) + (bytes[stringsAt + 1] ?? 0);
}

let scratchBuffer = Buffer.alloc(0);

function scratchOf(bytes: number): Buffer {
  if (scratchBuffer.length < bytes) scratchBuffer = Buffer.allocUnsafeSlow(bytes);
  return scratchBuffer;
}
