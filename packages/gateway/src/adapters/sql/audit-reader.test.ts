import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditPage, AuditQuery, Batch, SealedEntry } from '@reeve/core';
import { emptyChain, MemoryStore, sealer } from '@reeve/core';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../crypto/node-crypto.ts';
import { AuditIndex } from './audit-index.ts';
import { plan } from './audit-query.ts';
import { AuditReaderThread } from './audit-reader-thread.ts';
import type { Packing } from './pack-oldest.ts';
import { SqliteStore } from './sqlite-store.ts';

let folder: string;
let store: SqliteStore;
let memory: MemoryStore;
let head: { seq: number; hash: string };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-reader-'));
  store = new SqliteStore({ path: join(folder, 'reeve.db'), sync: 'process' });
  memory = new MemoryStore();
  head = emptyChain;
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

type Draft = SealedEntry['draft'];
const seal = sealer(sha256);
const orgs = ['acme', 'globex', 'ACME'] as const;
const texts = [
  'Köln',
  'köln',
  'KÖLN',
  '50%',
  'a_b',
  'say "hi"',
  'back\\slash',
  'new\nline',
  '🦊 naïve',
  '',
  'İstanbul',
];

/** Few values, so that every filter matches some entries and not others. Time goes back now and then. */
const someDraft: fc.Arbitrary<Draft> = fc.record({
  at: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_050 }),
  eventType: fc.constantFrom(
    'ActionAllowed',
    'ActionDenied',
    'OpStateChanged',
    'ApiKeyCreated',
    'A2AImpersonationAttempted',
  ),
  lineage: fc.record({
    agent_id: fc.constantFrom('ada', 'eve', ''),
    depth: fc.constant(0),
    org_id: fc.constantFrom(...orgs, null),
    parent_agent_id: fc.constant(null),
    root_agent_id: fc.constant(''),
    team_id: fc.constantFrom('', 'core'),
  }),
  actor: fc.record({
    id: fc.constantFrom('x', 'y'),
    kind: fc.constantFrom('agent', 'system'),
    label: fc.constantFrom(...texts),
  }),
  opId: fc.constantFrom('t:1', 't:2', null),
  traceId: fc.constant(null),
  spanId: fc.constant(null),
  decision: fc.constantFrom('allow', 'deny', 'pending', null),
  reason: fc.constantFrom('because', 'BECAUSE', null),
  policyRule: fc.constant(null),
  policyVersion: fc.constant(null),
  payload: fc.constantFrom(...texts).map((text) => JSON.stringify({ text }) as Draft['payload']),
  claimedOrgId: fc.constantFrom(...orgs),
  run: fc.constantFrom('r1', 'r2', undefined),
  user: fc.constantFrom(
    { issuer: 'https://id.example.com', sub: 'U-1', email: 'ann@example.com' },
    { issuer: 'https://id.example.com', sub: 'u-1', email: '' },
    { issuer: 'https://id.example.com', sub: 'ann@example.com', email: 'Ann@example.com' },
    undefined,
  ),
});

const someQuery: fc.Arbitrary<AuditQuery> = fc
  .record(
    {
      orgId: fc.constantFrom(...orgs, '', 'nobody'),
      orClaimedOrgId: fc.constantFrom(...orgs),
      teamId: fc.constantFrom('', 'core', 'nobody'),
      agentId: fc.constantFrom('ada', 'eve', '', 'nobody'),
      eventType: fc.constantFrom('ActionAllowed', 'ApiKeyCreated', 'A2AImpersonationAttempted', 'Nothing'),
      decision: fc.constantFrom('allow', 'deny', 'pending'),
      opId: fc.constantFrom('t:1', 't:2', 'nobody'),
      run: fc.constantFrom('r1', 'r2', 'nobody'),
      user: fc.constantFrom('u-1', 'U-1', 'ANN@example.com', 'nobody'),
      from: fc.integer({ min: 1_700_000_000_000 - 5, max: 1_700_000_000_055 }),
      to: fc.integer({ min: 1_700_000_000_000 - 5, max: 1_700_000_000_055 }),
      q: fc.constantFrom(
        'köln',
        'KÖLN',
        'kÖln',
        '50%',
        '_',
        '"hi"',
        '\\',
        '\n',
        '🦊',
        'NAÏVE',
        'because',
        'Because',
        'nobody',
      ),
      before: fc.integer({ min: 0, max: 80 }),
      after: fc.integer({ min: 0, max: 80 }),
      limit: fc.integer({ min: 1, max: 30 }),
    },
    { requiredKeys: ['limit'] },
  )
  .map((query) => query as AuditQuery);

