import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { SearchedEntry, Value } from '@reeve/core';
import { entriesTable } from '@reeve/core';
import { columnsOf } from './table-sql.ts';

/** Neighbouring entries of the log, compressed together, as a row of `audit_blocks`. */
export interface PackedBlock {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly minAt: number;
  readonly maxAt: number;
  readonly entries: Uint8Array;
}

/** An entry with all columns of its row. */
export interface PackedEntry extends SearchedEntry {
  readonly user_issuer: string | null;
  readonly hash: string;
}

/** What a block writes for each entry beside its text. The place in the block says the sequence. */
const sideColumns = columnsOf(entriesTable)
  .map(({ name }) => name)
  .filter((name) => name !== 'seq' && name !== 'canonical');
/** The columns of a row. */
export const entryColumns: readonly string[] = ['seq', ...sideColumns, 'canonical'];

/** An entry as a block takes it. */
export interface EntryRecord {
  readonly seq: number;
  readonly at: number;
  /** A line with its columns, and its text. */
  readonly bytes: Uint8Array;
}

/** How the database makes a record. */
export const recordText = `json_array(${sideColumns.join(', ')}) || char(10) || canonical`;
/** The same as bytes: as a text, every column would be copied twice, which takes most of the time. */
export const recordSql = `CAST(${recordText} AS BLOB)`;

/** Records that follow one another, one after the other. */
export interface JoinedRecords extends Omit<PackedBlock, 'entries'> {
  /** How many bytes each has. */
  readonly lengths: readonly number[];
  readonly bytes: Uint8Array;
}

/** The same for an entry that is no row any more. */
export function recordOf(entry: PackedEntry): EntryRecord {
  const row: Readonly<Record<string, Value>> = { ...entry };
  const side = JSON.stringify(sideColumns.map((column) => row[column] ?? null));
  return { seq: entry.seq, at: Number(row['at']), bytes: Buffer.from(`${side}\n${entry.canonical}`) };
}

/** Far more than a block has. Whoever changes the file must not fill the memory. */
const mostBytes = 64 * 1024 * 1024;
/** Most blocks are decompressed in one go. */
const usualBytes = 256 * 1024;
const newline = 10;

const compression = {
  params: {
    [constants.ZSTD_c_compressionLevel]: 1,
    // So that a changed bit is noticed when the block is read, and not only when its hashes are verified.
    [constants.ZSTD_c_checksumFlag]: 1,
  },
};

/** What the first line of a block says: which columns there are, and how many bytes each entry takes. */
interface Head {
  readonly columns: readonly string[];
  readonly bytes: readonly number[];
}

/** Packs entries that follow one another. There is at least one. */
export function packBlock(records: readonly EntryRecord[]): PackedBlock {
  const times = records.map(({ at }) => at);
  return packJoined({
    firstSeq: Number(records[0]?.seq),
    lastSeq: Number(records.at(-1)?.seq),
    minAt: Math.min(...times),
    maxAt: Math.max(...times),
    lengths: records.map(({ bytes }) => bytes.length),
    bytes: Buffer.concat(records.map(({ bytes }) => bytes)),
  });
}

/**
 * It hands out nothing that does not come back from the compressed bytes as it was. The block is read once as readers will, since
 * its rows go for it, and that may throw as it does for them.
 */
export function packJoined({ lengths, bytes, ...of }: JoinedRecords): PackedBlock {
  const head: Head = { columns: sideColumns, bytes: lengths };
  const text = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), bytes]);
  const block = {
    ...of,
    // A reader that knows the length needs no window beside the result, which saves it two fifths of its time.
    entries: zstdCompressSync(text, { ...compression, pledgedSrcSize: text.length }),
  };
  if (!new LogBlock(block).holds(text)) throw new Error('what was packed does not come back');
  return block;
}

function unpacked(entries: Uint8Array): Buffer {
  return zstdDecompressSync(entries, { maxOutputLength: mostBytes, chunkSize: usualBytes });
}

/** A block that can be read, entry by entry: only what is asked for is decoded. */
export class LogBlock {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly #text: Buffer;
  readonly #columns: readonly string[];
  /** Where each entry begins, and where the last one ends. */
  readonly #starts: readonly number[];
  /** How many entries retention has removed from its beginning, and left their bytes. */
  readonly removed: number;

  /** Throws if the bytes are not those of a block of these entries. */
  constructor({ firstSeq, lastSeq, entries }: Omit<PackedBlock, 'minAt' | 'maxAt'>) {
    this.firstSeq = firstSeq;
    this.lastSeq = lastSeq;
    this.#text = unpacked(entries);
    const end = this.#text.indexOf(newline);
    const { columns, bytes } = headIn(this.#text.toString('utf8', 0, end));
    let at = end + 1;
    this.#columns = [...columns];
    const starts = [at, ...bytes.map((length) => (at += length))];
    this.removed = bytes.length - (lastSeq - firstSeq + 1);
    if (this.removed < 0 || at !== this.#text.length) throw new SyntaxError('it has another length');
    this.#starts = starts.slice(this.removed);
    // Its entries follow one another, so the last one says which the others are.
    const { seq } = JSON.parse(this.entry(lastSeq)?.canonical ?? '{}') as { readonly seq?: unknown };
    if (seq !== lastSeq) throw new SyntaxError('it ends with another entry');
  }

  holds(text: Buffer): boolean {
    return this.#text.equals(text);
  }

  /** How much memory it takes. */
  get bytes(): number {
    return this.#text.length;
  }

  /** Undefined if it is not in here, or cannot be read. */
  entry(seq: number): PackedEntry | undefined {
    const start = this.#starts[seq - this.firstSeq];
    const end = this.#starts[seq - this.firstSeq + 1];
    if (start === undefined || end === undefined) return undefined;
    const textAt = this.#text.indexOf(newline, start) + 1;
    const values = valuesIn(this.#text.toString('utf8', start, textAt));
    if (values === undefined) return undefined;
    const row: Record<string, unknown> = { seq };
    for (let at = 0; at < this.#columns.length; at++) row[this.#columns[at] ?? ''] = values[at];
    row['canonical'] = this.#text.toString('utf8', textAt, end);
    return row as unknown as PackedEntry;
  }
}

/** Whether an error says that the bytes are those of no block. Others, such as a lack of memory, say nothing of the bytes. */
export function isOfBytes(error: unknown): boolean {
  if (error instanceof SyntaxError) return true;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ERR_BUFFER_TOO_LARGE' || code === 'Z_BUF_ERROR') return true;
  return code.startsWith('ZSTD_error_') && code !== 'ZSTD_error_memory_allocation';
}

function headIn(line: string): Head {
  const head = JSON.parse(line) as Partial<Head> | null;
  const { columns, bytes } = head ?? {};
  if (!Array.isArray(columns) || !Array.isArray(bytes)) throw new SyntaxError('it does not begin as a block');
  return { columns, bytes };
}

function valuesIn(side: string): readonly unknown[] | undefined {
  try {
    const values: unknown = JSON.parse(side);
    return Array.isArray(values) ? values : undefined;
  } catch {
    return undefined;
  }
}
