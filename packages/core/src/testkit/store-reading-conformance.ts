import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../audit/canonical-json.ts';
import { emptyChain } from '../audit/chain.ts';
import { noLineage } from '../audit/entry.ts';
import type { EntryDraft, SealedEntry } from '../audit/entry.ts';
import type { AuditEventType } from '../audit/event-types.ts';
import type { AuditPage, AuditQuery, StoredEntry } from '../audit/audit-reader.ts';
import type { OpenStore } from './store-samples.ts';
import { sampleDraft, sealAll } from './store-samples.ts';

/** How a store reads the audit log back: by filter, newest or oldest first, page by page. */
export function readingConformance(opened: () => OpenStore): void {
  const commitAll = async (drafts: readonly EntryDraft[]): Promise<SealedEntry[]> => {
    const entries = sealAll(drafts, emptyChain);
    // In several batches, as they come.
    for (let at = 0; at < entries.length; at += 11) {
      await opened().store.commit({ entries: entries.slice(at, at + 11), changes: [] });
    }
    return entries;
  };
  const newest = async (query: AuditQuery) => (await opened().reader.latest(query)).entries;

  describe('reading the log', () => {
    test('gives every entry back with its text unchanged, byte by byte', async () => {
      const payload = canonicalJson({ odd: '\u0000\u2028"\\', text: 'é🦊'.repeat(20_000) });
      const entries = (await commitAll([sampleDraft({ payload }), sampleDraft({ reason: 'two' })])).map(stored);
      expect(await opened().store.after(0, 10)).toEqual(entries);
      expect(await newest({ limit: 10 })).toEqual(entries.toReversed());
    });

    test('gives pages of at most 4 MiB, or of one entry, and all of them in the end', async () => {
      const mebibyte = 1024 * 1024;
      const textOf = (size: number) => canonicalJson({ text: 'é'.repeat((size * mebibyte) / 2) });
      const sizes = [0.5, 0.5, 1, 5, 1, 1, 1, 1.5, 0.1];
      const drafts = sizes.map((size) =>
        sampleDraft({ lineage: { ...noLineage, org_id: 'acme' }, payload: textOf(size) }),
      );
      const seqs = (await commitAll(drafts)).map(({ seq }) => seq);
      const whole = (entries: readonly StoredEntry[]) => {
        const bytes = entries.reduce((sum, { canonical }) => sum + new TextEncoder().encode(canonical).length, 0);
        expect(entries.length === 1 || bytes <= 4 * mebibyte).toBe(true);
        return entries.map(({ seq }) => seq);
      };
      const replayed: number[] = [];
      for (let last = 0; ; ) {
        const entries = await opened().store.after(last, 1000);
        if (entries.length === 0) break;
        replayed.push(...whole(entries));
        last = replayed.at(-1) ?? 0;
      }
      expect(replayed).toEqual(seqs);
      for (const query of [{}, { orgId: 'acme' }]) {
        const oldest: number[] = [];
        for (let after: number | null = 0; after !== null; ) {
          const page: AuditPage = await opened().reader.oldest({ ...query, after, limit: 1000 });
          oldest.push(...whole(page.entries));
          after = page.next;
        }
        const latest: number[] = [];
        for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null; ) {
          const page: AuditPage = await opened().reader.latest({ ...query, before, limit: 1000 });
          latest.push(...whole(page.entries));
          before = page.next;
        }
        expect([oldest, latest.toReversed()]).toEqual([seqs, seqs]);
      }
    });

    test.each(Object.entries(singleFilters))('filters by %s', async (_, query) => {
      const entries = await commitAll(everyKindOfEntry);
      const expected = fitting(entries, { ...query, limit: 1000 });
      expect(expected.length).toBeGreaterThan(0);
      expect(expected.length).toBeLessThan(entries.length);
      expect(await opened().reader.oldest({ ...query, limit: 1000 })).toEqual({ entries: expected, next: null });
      expect(await opened().reader.latest({ ...query, limit: 1000 })).toEqual({
        entries: expected.toReversed(),
        next: null,
      });
    });

    test('an entry without an org never matches an org that is asked for', async () => {
      await commitAll([sampleDraft(), sampleDraft({ lineage: { ...noLineage, agent_id: 'bot' } })]);
      for (const orgId of ['', 'null', 'acme']) expect(await newest({ orgId, limit: 10 })).toEqual([]);
      expect(await newest({ limit: 10 })).toHaveLength(2);
    });

    test('an impersonation is found by the org that was claimed, where that is asked for, and its own', async () => {
      const drafts = ['acme', 'umbrella'].map((org_id) =>
        sampleDraft({
          eventType: 'A2AImpersonationAttempted',
          lineage: { ...noLineage, org_id },
          claimedOrgId: org_id === 'acme' ? 'umbrella' : 'initech',
        }),
      );
      const entries = await commitAll([...drafts, sampleDraft({ lineage: { ...noLineage, org_id: 'umbrella' } })]);
      const event = { eventType: 'A2AImpersonationAttempted', limit: 10 };
      const seqs = async (query: AuditQuery) => (await newest(query)).map((entry) => entry.seq);
      expect(await seqs({ ...event, orgId: 'umbrella' })).toEqual([2]);
      expect(await seqs({ ...event, orgId: 'umbrella', orClaimedOrgId: 'umbrella' })).toEqual([2, 1]);
      expect(await seqs({ ...event, orgId: 'initech', orClaimedOrgId: 'initech' })).toEqual([2]);
      expect(entries[0]?.canonical).not.toContain('claimedOrgId');
    });

    test('takes filter values as they are, whatever they hold', async () => {
      const odd = `o'; DROP TABLE audit; --%_`;
      const entries = await commitAll([sampleDraft({ opId: odd }), sampleDraft({ opId: 'o' })]);
      expect(await newest({ opId: odd, limit: 10 })).toEqual(fitting(entries, { opId: odd, limit: 10 }));
      expect(await newest({ opId: '%', limit: 10 })).toEqual([]);
      expect(await newest({ q: '%', limit: 10 })).toHaveLength(1);
      expect(await newest({ q: 'x%', limit: 10 })).toEqual([]);
    });

    test.each([
      ['as it is', 'two words', 'say TWO WORDS again'],
      ['in another case', 'TwO', 'say two words'],
      ['with quotes and backslashes', 'a "b" \\c', 'x a "b" \\c y'],
      ['with line breaks', 'one\ntwo', 'one\ntwo'],
      ['of another script', 'Übung É 日本 🦊', 'die Übung É 日本 🦊!'],
      ['of another script in another case', 'übung É', 'die Übung é'],
    ])('finds a text %s', async (_, q, reason) => {
      const entries = await commitAll([sampleDraft({ reason }), sampleDraft({ reason: 'other' })]);
      expect((await newest({ q, limit: 10 })).map((entry) => entry.seq)).toEqual([entries[0]?.seq]);
    });

    test('answers any combination of filters as a scan of all entries would, page by page', async () => {
      const entries = await commitAll(everyKindOfEntry);
      await fc.assert(
        fc.asyncProperty(someQuery, async (query) => {
          const expected = fitting(entries, { ...query, limit: 1000 });
          expect(await inPages(query, (page) => opened().reader.oldest(page), 'after')).toEqual(expected);
          expect(await inPages(query, (page) => opened().reader.latest(page), 'before')).toEqual(expected.toReversed());
        }),
        { numRuns: 150 },
      );
    });

    test('pages oldest first from any place', async () => {
      const all = (await commitAll(everyKindOfEntry)).map(stored);
      const { store } = opened();
      for (const size of [1, 7, all.length, all.length + 1]) {
        const paged: StoredEntry[] = [];
        for (let seq = 0; ; seq = paged.at(-1)?.seq ?? 0) {
          const page = await store.after(seq, size);
          if (page.length === 0) break;
          paged.push(...page);
        }
        expect(paged).toEqual(all);
      }
      expect(await store.after(all.length, 10)).toEqual([]);
      expect(await store.after(all.length + 5, 10)).toEqual([]);
      expect(await store.after(all.length - 2, 10)).toEqual(all.slice(-2));
    });
  });
}