function write(drafts: readonly Draft[]): void {
  const entries = drafts.map((draft) => {
    const entry = seal(draft, head);
    head = { seq: entry.seq, hash: entry.hash };
    return entry;
  });
  store.commitNow({ entries, changes: [] });
  memory.commit({ entries, changes: [] });
}

function remove(through: number): void {
  const batch: Batch = { entries: [], changes: [{ kind: 'entries_removed', through }] };
  store.commitNow(batch);
  memory.commit(batch);
}

/** Its segments are so short that a log of some entries has many. */
function openIndex(): AuditIndex {
  return new AuditIndex(join(folder, 'reeve.db'), join(folder, 'audit-index.db'), undefined, 8);
}

/** Ends as if the process was killed: what was not yet written stays so. */
function kill(index: AuditIndex): void {
  const files = ['audit-index.db', 'audit-index.db-wal'].map((name) => join(folder, name)).filter(existsSync);
  for (const file of files) cpSync(file, `${file}.then`);
  index.close();
  for (const file of files) cpSync(`${file}.then`, file);
}

/** Few rows and small blocks, so that most entries are packed. */
const somePacking = fc.record({
  keptRows: fc.integer({ min: 1, max: 4 }),
  blockEntries: fc.integer({ min: 1, max: 7 }),
});

/** Packs all that can be packed. */
function pack(index: AuditIndex, packing: Packing): void {
  for (let block = index.packOldest(packing); block !== undefined; block = index.packOldest(packing)) {
    expect(store.pack(block)).toBeUndefined();
  }
}

/** Asks the store in memory the same, which scans every entry. */
function expected(query: AuditQuery, newestFirst: boolean): Promise<AuditPage> {
  return newestFirst ? memory.latest(query) : memory.oldest(query);
}

test('whatever is asked, however far the indexes are behind, and whatever is packed, the answer is that of a scan', async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ write: fc.array(someDraft, { minLength: 1, maxLength: 12 }) }) },
    { weight: 3, arbitrary: fc.record({ index: fc.integer({ min: 1, max: 20 }) }) },
    { weight: 6, arbitrary: fc.record({ ask: someQuery, newestFirst: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ remove: fc.integer({ min: 1, max: 60 }) }) },
    { weight: 1, arbitrary: fc.record({ reopen: fc.constantFrom('as it is', 'killed', 'from scratch') }) },
    { weight: 3, arbitrary: fc.record({ pack: somePacking }) },
  );
  await fc.assert(
    fc
      .asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }), async (steps) => {
        let index = openIndex();
        try {
          for (const todo of steps) {
            if ('write' in todo) write(todo.write);
            else if ('index' in todo) index.catchUp(todo.index);
            else if ('remove' in todo) remove(Math.min(todo.remove, head.seq - 1));
            else if ('pack' in todo) pack(index, todo.pack);
            else if ('ask' in todo) {
              const page = index.read(todo.ask, todo.newestFirst);
              expect(page).toEqual(await expected(todo.ask, todo.newestFirst));
            } else {
              if (todo.reopen === 'killed') kill(index);
              else index.close();
              if (todo.reopen === 'from scratch') rmSync(join(folder, 'audit-index.db'));
              index = openIndex();
            }
          }
        } finally {
          index.close();
        }
      })
      .afterEach(async () => {
        await store.close();
        rmSync(folder, { recursive: true });
        folder = mkdtempSync(join(tmpdir(), 'reeve-reader-'));
        store = new SqliteStore({ path: join(folder, 'reeve.db'), sync: 'process' });
        memory = new MemoryStore();
        head = emptyChain;
      }),
    { numRuns: 60 },
  );
});

