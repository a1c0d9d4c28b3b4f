import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { zstdCompressSync } from 'node:zlib';
import type { SealedEntry } from '@reeve/core';
import { emptyChain } from '@reeve/core';
import { sampleDraft, sealAll } from '@reeve/core/testkit';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifyStore } from '../../offline/verify-store.ts';
import { AuditIndex } from './audit-index.ts';
import { AuditReaderThread } from './audit-reader-thread.ts';
import { entryColumns, isOfBytes, LogBlock, packBlock, recordOf, recordSql } from './log-block.ts';
import { markRestoredStore } from './mark-restored-store.ts';
import { SqliteStore } from './sqlite-store.ts';
import { StoredLog } from './stored-log.ts';

const packing = { keptRows: 2, blockEntries: 5 };

let folder: string;
let path: string;
let store: SqliteStore;
let entries: SealedEntry[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-packed-'));
  path = join(folder, 'reeve.db');
  store = new SqliteStore({ path, sync: 'process' });
  const drafts = Array.from({ length: 33 }, (_, n) =>
    sampleDraft({ at: 1_700_000_000_000 + n, opId: `t:${n + 1}`, decision: 'allow' }),
  );
  entries = sealAll(drafts, emptyChain);
  store.commitNow({ entries, changes: [] });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function openIndex(): AuditIndex {
  return AuditIndex.open(path, join(folder, 'audit-index.db'));
}

/** Packs what can be packed: 30 of 33 entries, six blocks. */
function packAll(): void {
  const index = openIndex();
  index.catchUp(1000);
  for (let block = index.packOldest(packing); block !== undefined; block = index.packOldest(packing)) {
    expect(store.pack(block)).toBeUndefined();
  }
  index.close();
}

function counts(): unknown {
  using db = new DatabaseSync(path);
  const sql = 'SELECT (SELECT count(*) FROM audit) AS rows, (SELECT count(*) FROM audit_blocks) AS blocks';
  return { ...db.prepare(sql).get() };
}

function change(sql: string, ...values: (number | Uint8Array)[]): void {
  using db = new DatabaseSync(path);
  db.prepare(sql).run(...values);
}

const stored = () => entries.map(({ seq, hash, canonical }) => ({ seq, hash, canonical }));
const seqs = (page: { readonly entries: readonly { readonly seq: number }[] }) => page.entries.map(({ seq }) => seq);

test('a block gives back every column of any rows, to the letter', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '\n', '[]\n{}', '🦊'));
  const value = fc.oneof(text, fc.constant(null));
  const columns = Object.fromEntries(entryColumns.map((name) => [name, value]));
  const row = fc.record({ ...columns, at: fc.integer({ min: 0 }), hash: text, canonical: text });
  using db = new DatabaseSync(':memory:');
  db.exec(`CREATE TABLE audit (${entryColumns.join(', ')})`);
  const insert = db.prepare(`INSERT INTO audit VALUES (${entryColumns.map((name) => `:${name}`).join(', ')})`);
  const select = db.prepare(`SELECT seq, at, ${recordSql} AS bytes FROM audit ORDER BY seq`);
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 1e9 }), (some, first) => {
      const rows = some.map((columns, at) => ({
        ...columns,
        seq: first + at,
        canonical: JSON.stringify({ reason: columns.canonical, seq: first + at }),
      }));
      db.exec('DELETE FROM audit');
      for (const row of rows) insert.run(row as never);
      const packed = packBlock(select.all() as never);
      const block = new LogBlock(packed);
      expect(rows.map(({ seq }) => block.entry(seq))).toEqual(rows);
      // Without the rows, it is the same.
      const again = new LogBlock(packBlock(rows.map((row) => recordOf(row as never))));
      expect(rows.map(({ seq }) => again.entry(seq))).toEqual(rows);
      expect([block.entry(first - 1), block.entry(first + rows.length)]).toEqual([undefined, undefined]);
      expect(packed.minAt).toBe(Math.min(...rows.map(({ at }) => at)));
      expect(packed.maxAt).toBe(Math.max(...rows.map(({ at }) => at)));
    }),
  );
});

