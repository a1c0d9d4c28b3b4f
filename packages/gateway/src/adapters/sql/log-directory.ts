import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { numberIn } from '@reeve/core';
import type { Index } from './audit-query.ts';
import type { Kind, SegmentEntry } from './log-segment.ts';
import { LogSegment, mostEntries, rowOf, rowsOfSegment } from './log-segment.ts';
import { eachValues } from './sqlite-table.ts';
import type { BlockPlace } from './stored-log.ts';

/** `damaged` names, by its last entry, each block that could not be read for the directory. */
export const directorySchema = `
  CREATE TABLE IF NOT EXISTS ix.segments (first_seq INTEGER PRIMARY KEY, last_seq INTEGER);
  CREATE TABLE IF NOT EXISTS ix.directory (place INTEGER PRIMARY KEY, items BLOB);
  CREATE TABLE IF NOT EXISTS ix.by_time (first_seq INTEGER PRIMARY KEY, last_seq INTEGER, min_at INTEGER, max_at INTEGER);
  CREATE TABLE IF NOT EXISTS ix.damaged (seq INTEGER PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS ix.covered (through INTEGER NOT NULL, hash TEXT NOT NULL);
`;

type Find = (kind: Kind, text: string) => Uint16Array;
interface Stretch {
  readonly first: number;
  readonly last: number;
}

/**
 * Says which entries have something. Older ones are in segments on the disk, each written once. The newest are in a segment in
 * memory, which a start reads again: from the disk what was there when the directory was closed, the others from the log.
 */
export class LogDirectory {
  readonly #db: DatabaseSync;
  readonly #most: number;
  readonly #segments: Stretch[] = [];
  readonly #items: StatementSync;
  #newest: LogSegment;
  #isFull = false;
  /** What of the newest segment is on the disk. */
  #written: number;

  constructor(db: DatabaseSync, most = mostEntries) {
    this.#db = db;
    this.#most = most;
    this.#items = db.prepare('SELECT items FROM ix.directory WHERE place = ?');
    for (const row of db.prepare('SELECT first_seq, last_seq FROM ix.segments ORDER BY first_seq').iterate()) {
      this.#segments.push({ first: numberIn(row, 'first_seq'), last: numberIn(row, 'last_seq') });
    }
    this.#written = this.#segments.at(-1)?.last ?? 0;
    this.#newest = new LogSegment(this.#written, most);
    const last = this.#segments.at(-1);
    if (last !== undefined && last.last - last.first + 1 < most) this.#load(last);
  }

