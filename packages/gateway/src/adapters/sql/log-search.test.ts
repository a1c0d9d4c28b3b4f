import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { emptyChain } from '@reeve/core';
import { sampleDraft, sealAll } from '@reeve/core/testkit';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AuditIndex } from './audit-index.ts';
import { SqliteStore } from './sqlite-store.ts';

let folder: string;
let path: string;
let store: SqliteStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-search-'));
  path = join(folder, 'reeve.db');
  store = new SqliteStore({ path, sync: 'process' });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

function openIndex(mostBlocks?: number): AuditIndex {
  const index = new AuditIndex(path, join(folder, 'audit-index.db'), mostBlocks);
  while (index.lag() > 0) index.catchUp(1000);
  return index;
}

/** Packs all entries but the newest, one to a block. */
function packEach(index: AuditIndex): void {
  const packing = { keptRows: 1, blockEntries: 1 };
  for (let block = index.packOldest(packing); block !== undefined; block = index.packOldest(packing)) store.pack(block);
}

function commit(drafts: Parameters<typeof sealAll>[0]): void {
  store.commitNow({ entries: sealAll(drafts, emptyChain), changes: [] });
}

const ofOrg = (org: string) => ({ ...sampleDraft().lineage, org_id: org });
const ann = { issuer: 'https://id.example.com', sub: 'u-1', email: 'Ann@Example.com' };

test('a text is found in any letter case, whether an entry is a row or packed', () => {
  // A Kelvin sign, a dotted I, a sigma at the end and within, letters of two cases that are no pair, and escapes of JSON.
  const texts = [
    '300 \u{212A}',
    'k',
    'K',
    '\u{130}zmir',
    'izmir',
    'I',
    'ΟΔΟΣ',
    'οδοσ',
    'ß',
    'SS',
    'É',
    'é',
    '\n"\\',
    '\u{10400}',
  ];
  commit([...texts.map((reason) => sampleDraft({ reason })), sampleDraft()]);
  const index = openIndex();
  const letters = fc.string({ unit: fc.constantFrom(...Array.from(texts.join(''))), minLength: 1, maxLength: 3 });
  const asked = [...texts, ...fc.sample(letters, { numRuns: 200, seed: 1 })];
  const found = () => asked.map((q) => [q, index.read({ q, limit: 100 }, true).entries.map(({ seq }) => seq)]);
  const asRows = found();
  packEach(index);
  expect(found()).toEqual(asRows);
  for (const [at, text] of texts.entries()) expect(asRows[at]?.[1], text).toContain(at + 1);
  index.close();
});

test.each([
  { user: ann.sub },
  { user: 'ANN@example.com' },
  { agentId: 'bot' },
  { eventType: 'AgentRegistered' },
  { run: 'r' },
  { opId: 't:1' },
])('within an org, no block is opened for entries of others: %o', (filter) => {
  const orgs = ['acme', ...Array.from({ length: 9 }, () => 'umbrella'), 'acme', 'umbrella'];
  const same = { user: ann, run: 'r', opId: 't:1', eventType: 'AgentRegistered' } as const;
  commit(orgs.map((org) => sampleDraft({ ...same, lineage: { ...ofOrg(org), agent_id: 'bot' } })));
  packEach(openIndex());
  const index = openIndex(2);
  for (const newestFirst of [true, false]) {
    const { entries, next } = index.read({ ...filter, orgId: 'acme', limit: 100 }, newestFirst);
    // Two blocks are all that it may open. To have opened one of the others would show in where the next page begins.
    expect([entries.map(({ seq }) => seq).toSorted((a, b) => a - b), next]).toEqual([[1, 11], null]);
  }
  index.close();
});

test('indexes of an earlier release are made again', () => {
  commit([sampleDraft({ lineage: ofOrg('acme'), user: ann }), sampleDraft()]);
  {
    using db = new DatabaseSync(join(folder, 'audit-index.db'));
    // They had a row for each entry, and covered all of them.
    db.exec(`
      CREATE TABLE by_org (org_id TEXT, seq INTEGER, PRIMARY KEY (org_id, seq)) WITHOUT ROWID;
      CREATE TABLE by_time (first_seq INTEGER PRIMARY KEY, last_seq INTEGER, min_at INTEGER, max_at INTEGER);
      CREATE TABLE damaged (seq INTEGER PRIMARY KEY);
      CREATE TABLE progress (through INTEGER NOT NULL, hash TEXT NOT NULL, removed INTEGER NOT NULL);
      INSERT INTO by_time VALUES (1, 2, 0, 0);
      INSERT INTO progress VALUES (2, 'of the second entry', 0);
      PRAGMA user_version = 1;
    `);
  }
  const index = new AuditIndex(path, join(folder, 'audit-index.db'));
  expect(index.lag()).toBe(2);
  index.catchUp(1000);
  expect(index.read({ user: ann.sub, orgId: 'acme', limit: 9 }, true).entries).toHaveLength(1);
  index.close();
  using db = new DatabaseSync(join(folder, 'audit-index.db'));
  expect(db.prepare(`SELECT count(*) AS n FROM sqlite_schema WHERE name = 'by_org'`).get()).toEqual({ n: 0 });
});

test('a segment that cannot be written loses nothing, and is written later', () => {
  const runs = Array.from({ length: 20 }, (_, n) => `run ${n % 3}`);
  commit(runs.map((run) => sampleDraft({ run })));
  const indexPath = join(folder, 'audit-index.db');
  const index = new AuditIndex(path, indexPath, undefined, 8);
  const ofRun = () => index.read({ run: 'run 1', limit: 100 }, false).entries.map(({ seq }) => seq);
  const expected = [2, 5, 8, 11, 14, 17, 20];
  {
    using other = new DatabaseSync(indexPath);
    other.exec('BEGIN IMMEDIATE');
    expect(() => index.catchUp(100)).toThrow('locked');
    expect([index.lag(), ofRun()]).toEqual([12, expected]);
    other.exec('ROLLBACK');
  }
  while (index.lag() > 0) index.catchUp(100);
  expect(ofRun()).toEqual(expected);
  index.close();
  using db = new DatabaseSync(indexPath);
  const segments = db.prepare('SELECT first_seq, last_seq FROM segments').all();
  expect(segments.map((row) => Object.values(row))).toEqual([
    [1, 8],
    [9, 16],
    [17, 20],
  ]);
});

test('where a subject is the email of the user, too, an entry is found once', () => {
  commit([sampleDraft({ user: { ...ann, sub: ann.email.toLowerCase() } }), sampleDraft()]);
  const index = openIndex();
  expect(index.read({ user: ann.email, limit: 9 }, true).entries.map(({ seq }) => seq)).toEqual([1]);
  index.close();
});