test('the whole log reads as before, from any entry on', async () => {
  packAll();
  expect(counts()).toEqual({ rows: 3, blocks: 6 });
  for (const from of [0, 3, 5, 17, 29, 30, 31, 32, 33]) {
    expect(await store.after(from, 100)).toEqual(stored().slice(from));
    expect(await store.after(from, 4)).toEqual(stored().slice(from, from + 4));
  }
  expect((await store.load()).head).toEqual({ seq: 33, hash: entries[32]?.hash });
  using db = new DatabaseSync(path);
  expect(new StoredLog(db).count()).toBe(33);
});

test('a block whose rows have gone meanwhile is refused, and nothing changes', () => {
  const index = openIndex();
  index.catchUp(1000);
  const block = index.packOldest(packing);
  index.close();
  store.commitNow({ entries: [], changes: [{ kind: 'entries_removed', through: 2 }] });
  expect(block === undefined ? undefined : store.pack(block)).toBe('the entries 1 to 5 are not all there');
  expect(counts()).toEqual({ rows: 31, blocks: 0 });
});

test('nothing is packed twice, while commits wait, or where somebody else writes', () => {
  const index = openIndex();
  index.catchUp(1000);
  const block = index.packOldest(packing);
  index.close();
  if (block === undefined) throw new Error('there is no block');
  const goOn = store.pause();
  expect(store.pack(block)).toBe('commits wait for a checkpoint');
  goOn();
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  expect(store.pack(block)).toBe('database is locked');
  other.exec('ROLLBACK');
  other.close();
  expect([store.pack(block), store.pack(block)]).toEqual([undefined, 'the entries 1 to 5 are not all there']);
  expect(counts()).toEqual({ rows: 28, blocks: 1 });
});

test('a gap that somebody has made in the log stays one', async () => {
  change('DELETE FROM audit WHERE seq = 8');
  packAll();
  expect((await store.after(0, 100)).map(({ seq }) => seq)).toEqual(
    stored().flatMap(({ seq }) => (seq === 8 ? [] : seq)),
  );
});

describe('a row that says it is another entry', () => {
  const spoil = (seq: number) => change(`UPDATE audit SET canonical = '{"seq":0}' WHERE seq = ?`, seq);
  const readable = async () => (await store.after(0, 100)).filter(({ hash }) => hash !== '').map(({ seq }) => seq);

  test.each([1, 3, 5, 10])('takes no other with it when it is packed: %d', async (seq) => {
    spoil(seq);
    packAll();
    expect(await readable()).toEqual(entries.map((each) => each.seq));
    const { canonical } = (await store.after(seq - 1, 1))[0] ?? {};
    expect(canonical).toBe('{"seq":0}');
  });

  test('stays a row if no block can be read with it, and so do those after it', async () => {
    for (let seq = 6; seq <= 10; seq++) spoil(seq);
    expect(packAll).toThrow('the entry 6 cannot be packed: it ends with another entry');
    expect(counts()).toEqual({ rows: 28, blocks: 1 });
    expect(await readable()).toEqual(entries.map((each) => each.seq));
  });
});

test('retention removes whole blocks, and writes one that is partly over again', async () => {
  packAll();
  for (const through of [3, 5, 14, 29, 31]) {
    store.commitNow({ entries: [], changes: [{ kind: 'entries_removed', through }] });
    expect(await store.after(0, 100)).toEqual(stored().slice(through));
    const index = openIndex();
    expect(seqs(index.read({ limit: 100 }, false))).toEqual(
      stored()
        .slice(through)
        .map(({ seq }) => seq),
    );
    index.close();
  }
  expect(counts()).toEqual({ rows: 2, blocks: 0 });
});