describe('the reader thread', () => {
  let reader: AuditReaderThread;
  afterEach(() => reader.close());

  function open(everyMs: number): AuditReaderThread {
    reader = new AuditReaderThread(join(folder, 'reeve.db'), join(folder, 'audit-index.db'), { everyMs });
    return reader;
  }

  async function expectTheSame(runs: number): Promise<void> {
    await fc.assert(
      fc.asyncProperty(someQuery, fc.boolean(), async (query, newestFirst) => {
        const page = await (newestFirst ? reader.latest(query) : reader.oldest(query));
        expect(page).toEqual(await expected(query, newestFirst));
      }),
      { numRuns: runs },
    );
  }

  test('answers like a scan before it has indexed anything, and once it has indexed all', async () => {
    const drafts = fc.sample(someDraft, { numRuns: 70, seed: 7 });
    open(1_000_000);
    write(drafts);
    expect(await reader.lag()).toBe(70);
    await expectTheSame(100);
    await reader.close();
    open(1);
    while ((await reader.lag()) > 0) await new Promise(setImmediate);
    await expectTheSame(100);
  });

  test('fails a question that it cannot answer, and answers the next', async () => {
    write(fc.sample(someDraft, { numRuns: 3, seed: 1 }));
    open(1_000_000);
    await expect(reader.latest({ limit: Number.NaN })).rejects.toMatchObject({ code: 'store_unavailable' });
    expect((await reader.latest({ limit: 10 })).entries).toHaveLength(3);
  });

  test('makes indexes that are no database again', async () => {
    write(fc.sample(someDraft, { numRuns: 5, seed: 1 }));
    writeFileSync(join(folder, 'audit-index.db'), 'no database at all'.repeat(500));
    open(1);
    expect((await reader.latest({ limit: 10 })).entries).toHaveLength(5);
    while ((await reader.lag()) > 0) await new Promise(setImmediate);
    await expectTheSame(20);
  });
});

describe('a search for text', () => {
  test('looks at so many entries for a page, and says where to go on', () => {
    const bounds = { low: 1, high: 1_000_000, indexed: 1_000_000, packed: 0 };
    const newest = plan({ q: 'x', limit: 10 }, true, bounds);
    expect(newest.next).toBe(800_001);
    const next = plan({ q: 'x', limit: 10 }, true, { ...bounds, high: 800_000 });
    expect(next.next).toBe(600_001);
    expect(plan({ q: 'x', limit: 10 }, true, { ...bounds, high: 200_000 }).next).toBeNull();
    expect(plan({ q: 'x', limit: 10 }, false, bounds).next).toBe(200_000);
    expect(plan({ q: 'x', limit: 10 }, false, { ...bounds, low: 900_001 }).next).toBeNull();
    expect(plan({ limit: 10 }, true, bounds).next).toBeNull();
  });

  test('covers every entry once, page after page', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 700_000 }), fc.boolean(), (size, newestFirst) => {
        let bounds = { low: 1, high: size, indexed: size, packed: 0 };
        let seen = 0;
        for (;;) {
          const { selects, next } = plan({ q: 'x', limit: 10 }, newestFirst, bounds);
          const [low = 0, high = 0] = (selects.find(({ values }) => values[0] <= values[1])?.values ?? []) as number[];
          expect(newestFirst ? high : low).toBe(newestFirst ? bounds.high : bounds.low);
          seen += high - low + 1;
          if (next === null) break;
          bounds = newestFirst ? { ...bounds, high: next - 1 } : { ...bounds, low: next + 1 };
        }
        expect(seen).toBe(size);
      }),
    );
  });
});
