import type { DatabaseSync } from 'node:sqlite';
import type { EntryRecord, JoinedRecords, PackedBlock } from './log-block.ts';
import { isOfBytes, packBlock, packJoined, recordSql, recordText } from './log-block.ts';
import { eachValues } from './sqlite-table.ts';

/** How the log is packed. */
export interface Packing {
  /** So many of the newest entries always stay rows. */
  readonly keptRows: number;
  /** How many entries a block has. */
  readonly blockEntries: number;
}

/** A block makes one short turn of the thread that decides, and is read as a whole for any entry of it. */
export const packing: Packing = { keptRows: 10_000, blockEntries: 128 };

/** Long entries make smaller blocks, so that no turn takes longer for them. */
const mostBytes = 512 * 1024;

/** Packs the oldest rows up to an entry. Undefined if they do not fill a block yet. Throws if no block of them can be read. */
export function packOldest(db: DatabaseSync, through: number, { blockEntries }: Packing): PackedBlock | undefined {
  const joined = joinOldest(db, through, blockEntries);
  if (joined !== undefined) {
    try {
      return packJoined(joined);
    } catch (error) {
      if (!isOfBytes(error)) throw error;
      // One by one, it shows which of them it is.
    }
  }
  return packOneByOne(db, through, blockEntries);
}

const oldestSql = 'FROM main.audit WHERE seq <= ? ORDER BY seq LIMIT ?';
const sizeSql = `SELECT count(*), sum(octet_length(canonical)) FROM (SELECT canonical ${oldestSql})`;
const joinedSql = `SELECT group_concat(seq), group_concat(octet_length(record)), min(at), max(at),
  CAST(group_concat(record, '') AS BLOB) FROM (SELECT seq, at, ${recordText} AS record ${oldestSql})`;

/**
 * The rows of a whole block. The database joins them, which takes half the time of handing them over one by one. Undefined where
 * that would not do: there are too few, they are long, or there is a gap between them.
 */
function joinOldest(db: DatabaseSync, through: number, blockEntries: number): JoinedRecords | undefined {
  const [[count, length] = [0, 0]] = eachValues<[number, number]>(db.prepare(sizeSql), through, blockEntries);
  if (count < blockEntries || length > mostBytes / 2) return undefined;
  const [row] = eachValues<[string, string, number, number, Uint8Array]>(db.prepare(joinedSql), through, blockEntries);
  if (row === undefined) return undefined;
  const [seqs, lengths, minAt, maxAt, bytes] = row;
  const firstSeq = Number.parseInt(seqs, 10);
  const isWhole = seqs === Array.from({ length: blockEntries }, (_, at) => firstSeq + at).join(',');
  if (!isWhole || bytes.length > mostBytes) return undefined;
  const lastSeq = firstSeq + blockEntries - 1;
  return { firstSeq, lastSeq, minAt, maxAt, lengths: lengths.split(',').map(Number), bytes };
}

function packOneByOne(db: DatabaseSync, through: number, blockEntries: number): PackedBlock | undefined {
  const sql = `SELECT seq, at, ${recordSql} ${oldestSql}`;
  const records: EntryRecord[] = [];
  let length = 0;
  let isFull = false;
  for (const [seq, at, bytes] of eachValues<[number, number, Uint8Array]>(db.prepare(sql), through, blockEntries)) {
    const last = records.at(-1);
    length += bytes.length;
    // Entries of a block follow one another. If somebody has removed some, the gap stays between two blocks.
    isFull = last !== undefined && (seq !== last.seq + 1 || length > mostBytes);
    if (isFull) break;
    records.push({ seq, at, bytes });
  }
  return isFull || records.length >= blockEntries ? readableBlock(records) : undefined;
}

/** A row that was changed makes no block unreadable unless it is the last one, so the block ends before such a row. */
function readableBlock(records: readonly EntryRecord[]): PackedBlock {
  try {
    return packBlock(records);
  } catch (error) {
    if (!isOfBytes(error)) throw error;
    if (records.length > 1) return readableBlock(records.slice(0, -1));
    const why = error instanceof Error ? error.message : 'unknown';
    throw new Error(`the entry ${records[0]?.seq} cannot be packed: ${why}`, { cause: error });
  }
}