test('a store without rows goes on after its newest block', async () => {
  packAll();
  change('DELETE FROM audit');
  await store.close();
  markRestoredStore(path, 1_800_000_000_000);
  store = new SqliteStore({ path, sync: 'process' });
  const { head, restoredFrom } = await store.load();
  expect([head, restoredFrom]).toEqual([{ seq: 30, hash: entries[29]?.hash }, 1_700_000_000_029]);
});

test('the thread packs what is old by itself, and reads it', async () => {
  const reader = new AuditReaderThread(path, join(folder, 'audit-index.db'), {
    everyMs: 1,
    packsInto: store,
    ...packing,
  });
  for (;;) {
    const { entries: found } = await reader.oldest({ limit: 100 });
    expect(found).toEqual(stored());
    expect(seqs(await reader.latest({ opId: 't:4', limit: 9 }))).toEqual([4]);
    if (JSON.stringify(counts()) === '{"rows":3,"blocks":6}') break;
  }
  await reader.close();
});

/** What the thread tells of its work, and something to wait for the next such message with. */
function troubles() {
  const told: (string | undefined)[] = [];
  let next = Promise.withResolvers<void>();
  const onTrouble = (why: string | undefined) => {
    told.push(why);
    next.resolve();
    next = Promise.withResolvers();
  };
  return { told, onTrouble, next: () => next.promise };
}

test('a store that takes no block is told of once, and again when it does', async () => {
  const { told, onTrouble, next } = troubles();
  let refusal: string | undefined = 'the disk is full';
  const reader = new AuditReaderThread(path, join(folder, 'audit-index.db'), {
    ...{ everyMs: 1, onTrouble, ...packing },
    packsInto: { pack: (block) => refusal ?? store.pack(block) },
  });
  expect(await reader.unpacked()).toBe(31);
  await next();
  expect([told, counts()]).toEqual([['the disk is full'], { rows: 33, blocks: 0 }]);
  refusal = undefined;
  await next();
  expect(told).toEqual(['the disk is full', undefined]);
  while ((await reader.unpacked()) > 1) await new Promise(setImmediate);
  await reader.close();
  expect(counts()).toEqual({ rows: 3, blocks: 6 });
});

/** Overwrites the head of the first page of the file that holds a text. */
function damagePageWith(text: string | Buffer): void {
  const bytes = readFileSync(path);
  const at = bytes.indexOf(text);
  expect(at).toBeGreaterThan(0);
  writeFileSync(path, bytes.fill(0xff, at - (at % 4096), at - (at % 4096) + 8));
}

test('a damaged page of the store is told of, and does not cost the indexes', async () => {
  const indexPath = join(folder, 'audit-index.db');
  const index = openIndex();
  index.catchUp(1000);
  index.close();
  await store.close();
  damagePageWith('"op_id":"t:17"');
  store = new SqliteStore({ path, sync: 'process' });
  const { told, onTrouble, next } = troubles();
  const { ino } = statSync(indexPath);
  const reader = new AuditReaderThread(path, indexPath, { everyMs: 1, packsInto: store, onTrouble, ...packing });
  reader.begin();
  await next();
  expect(told).toEqual(['database disk image is malformed']);
  await expect(reader.latest({ opId: 't:17', limit: 9 })).rejects.toMatchObject({ code: 'store_unavailable' });
  await expect(reader.oldest({ limit: 100 })).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(seqs(await reader.latest({ opId: 't:33', limit: 9 }))).toEqual([33]);
  expect([await reader.lag(), statSync(indexPath).ino]).toEqual([0, ino]);
  await reader.close();
});

test('a damaged page of blocks is told of, and not taken for an empty log', async () => {
  packAll();
  await store.close();
  using db = new DatabaseSync(path);
  const bytes = db.prepare('SELECT entries FROM audit_blocks WHERE first_seq = 11').get()?.['entries'];
  db.close();
  if (!(bytes instanceof Uint8Array)) throw new Error('there is no block');
  damagePageWith(Buffer.from(bytes.subarray(0, 40)));
  store = new SqliteStore({ path, sync: 'process' });
  const index = openIndex();
  expect(() => index.read({ opId: 't:12', limit: 9 }, true)).toThrow('malformed');
  index.close();
  expect(() => store.after(0, 100)).toThrow('malformed');
  await expect(verifyStore(path, { isSigned: () => false })).rejects.toThrow('its store is damaged');
});

