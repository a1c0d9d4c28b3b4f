import type { DatabaseSync } from 'node:sqlite';
import type { Value } from '@reeve/core';
import type { PackedBlock } from './log-block.ts';
import { entryColumns, packBlock } from './log-block.ts';
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
const mostTextLength = 512 * 1024;

/** Packs the oldest rows up to an entry. Undefined if they do not fill a block yet. */
export function packOldest(db: DatabaseSync, through: number, { blockEntries }: Packing): PackedBlock | undefined {
  const sql = `SELECT ${entryColumns.join(', ')} FROM main.audit WHERE seq <= ? ORDER BY seq LIMIT ?`;
  const rows: Value[][] = [];
  let length = 0;
  let isFull = false;
  for (const row of eachValues<Value[]>(db.prepare(sql), through, blockEntries)) {
    const last = rows.at(-1);
    length += String(row.at(-1)).length;
    // Entries of a block follow one another. If somebody has removed some, the gap stays between two blocks.
    isFull = last !== undefined && (row[0] !== Number(last[0]) + 1 || length > mostTextLength);
    if (isFull) break;
    rows.push(row);
  }
  return isFull || rows.length >= blockEntries ? packBlock(rows) : undefined;
}
