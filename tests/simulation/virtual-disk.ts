import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { AuditReader, Batch } from '@reeve/core';
import { AuditIndex } from '../../packages/gateway/src/adapters/sql/audit-index.ts';
import { SqliteStore } from '../../packages/gateway/src/adapters/sql/sqlite-store.ts';
import { Random } from './random.ts';
import type { Ground } from './virtual-gateway.ts';

/** Where a file needs no real disk, so that a sync costs nothing. */
const inMemory = '/dev/shm';
/** What a disk writes as a whole. */
const sectorBytes = 512;
/** How many entries the indexes of the log take in before they are read. */
const indexedAtOnce = 20;

/** What becomes of the next commit: it is made, there is no room for it, or the power fails in the middle of it. */
export type DiskFate = 'done' | 'full' | 'power fails';

/**
 * The disk under an embedded store. The store is SQLite, as a gateway has it. A failure of the power leaves what was
 * synced, and of what was being written any of the sectors.
 */
export class VirtualDisk {
  readonly #folder = mkdtempSync(join(existsSync(inMemory) ? inMemory : tmpdir(), 'reeve-disk-'));
  readonly #onWritten: (batch: Batch) => void;
  #starts = 0;
  #now: OpenDisk | undefined;

  constructor(onWritten: (batch: Batch) => void) {
    this.#onWritten = onWritten;
  }

  /** Opens what the power failure before has left, if there was one. */
  open(): OpenDisk {
    const path = join(this.#folder, `${++this.#starts}.db`);
    if (this.#now !== undefined) {
      const { left } = this.#now;
      writeFileSync(path, left.file);
      writeFileSync(`${path}-wal`, left.wal);
      this.#now.close();
    }
    this.#now = new OpenDisk(path, this.#onWritten);
    return this.#now;
  }

  remove(): void {
    this.#now?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The bytes of the file and of its write-ahead log. */
interface Bytes {
  readonly file: Buffer;
  readonly wal: Buffer;
}

/** The disk from a start to the failure that ends it. */
export class OpenDisk implements Ground {
  readonly store: SqliteStore;
  readonly #index: AuditIndex;
  readonly #path: string;
  readonly #onWritten: (batch: Batch) => void;
  #fate: DiskFate = 'done';
  #random = new Random(0);
  #left: Bytes | undefined;
  /** Why a commit was refused for which there was room. */
  refused: unknown;
  /** What was being written when the power failed. It may be there after the next start, or not. */
  doubtful: Batch | undefined;

  constructor(path: string, onWritten: (batch: Batch) => void) {
    this.#path = path;
    this.#onWritten = onWritten;
    this.store = new SqliteStore({ path, sync: 'power' });
    this.#index = new AuditIndex(path, `${path}-index`);
  }

  /** The indexes of the log are some entries behind. */
  readonly log: AuditReader = {
    latest: (query) => Promise.resolve(this.#index.read(query, true)),
    oldest: (query) => {
      this.#index.catchUp(indexedAtOnce);
      return Promise.resolve(this.#index.read(query, false));
    },
  };

  aside<Result>(work: () => Result): Promise<Result> {
    return Promise.resolve(work());
  }

  /** Decides about the next commit. The seed says how much of it is written. */
  expect(fate: DiskFate, seed: number): void {
    this.#fate = fate;
    this.#random = new Random(seed);
  }

  commit(batch: Batch): void | Promise<void> {
    const fate = this.#fate;
    this.#fate = 'done';
    if (fate === 'full') this.store.commitNow(cutOff(batch, this.#random));
    if (fate === 'power fails') return this.#tear(batch);
    try {
      this.store.commitNow(batch);
    } catch (error) {
      this.refused = error;
      throw error;
    }
    this.#onWritten(batch);
    return undefined;
  }

  /** Nobody hears what became of the commit. */
  #tear(batch: Batch): Promise<void> {
    const before = this.#read();
    this.store.commitNow(batch);
    const after = this.#read();
    this.doubtful = batch;
    this.#left = { file: after.file, wal: this.#torn(before.wal, after.wal) };
    return new Promise(() => undefined);
  }

  /** Moves the write-ahead log into the file, as the thread beside a gateway does. The power may fail meanwhile. */
  checkpoint(fails: boolean): void {
    const before = this.#read();
    const beside = new DatabaseSync(this.#path);
    beside.exec('PRAGMA wal_checkpoint(PASSIVE)');
    beside.close();
    if (fails) this.#left = { file: this.#torn(before.file, this.#read().file), wal: before.wal };
  }

  /** What is there after the power has failed. */
  get left(): Bytes {
    return this.#left ?? this.#read();
  }

  close(): void {
    this.#index.close();
    void this.store.close();
    for (const ending of ['', '-wal', '-shm', '-index', '-index-wal', '-index-shm'])
      rmSync(`${this.#path}${ending}`, { force: true });
  }

  #read(): Bytes {
    const wal = `${this.#path}-wal`;
    return { file: readFileSync(this.#path), wal: existsSync(wal) ? readFileSync(wal) : Buffer.alloc(0) };
  }

  /** Each sector that was being written is the new one, or still the old one. */
  #torn(before: Buffer, after: Buffer): Buffer {
    if (this.#random.chance(0.4)) return after;
    const torn = Buffer.from(after);
    for (let at = 0; at < after.length; at += sectorBytes) {
      const [old, fresh] = [before.subarray(at, at + sectorBytes), after.subarray(at, at + sectorBytes)];
      if (old.equals(fresh) || this.#random.chance(0.5)) continue;
      torn.fill(0, at, at + fresh.length);
      old.copy(torn, at);
    }
    return torn;
  }
}

/** The batch, of which some is written before there is no room any more. */
function cutOff(batch: Batch, random: Random): Batch {
  const room = random.int(batch.changes.length + 1);
  return { ...batch, changes: Object.assign([...batch.changes], { [Symbol.iterator]: () => until(batch, room) }) };
}

function* until({ changes }: Batch, room: number): ArrayIterator<Batch['changes'][number]> {
  yield* changes.slice(0, room);
  throw new Error('database or disk is full');
}