  /** Goes on with the last segment. */
  #load({ first, last }: Stretch): void {
    this.#segments.pop();
    this.#newest.first = first;
    const from = first * rowsOfSegment;
    const rows = this.#db.prepare('SELECT place, items FROM ix.directory WHERE place >= ?');
    for (const [place, items] of eachValues<[number, Uint8Array]>(rows, from)) this.#newest.load(place - from, items);
    const times = this.#db.prepare('SELECT first_seq, last_seq, min_at, max_at FROM ix.by_time WHERE last_seq >= ?');
    for (const [begin, end, minAt, maxAt] of eachValues<[number, number, number, number]>(times, first)) {
      this.#newest.times.push({ first: begin, last: end, minAt, maxAt });
    }
    this.#newest.through = last;
  }

  /** The last entry that is in the directory. */
  get through(): number {
    return this.#newest.through;
  }

  /** Whether the newest segment has to be written before anything else is added. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Adds an entry. Returns false if there is no room. */
  offer(entry: SegmentEntry): boolean {
    if (!this.#hasRoom(entry.seq)) return false;
    this.#newest.add(entry);
    return true;
  }

  /** Notes a block that cannot be read: whoever looks for something is told of it. Returns false if there is no room. */
  offerDamaged({ firstSeq, lastSeq, minAt, maxAt }: BlockPlace): boolean {
    if (!this.#hasRoom(lastSeq)) return false;
    this.#newest.addDamaged({ first: firstSeq, last: lastSeq, minAt, maxAt });
    return true;
  }

  #hasRoom(seq: number): boolean {
    this.#isFull = !this.#newest.fits(seq);
    return !this.#isFull;
  }

  /** Writes the newest segment, whose last entry has this hash. */
  write(hash: string): void {
    const { first, through, times, damaged } = this.#newest;
    if (first !== undefined && through > this.#written) {
      this.#atOnce(() => {
        const insert = this.#db.prepare('INSERT OR REPLACE INTO ix.directory VALUES (?, ?)');
        for (const [row, items] of this.#newest.rows()) insert.run(first * rowsOfSegment + row, items);
        this.#db.prepare('INSERT OR REPLACE INTO ix.segments VALUES (?, ?)').run(first, through);
        const insertTimes = this.#db.prepare('INSERT OR REPLACE INTO ix.by_time VALUES (?, ?, ?, ?)');
        for (const { first: begin, last, minAt, maxAt } of times) insertTimes.run(begin, last, minAt, maxAt);
        for (const seq of damaged) this.#db.prepare('INSERT OR IGNORE INTO ix.damaged VALUES (?)').run(seq);
        this.#db.exec('DELETE FROM ix.covered');
        this.#db.prepare('INSERT INTO ix.covered VALUES (?, ?)').run(through, hash);
      });
      this.#written = through;
    }
    if (!this.#isFull || first === undefined) return;
    this.#segments.push({ first, last: through });
    this.#newest = new LogSegment(through, this.#most);
    this.#isFull = false;
  }

  /** Removes the segments whose entries have all gone. */
  forgetBefore(oldest: number): void {
    const kept = this.#segments.findIndex(({ last }) => last >= oldest);
    const gone = kept === -1 ? this.#segments.length : kept;
    if (gone === 0) return;
    this.#atOnce(() => {
      const from = this.#segments[gone]?.first ?? this.#newest.first ?? oldest;
      this.#db.prepare('DELETE FROM ix.directory WHERE place < ?').run(from * rowsOfSegment);
      this.#db.prepare('DELETE FROM ix.segments WHERE first_seq < ?').run(from);
      this.#db.prepare('DELETE FROM ix.by_time WHERE last_seq < ?').run(from);
      this.#db.prepare('DELETE FROM ix.damaged WHERE seq < ?').run(from);
    });
    this.#segments.splice(0, gone);
  }

  /** The entries of a stretch that an index names, and the last one of each block that could not be read. */
  *named(index: Index, low: number, high: number, newestFirst: boolean): Generator<number> {
    const damaged = this.#damaged(low, high);
    for (const [{ first, last }, find] of this.#stretches(low, high, newestFirst)) {
      let places = find(index.kind, index.value);
      if (index.orgId !== undefined && index.kind !== 'org' && places.length > 0) {
        places = common(places, find('org', index.orgId));
      }
      const lost = damaged.filter((seq) => seq >= first && seq <= last).map((seq) => seq - first);
      if (lost.length > 0) places = Uint16Array.from([...places, ...lost]).sort();
      for (let at = 0; at < places.length; at++) {
        const seq = first + (places[newestFirst ? places.length - 1 - at : at] ?? 0);
        if (seq >= low && seq <= high) yield seq;
      }
    }
  }

  *#stretches(low: number, high: number, newestFirst: boolean): Generator<[Stretch, Find]> {
    const { first = high + 1, through } = this.#newest;
    const newest: [Stretch, Find] = [{ first, last: through }, (kind, text) => this.#newest.places(kind, text)];
    const overlaps = ({ first: begin, last }: Stretch) => begin <= high && last >= low;
    if (newestFirst && overlaps(newest[0])) yield newest;
    const segments = this.#segments.filter(overlaps);
    for (const segment of newestFirst ? segments.reverse() : segments) {
      yield [segment, (kind, text) => this.#places(segment, kind, text)];
    }
    if (!newestFirst && overlaps(newest[0])) yield newest;
  }

  #places({ first }: Stretch, kind: Kind, text: string): Uint16Array {
    const [row, placesIn] = rowOf(kind, text);
    const items = this.#items.get(first * rowsOfSegment + row)?.['items'];
    return items instanceof Uint8Array ? placesIn(items) : new Uint16Array();
  }

  #damaged(low: number, high: number): number[] {
    const rows = this.#db.prepare('SELECT seq FROM ix.damaged WHERE seq BETWEEN ? AND ?').all(low, high);
    return [...new Set([...rows.map((row) => numberIn(row, 'seq')), ...this.#newest.damaged])];
  }

  /** Where entries of a time or later can begin; undefined if none of those in the directory is. */
  firstSince(from: number): number | undefined {
    const row = this.#db.prepare('SELECT min(first_seq) AS seq FROM ix.by_time WHERE max_at >= ?').get(from);
    const seq = row?.['seq'];
    return typeof seq === 'number' ? seq : this.#newest.times.find(({ maxAt }) => maxAt >= from)?.first;
  }

  /** Where entries from before a time can end, or 0. */
  lastBefore(to: number): number {
    const newest = this.#newest.times.findLast(({ minAt }) => minAt < to);
    if (newest !== undefined) return newest.last;
    return Number(
      this.#db.prepare('SELECT max(last_seq) AS seq FROM ix.by_time WHERE min_at < ?').get(to)?.['seq'] ?? 0,
    );
  }

  #atOnce(work: () => void): void {
    this.#db.exec('BEGIN');
    try {
      work();
      this.#db.exec('COMMIT');
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }
}

/** The places that are in both, each of which is sorted. */
function common(places: Uint16Array, others: Uint16Array): Uint16Array {
  let at = 0;
  return places.filter((place) => {
    while (at < others.length && (others[at] ?? 0) < place) at++;
    return others[at] === place;
  });
}