describe.each([
  ['that was cut off', (bytes: Uint8Array) => bytes.subarray(0, bytes.length - 9)],
  [
    'of which a bit has changed',
    (bytes: Uint8Array) => bytes.map((byte, at) => (at === bytes.length >> 1 ? byte ^ 1 : byte)),
  ],
  ['of other bytes', (bytes: Uint8Array) => randomBytes(bytes.length)],
  ['that holds something else', () => zstdCompressSync('{"columns":["hash"],"bytes":[1,1]}\nxx')],
  ['that is far too large', () => zstdCompressSync(Buffer.alloc(70 * 1024 * 1024))],
])('a block %s', (_, damage) => {
  beforeEach(() => {
    packAll();
    using db = new DatabaseSync(path);
    const bytes = db.prepare('SELECT entries FROM audit_blocks WHERE first_seq = 11').get()?.['entries'];
    if (!(bytes instanceof Uint8Array)) throw new Error('there is no block');
    db.prepare('UPDATE audit_blocks SET entries = ? WHERE first_seq = 11').run(damage(bytes));
  });

  test.each(['as they were', 'made again'])('is named, and the rest is read, with indexes %s', async (how) => {
    if (how === 'made again') rmSync(join(folder, 'audit-index.db'));
    const index = openIndex();
    while (index.lag() > 0) index.catchUp(4);
    const all = index.read({ limit: 100 }, true).entries.toReversed();
    expect(all.filter(({ seq }) => seq < 11 || seq > 15)).toEqual(stored().filter(({ seq }) => seq < 11 || seq > 15));
    const lost = all.filter(({ seq }) => seq >= 11 && seq <= 15);
    expect(lost.map(({ seq, hash }) => [seq, hash])).toEqual([11, 12, 13, 14, 15].map((seq) => [seq, '']));
    const why = 'the block of entries 11 to 15 is damaged on the disk';
    for (const { canonical } of lost)
      expect(JSON.parse(canonical)).toMatchObject({ reason: why, event_type: 'Unreadable' });
    expect(await store.after(0, 100)).toEqual(all);

    // Indexes that were made again do not know which operations the block tells of.
    expect(seqs(index.read({ opId: 't:10', before: 11, limit: 9 }, true))).toEqual([10]);
    expect(seqs(index.read({ opId: 't:16', limit: 9 }, true))).toEqual([16]);
    expect(() => index.read({ opId: 't:12', limit: 9 }, true)).toThrow(why);
    expect(seqs(index.read({ decision: 'allow', limit: 100 }, true)).at(-1)).toBe(16);
    expect(() => index.read({ decision: 'allow', before: 16, limit: 100 }, true)).toThrow(why);
    const before = { from: 1_700_000_000_000, to: 1_700_000_000_010 };
    expect(seqs(index.read({ ...before, limit: 100 }, true))).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    index.close();
  });

  test('is what a verification names', async () => {
    const { chain } = await verifyStore(path, { isSigned: () => false });
    expect(chain).toMatchObject({ result: 'broken', broken_seq: 11, entries: 10 });
  });

  test('goes with its last entry', async () => {
    store.commitNow({ entries: [], changes: [{ kind: 'entries_removed', through: 12 }] });
    expect((await store.after(0, 3)).map(({ seq, hash }) => [seq, hash])).toEqual([13, 14, 15].map((seq) => [seq, '']));
    store.commitNow({ entries: [], changes: [{ kind: 'entries_removed', through: 15 }] });
    expect(await store.after(0, 100)).toEqual(stored().slice(15));
  });
});

