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
  openIndex().close();
  {
    using db = new DatabaseSync(join(folder, 'audit-index.db'));
    db.exec('DROP TABLE by_org_user; PRAGMA user_version = 0');
  }
  const index = openIndex();
  expect(index.read({ user: ann.sub, orgId: 'acme', limit: 9 }, true).entries).toHaveLength(1);
  index.close();
});