/** Everything that a query finds, following `next` to the end. */
async function inPages(
  query: AuditQuery,
  read: (query: AuditQuery) => Promise<AuditPage>,
  onward: 'before' | 'after',
): Promise<StoredEntry[]> {
  const found: StoredEntry[] = [];
  let page = await read(query);
  for (;;) {
    expect(page.entries.length).toBeLessThanOrEqual(query.limit);
    found.push(...page.entries);
    if (page.next === null) return found;
    page = await read({ ...query, [onward]: page.next });
  }
}

const start = 1_700_000_000_000;
const eventTypes: readonly AuditEventType[] = ['ActionAllowed', 'ActionDenied', 'OpStateChanged', 'AgentSuspended'];

/** Sixty entries in which every filter finds something and leaves something out. */
const everyKindOfEntry: readonly EntryDraft[] = Array.from({ length: 60 }, (_, index) =>
  sampleDraft({
    at: start + Math.floor(index / 3) * 1000,
    eventType: pick(eventTypes, index),
    decision: pick(['allow', 'deny', 'pending', null] as const, index),
    ...(index % 4 === 1
      ? {
          user: {
            issuer: 'https://id.example.com',
            sub: pick(['u-1', 'U-1', 'zoë'], index),
            email: pick(['', 'Ann@Example.com', 'U-1'], index >> 2),
          },
        }
      : {}),
    ...(index % 5 === 2 ? { run: pick(['["r","acme","search",""]', '["\\u0000","acme","",""]'], index) } : {}),
    ...(index % 9 === 4 ? { claimedOrgId: pick(['umbrella', 'acme'], index) } : {}),
    reason: `reason ${index % 10}`,
    opId: pick(['t1:s1', 't2:s2', null, 't3:s3', 'T1:s1'], index),
    lineage: {
      ...noLineage,
      org_id: pick(['acme', 'umbrella', null, 'acm', 'ACME', 'acme', null], index),
      team_id: pick(['', 'search'], index),
      agent_id: pick(['bot', 'boss', ''], Math.floor(index / 2)),
    },
  }),
);