describe.each([
  ['ends earlier', 'UPDATE audit_blocks SET last_seq = 14 WHERE first_seq = 11'],
  ['begins later', 'UPDATE audit_blocks SET first_seq = 13 WHERE first_seq = 11'],
  ['begins and ends elsewhere', 'UPDATE audit_blocks SET first_seq = 10, last_seq = 14 WHERE first_seq = 11'],
  ['is of later times', 'UPDATE audit_blocks SET min_at = min_at + 3 WHERE first_seq = 11'],
  ['is of earlier times', 'UPDATE audit_blocks SET max_at = max_at - 3 WHERE first_seq = 11'],
  [
    'has the bytes of another',
    'UPDATE audit_blocks SET entries = (SELECT entries FROM audit_blocks WHERE first_seq = 16) WHERE first_seq = 11',
  ],
])('a block whose row says that it %s', (_, sql) => {
  beforeEach(() => {
    packAll();
    change(sql);
  });

  test('is damaged: none of its entries is taken for another, or for not being there', async () => {
    const { chain } = await verifyStore(path, { isSigned: () => false });
    expect(chain).toMatchObject({ result: 'broken' });
    for (const { seq, hash, canonical } of await store.after(0, 100)) {
      expect(hash === '' || canonical === stored()[seq - 1]?.canonical).toBe(true);
    }
    const index = openIndex();
    const found = [11, 12, 13, 14, 15].map((seq) => {
      try {
        return seqs(index.read({ opId: `t:${seq}`, limit: 9 }, true)).includes(seq);
      } catch (error) {
        return String(error).includes('is damaged on the disk') ? 'told' : error;
      }
    });
    expect(found).toContain('told');
    expect(found).not.toContain(false);
    index.close();
  });

  test('goes by retention, and takes no other with it', async () => {
    store.commitNow({ entries: [], changes: [{ kind: 'entries_removed', through: 15 }] });
    expect(await store.after(0, 100)).toEqual(stored().slice(15));
  });
});

test.each([11, 26])('a block at %d that claims to be endless hides nothing', async (first) => {
  packAll();
  change('UPDATE audit_blocks SET last_seq = ? WHERE first_seq = ?', 2 ** 50, first);
  expect(await store.after(0, 100)).toEqual(stored());
  const index = openIndex();
  expect(seqs(index.read({ limit: 100 }, false))).toEqual(stored().map(({ seq }) => seq));
  index.close();
  for (const through of [first, first + 4, first + 5]) {
    store.commitNow({ entries: [], changes: [{ kind: 'entries_removed', through }] });
    expect(await store.after(0, 100)).toEqual(stored().slice(through));
  }
});

test('a block that was damaged and is mended is read and indexed whole, also after a cut', async () => {
  packAll();
  const bytesOf = () => {
    using db = new DatabaseSync(path);
    return db.prepare('SELECT entries FROM audit_blocks WHERE last_seq = 15').get()?.['entries'] as Uint8Array;
  };
  const whole = bytesOf();
  change('UPDATE audit_blocks SET entries = ? WHERE last_seq = 15', whole.subarray(0, 20));
  rmSync(join(folder, 'audit-index.db'));
  const blind = openIndex();
  while (blind.lag() > 0) blind.catchUp(100);
  blind.close();
  store.commitNow({ entries: [], changes: [{ kind: 'entries_removed', through: 12 }] });
  change('UPDATE audit_blocks SET entries = ? WHERE last_seq = 15', whole);
  await store.close();
  store = new SqliteStore({ path, sync: 'process' });
  expect(await store.after(0, 100)).toEqual(stored().slice(12));
  const index = openIndex();
  while (index.lag() > 0) index.catchUp(100);
  for (const seq of [13, 14, 15]) expect(seqs(index.read({ opId: `t:${seq}`, limit: 9 }, true))).toEqual([seq]);
  index.close();
});

