import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { SealedEntry } from '@reeve/core';
import { SqliteStore } from '../packages/gateway/src/adapters/sql/sqlite-store.ts';
import { sealedEntries } from './sealed-entries.ts';
import type { Spread } from './statistics.ts';
import { spreadOf } from './statistics.ts';
import { count, duration, fixed, ratio, textTable } from './table.ts';

/** Decisions that share a commit. */
const sizes = [1, 4, 16, 64, 256];
const prefixBytes = 8;

export interface SegmentRow {
  readonly perCommit: number;
  /** CPU µs for each entry, from its commit until it is in the database. */
  readonly sqlite: Spread;
  readonly segment: Spread;
  readonly toSqlite: Spread;
  readonly sqliteBytes: number;
  readonly segmentBytes: number;
  /** Until the newest entry is known and the end of the log is known to be whole. */
  readonly sqliteOpenMicros: number;
  readonly segmentOpenMicros: number;
}

interface Written {
  readonly cpuMicros: number;
  readonly bytes: number;
  readonly openMicros: number;
}

/** What the log costs in SQLite, as it is, and in a file that is only appended to: length, checksum, entry. */
export function measureSegments(rounds: number, entries: number, tell: (line: string) => void): SegmentRow[] {
  const sealed = sealedEntries(entries);
  return sizes.map((perCommit) => {
    tell(`${perCommit} in a commit`);
    const commits = Array.from({ length: Math.ceil(entries / perCommit) }, (_, at) =>
      sealed.slice(at * perCommit, (at + 1) * perCommit),
    );
    const pairs: { readonly sqlite: Written; readonly segment: Written }[] = [];
    for (let round = -1; round < rounds; round++) {
      const pair = {
        sqlite: inFolder((path) => bySqlite(path, commits)),
        segment: inFolder((path) => bySegment(path, commits)),
      };
      if (round >= 0) pairs.push(pair);
    }
    const perEntry = ({ cpuMicros }: Written) => cpuMicros / entries;
    const median = (of: (pair: (typeof pairs)[number]) => number) => spreadOf(pairs.map(of)).median;
    return {
      perCommit,
      sqlite: spreadOf(pairs.map(({ sqlite }) => perEntry(sqlite))),
      segment: spreadOf(pairs.map(({ segment }) => perEntry(segment))),
      toSqlite: spreadOf(pairs.map(({ sqlite, segment }) => segment.cpuMicros / sqlite.cpuMicros)),
      sqliteBytes: median(({ sqlite }) => sqlite.bytes / entries),
      segmentBytes: median(({ segment }) => segment.bytes / entries),
      sqliteOpenMicros: median(({ sqlite }) => sqlite.openMicros),
      segmentOpenMicros: median(({ segment }) => segment.openMicros),
    };
  });
}

function inFolder<Result>(work: (path: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-bench-segments-'));
  try {
    return work(join(folder, 'log'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function bySqlite(path: string, commits: readonly (readonly SealedEntry[])[]): Written {
  const store = new SqliteStore({ path, sync: 'process' });
  const started = process.cpuUsage();
  for (const entries of commits) store.commitNow({ entries, changes: [] });
  const copying = new DatabaseSync(path);
  copying.exec('PRAGMA wal_checkpoint(PASSIVE)');
  const cpuMicros = cpuSince(started);
  const bytes = statSync(path).size;
  copying.close();
  void store.close();
  const opening = performance.now();
  const opened = new DatabaseSync(path);
  opened.prepare('SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1').get();
  const openMicros = (performance.now() - opening) * 1000;
  opened.close();
  return { cpuMicros, bytes, openMicros };
}

function bySegment(path: string, commits: readonly (readonly SealedEntry[])[]): Written {
  const file = openSync(path, 'a');
  let buffer = Buffer.allocUnsafe(64 * 1024);
  const started = process.cpuUsage();
  for (const entries of commits) {
    let end = 0;
    for (const { hash, canonical } of entries) {
      const most = prefixBytes + hash.length + 3 * canonical.length;
      if (end + most > buffer.length) buffer = Buffer.concat([buffer.subarray(0, end)], 2 * (end + most));
      const from = end + prefixBytes;
      const to = from + buffer.write(hash, from, 'latin1') + buffer.write(canonical, from + hash.length);
      buffer.writeUInt32LE(to - from, end);
      buffer.writeUInt32LE(crc32(buffer.subarray(from, to)), end + 4);
      end = to;
    }
    writeSync(file, buffer, 0, end);
  }
  const cpuMicros = cpuSince(started);
  closeSync(file);
  const { size: bytes } = statSync(path);
  const opening = performance.now();
  if (wholeBytesOf(readFileSync(path)) !== bytes) throw new Error('the segment was not read back whole');
  return { cpuMicros, bytes, openMicros: (performance.now() - opening) * 1000 };
}

/** Where the last whole entry ends: a torn one after it would be cut off. */
function wholeBytesOf(log: Buffer): number {
  let at = 0;
  while (at + prefixBytes <= log.length) {
    const end = at + prefixBytes + log.readUInt32LE(at);
    if (end > log.length || crc32(log.subarray(at + prefixBytes, end)) !== log.readUInt32LE(at + 4)) break;
    at = end;
  }
  return at;
}

function cpuSince(started: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(started);
  return user + system;
}

export function segmentsTable(rows: readonly SegmentRow[]): string {
  return textTable(
    [
      'in a commit',
      'SQLite',
      'segment',
      'segment over SQLite',
      'disk, SQLite',
      'segment',
      'opening, SQLite',
      'segment',
    ],
    rows.map((row) => [
      count(row.perCommit),
      `${fixed(row.sqlite.median)} µs`,
      `${fixed(row.segment.median)} µs`,
      ratio(row.toSqlite),
      `${count(row.sqliteBytes)} B`,
      `${count(row.segmentBytes)} B`,
      duration(row.sqliteOpenMicros),
      duration(row.segmentOpenMicros),
    ]),
  );
}