/** `orClaimedOrgId` widens a filter instead of being one. `own` leaves nothing out if one gateway wrote everything. */
type SingleFilter = Exclude<keyof AuditQuery, 'limit' | 'orClaimedOrgId' | 'own'>;

const singleFilters: Readonly<Record<SingleFilter, Partial<AuditQuery>>> = {
  orgId: { orgId: 'acme' },
  teamId: { teamId: 'search' },
  agentId: { agentId: 'boss' },
  eventType: { eventType: 'OpStateChanged' },
  decision: { decision: 'pending' },
  opId: { opId: 't1:s1' },
  user: { user: 'ann@example.com' },
  run: { run: '["r","acme","search",""]' },
  from: { from: start + 5000 },
  to: { to: start + 5000 },
  before: { before: 31 },
  after: { after: 31 },
  q: { q: 'REASON 7' },
};

const plainQuery: fc.Arbitrary<AuditQuery> = fc.record(
  {
    orgId: fc.constantFrom('acme', 'umbrella', '', 'nobody'),
    teamId: fc.constantFrom('', 'search', 'nobody'),
    agentId: fc.constantFrom('bot', 'boss', '', 'nobody'),
    eventType: fc.constantFrom<string>(...eventTypes, 'AgentRegistered'),
    decision: fc.constantFrom('allow', 'deny', 'pending'),
    opId: fc.constantFrom('t1:s1', 't2:s2', 'none'),
    user: fc.constantFrom('u-1', 'U-1', 'ANN@example.com', 'ZOË', 'zoë', 'none', ''),
    run: fc.constantFrom('["r","acme","search",""]', '["\\u0000","acme","",""]', 'none'),
    from: fc.integer({ min: start - 1000, max: start + 21_000 }),
    to: fc.integer({ min: start - 1000, max: start + 21_000 }),
    before: fc.integer({ min: 0, max: 70 }),
    after: fc.integer({ min: 0, max: 70 }),
    q: fc.constantFrom('reason 3', 'REASON', 'acme', 'none such'),
    limit: fc.integer({ min: 1, max: 70 }),
  },
  { requiredKeys: ['limit'] },
);

const someQuery = fc.oneof(
  { weight: 4, arbitrary: plainQuery },
  // A query asks for claims together with the org that they count for.
  { weight: 1, arbitrary: plainQuery.map((query) => ({ ...query, orgId: 'umbrella', orClaimedOrgId: 'umbrella' })) },
);

/** The rule of `AuditQuery`, entry by entry, oldest first. */
function fitting(entries: readonly SealedEntry[], query: AuditQuery): StoredEntry[] {
  return entries
    .filter(
      ({ seq, draft, canonical }) =>
        (equal(query.orgId, draft.lineage.org_id) || claims(query, draft)) &&
        equal(query.teamId, draft.lineage.team_id) &&
        equal(query.agentId, draft.lineage.agent_id) &&
        equal(query.eventType, draft.eventType) &&
        equal(query.decision, draft.decision) &&
        equal(query.opId, draft.opId) &&
        equal(query.run, draft.run ?? null) &&
        isFor(query, draft) &&
        draft.at >= (query.from ?? Number.NEGATIVE_INFINITY) &&
        draft.at < (query.to ?? Number.POSITIVE_INFINITY) &&
        seq < (query.before ?? Number.POSITIVE_INFINITY) &&
        seq > (query.after ?? 0) &&
        canonical.toLowerCase().includes((query.q ?? '').toLowerCase()),
    )
    .slice(0, query.limit)
    .map(stored);
}

function claims({ orClaimedOrgId }: AuditQuery, { claimedOrgId }: EntryDraft): boolean {
  return orClaimedOrgId !== undefined && claimedOrgId === orClaimedOrgId;
}

function isFor({ user: wanted }: AuditQuery, { user }: EntryDraft): boolean {
  if (wanted === undefined) return true;
  if (user === undefined) return false;
  return user.sub === wanted || (user.email !== '' && user.email.toLowerCase() === wanted.toLowerCase());
}

function equal(wanted: string | undefined, found: string | null): boolean {
  return wanted === undefined || wanted === found;
}

function stored({ seq, hash, canonical }: SealedEntry): StoredEntry {
  return { seq, hash, canonical };
}

function pick<Item>(items: readonly Item[], index: number): Item {
  return items[index % items.length] as Item;
}