test.each([
  ['allow', true],
  ['allow', false],
  ['pending', true],
  ['pending', false],
] as const)(
  'a page opens some blocks, and the next one goes on from there: %s, newest first: %s',
  (decision, newestFirst) => {
    packAll();
    const index = new AuditIndex(path, join(folder, 'audit-index.db'), 2);
    const found: number[] = [];
    const pages: number[] = [];
    for (let at: number | null = newestFirst ? 34 : 0; at !== null; ) {
      const page = index.read({ decision, limit: 100, ...(newestFirst ? { before: at } : { after: at }) }, newestFirst);
      found.push(...seqs(page));
      pages.push(page.entries.length);
      at = page.next;
    }
    index.close();
    const all = stored().map(({ seq }) => seq);
    expect(found).toEqual(decision === 'allow' ? (newestFirst ? all.toReversed() : all) : []);
    expect(pages).toHaveLength(3);
  },
);

test('what is no fault of the bytes is not taken for damage', () => {
  expect(isOfBytes(new RangeError('Array buffer allocation failed'))).toBe(false);
  expect(isOfBytes(Object.assign(new Error('out of memory'), { code: 'ZSTD_error_memory_allocation' }))).toBe(false);
});

describe('entries of a user in 600 blocks', () => {
  const user = { issuer: 'https://id.example.com', sub: 'u-1', email: '' };
  let index: AuditIndex;
  beforeEach(async () => {
    const lineage = {
      ...{ org_id: 'acme', team_id: 'search', agent_id: 'bot' },
      ...{ parent_agent_id: null, root_agent_id: 'bot', depth: 0 },
    };
    const drafts = Array.from({ length: 600 }, (_, n) =>
      sampleDraft({ at: 1_700_000_001_000 + n, user, run: `run ${n}`, decision: 'allow', lineage }),
    );
    const { head } = await store.load();
    store.commitNow({ entries: sealAll(drafts, head), changes: [] });
    index = new AuditIndex(path, join(folder, 'audit-index.db'), 100);
    index.catchUp(1000);
    const sparse = { keptRows: 2, blockEntries: 1 };
    for (let block = index.packOldest(sparse); block !== undefined; block = index.packOldest(sparse)) store.pack(block);
  });
  afterEach(() => index.close());

  test.each([{ user: user.sub }, { agentId: 'bot' }, {}])(
    'do not end a page of another org early that looks for claims to be it: %j',
    (narrow) => {
      const claims = { orgId: 'other', orClaimedOrgId: 'other', eventType: 'A2AImpersonationAttempted' };
      expect(index.read({ ...claims, ...narrow, limit: 10 }, true)).toEqual({ entries: [], next: null });
    },
  );

  test('are found in steps that unpack few blocks each, by their runs', () => {
    const found: number[] = [];
    const runs = new Set<string>();
    for (let before = Number.MAX_SAFE_INTEGER; before > 0; ) {
      const step = index.runsOfUser({ user: user.sub, most: 5000, before });
      found.push(step.runs.length);
      for (const { run } of step.runs) runs.add(run);
      before = step.next ?? 0;
    }
    expect(runs.size).toBe(600);
    expect(Math.max(...found)).toBeLessThanOrEqual(256 + 2);
  });

  test.each([{}, { orgId: 'acme' }, { user: user.sub }])('are counted by pages that unpack few: %j', (narrow) => {
    const counts: number[] = [];
    for (let before = Number.MAX_SAFE_INTEGER; before > 0; ) {
      const page = index.people({ ...narrow, limit: 10, most: 5000, before, lastBefore: before });
      expect(page.next).toBeNull();
      for (const { sub, counts: of } of page.people) {
        expect(sub).toBe(user.sub);
        counts.push(of.allow);
      }
      expect(page.oldest === null || page.oldest.at >= 1_700_000_000_000).toBe(true);
      before = page.oldest?.seq ?? 0;
    }
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(600);
    expect(Math.max(...counts)).toBeLessThanOrEqual(100 + 2);
  });
});
