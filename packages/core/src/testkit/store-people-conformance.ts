import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { emptyChain } from '../audit/chain.ts';
import type { EntryDraft, SealedEntry } from '../audit/entry.ts';
import { noLineage } from '../audit/entry.ts';
import type { PeopleQuery, SeenPerson, UserRunsQuery } from '../audit/people.ts';
import type { OpenStore } from './store-samples.ts';
import { sampleDraft, sealAll } from './store-samples.ts';

/** How a store counts for whom agents acted. */
export function peopleConformance(opened: () => OpenStore): void {
  const commitAll = async (drafts: readonly EntryDraft[]): Promise<SealedEntry[]> => {
    const entries = sealAll(drafts, emptyChain);
    for (let at = 0; at < entries.length; at += 11) {
      await opened().store.commit({ entries: entries.slice(at, at + 11), changes: [] });
    }
    return entries;
  };

  /** Everybody, page by page within the entries that are looked at, and then in older ones. */
  const everybody = async (query: PeopleQuery): Promise<SeenPerson[]> => {
    const found: SeenPerson[] = [];
    let place: Pick<PeopleQuery, 'before' | 'lastBefore'> = {};
    for (;;) {
      const { people, next, oldest } = await opened().reader.people({ ...query, ...place });
      expect(people.length).toBeLessThanOrEqual(query.limit);
      found.push(...people);
      if (next !== null) place = { ...place, lastBefore: next };
      else if (oldest === null) return found;
      else {
        expect(oldest.seq).toBeLessThan(place.before ?? Number.POSITIVE_INFINITY);
        place = { before: oldest.seq, lastBefore: oldest.seq };
      }
    }
  };

  describe('runs of a user', () => {
    test('are the same by any filter, however few entries one query may look at', async () => {
      const entries = await commitAll(drafts);
      await fc.assert(
        fc.asyncProperty(someUserRuns, async (query) => {
          const found = new Map<string, number>();
          for (let before = query.before; ; ) {
            const { runs, next } = await opened().reader.runsOfUser({ ...query, ...(before && { before }) });
            for (const { run, lastAt } of runs) found.set(run, Math.max(lastAt, found.get(run) ?? 0));
            if (next === null) break;
            expect(next).toBeLessThan(before ?? Number.POSITIVE_INFINITY);
            before = next;
          }
          expect(found).toEqual(expectedRuns(entries, query));
        }),
        { numRuns: 100 },
      );
    });

    test('of an org are looked for in its entries alone, so that no step tells what a person does elsewhere', async () => {
      await commitAll([acted({}), ...Array.from({ length: 9 }, () => acted({ org: 'umbrella' }))]);
      const query = { orgId: 'acme', most: 3 };
      const [hers, nobodys] = await Promise.all(
        [ann.sub, 'nobody'].map((user) => opened().reader.runsOfUser({ ...query, user })),
      );
      expect(hers?.next).toBe(nobodys?.next);
    });

    test('are looked for in no more entries than a query allows', async () => {
      await commitAll(Array.from({ length: 9 }, (_, at) => acted({ run: `run ${at}` })));
      const { runs, next } = await opened().reader.runsOfUser({ user: ann.sub, most: 4 });
      expect([runs.map(({ run }) => run).toSorted(), next]).toEqual([['run 5', 'run 6', 'run 7', 'run 8'], 6]);
    });
  });

  describe('people', () => {
    test('are those for whom agents acted, who was seen last first', async () => {
      const entries = await commitAll(drafts);
      expect(await everybody({ limit: 100, most: 1000 })).toEqual(expected(entries, {}));
      expect(expected(entries, {}).length).toBeGreaterThan(4);
    });

    test('have at most five agents named, and all counted', async () => {
      await commitAll(Array.from({ length: 9 }, (_, index) => acted({ agent: `bot-${index}` })));
      const [person] = await everybody({ limit: 10, most: 100 });
      expect(person?.agentCount).toBe(9);
      expect(person?.agents.map(({ agentId }) => agentId)).toEqual(['bot-8', 'bot-7', 'bot-6', 'bot-5', 'bot-4']);
    });

    test('are told apart by issuer and subject, letter by letter, whatever they hold', async () => {
      const subs = ['u', 'U', "o'; DROP TABLE audit; --", '%', 'zoë\u0000', ''];
      const users = subs.flatMap((sub) =>
        ['https://a.example', 'https://b.example'].map((issuer) => ({ issuer, sub })),
      );
      await commitAll(users.map((user) => acted({ user: { ...user, email: 'Ann@Example.com' } })));
      const found = await everybody({ limit: 5, most: 100 });
      expect(found.map(({ issuer, sub }) => ({ issuer, sub }))).toEqual(users.toReversed());
      expect(new Set(found.map(({ email }) => email))).toEqual(new Set(['ann@example.com']));
    });

    test('of an org are looked for in its entries alone, so that no page tells when a person acted elsewhere', async () => {
      await commitAll([acted({}), ...Array.from({ length: 9 }, () => acted({ org: 'umbrella' }))]);
      const query = { orgId: 'acme', limit: 10, most: 3 };
      const [anybody, hers] = await Promise.all(
        [query, { ...query, user: ann.sub }].map((each) => opened().reader.people(each)),
      );
      expect(hers?.oldest).toEqual(anybody?.oldest);
      expect(await everybody({ ...query, user: ann.sub })).toMatchObject([{ sub: ann.sub, counts: { allow: 1 } }]);
    });

    test('are counted by what was decided for them, and not by what was asked again', async () => {
      await commitAll([acted({}), acted({ agent: 'boss', isReplay: true, decision: 'deny' })]);
      expect(await everybody({ limit: 10, most: 100 })).toMatchObject([
        { counts: { allow: 1, deny: 0, pending: 0 }, agents: [{ agentId: 'bot' }], agentCount: 1, lastSeq: 1 },
      ]);
    });

    test('of a log without any are nobody', async () => {
      expect(await opened().reader.people({ limit: 10, most: 10 })).toEqual({ people: [], next: null, oldest: null });
      await commitAll([sampleDraft(), sampleDraft()]);
      expect(await opened().reader.people({ limit: 10, most: 10 })).toEqual({ people: [], next: null, oldest: null });
    });

    test('are the same by any filter and in pages of any size, however few entries one query may look at', async () => {
      const entries = await commitAll(drafts);
      await fc.assert(
        fc.asyncProperty(someQuery, async (query) => {
          const found = await everybody(query);
          expect(summed(found)).toEqual(summed(expected(entries, query)));
          if (query.most > entries.length) expect(found).toEqual(expected(entries, query));
        }),
        { numRuns: 100 },
      );
    });
  });
}

const start = 1_700_000_000_000;

interface Acted {
  readonly at?: number;
  readonly org?: string | null;
  readonly team?: string;
  readonly agent?: string;
  readonly decision?: EntryDraft['decision'];
  readonly user?: EntryDraft['user'];
  /** Only what decides has a run. */
  readonly isReplay?: boolean;
  readonly run?: string;
}

const ann = { issuer: 'https://id.example.com', sub: 'u-1', email: 'Ann@Example.com' };

function acted({
  at = start,
  org = 'acme',
  team = 'core',
  agent = 'bot',
  decision = 'allow',
  user = ann,
  isReplay = false,
  run = 'a run',
}: Acted) {
  const lineage = { ...noLineage, org_id: org, team_id: team, agent_id: agent };
  return sampleDraft({ at, lineage, decision, user, ...(isReplay ? {} : { run }) });
}

/** Entries of some people, of everybody else, and of nobody. */
const drafts: readonly EntryDraft[] = Array.from({ length: 70 }, (_, index) =>
  index % 3 === 2
    ? sampleDraft({ at: start + index, lineage: { ...noLineage, org_id: pick(['acme', 'umbrella'], index) } })
    : acted({
        at: start + Math.floor(index / 4),
        org: pick(['acme', 'umbrella', 'acme', null], index),
        team: pick(['core', '', 'search'], index >> 1),
        agent: pick(['bot', 'boss'], index >> 2),
        decision: pick(['allow', 'deny', 'pending', null, 'allow'] as const, index),
        isReplay: index % 7 === 3,
        run: pick(['r', 'R', "o'r"], index >> 1),
        user: {
          issuer: pick(['https://id.example.com', 'https://b.example'], index >> 3),
          sub: pick(['u-1', 'U-1', 'zoë', 'u-2'], index),
          email: pick(['', 'Ann@Example.com', 'U-1'], index >> 2),
        },
      }),
);

const someQuery: fc.Arbitrary<PeopleQuery> = fc.record(
  {
    orgId: fc.constantFrom('acme', 'umbrella', '', 'nobody'),
    teamId: fc.constantFrom('core', '', 'search', 'nobody'),
    user: fc.constantFrom('u-1', 'U-1', 'ANN@example.com', 'ZOË', 'zoë', 'none', ''),
    from: fc.integer({ min: start - 2, max: start + 25 }),
    to: fc.integer({ min: start - 2, max: start + 25 }),
    limit: fc.integer({ min: 1, max: 12 }),
    most: fc.constantFrom(1, 2, 7, 30, 69, 70, 71, 500),
  },
  { requiredKeys: ['limit', 'most'] },
);

const someUserRuns: fc.Arbitrary<UserRunsQuery> = fc.record(
  {
    orgId: fc.constantFrom('acme', 'umbrella', '', 'nobody'),
    teamId: fc.constantFrom('core', '', 'search', 'nobody'),
    user: fc.constantFrom('u-1', 'U-1', 'ANN@example.com', 'ZOË', 'zoë', 'none', ''),
    from: fc.integer({ min: start - 2, max: start + 25 }),
    before: fc.integer({ min: 1, max: 80 }),
    most: fc.constantFrom(1, 2, 7, 30, 69, 70, 71, 500),
  },
  { requiredKeys: ['user', 'most'] },
);

/** The same rule for runs. */
function expectedRuns(entries: readonly SealedEntry[], query: UserRunsQuery): Map<string, number> {
  const { orgId, teamId, user: wanted, from = 0, before = Number.POSITIVE_INFINITY } = query;
  const found = new Map<string, number>();
  for (const { seq, draft } of entries) {
    const { user, run, lineage, at } = draft;
    if (user === undefined || run === undefined || at < from || seq >= before) continue;
    if (user.sub !== wanted && (user.email === '' || !same(user.email, wanted))) continue;
    if (orgId !== undefined && lineage.org_id !== orgId) continue;
    if (teamId !== undefined && lineage.team_id !== teamId) continue;
    found.set(run, Math.max(at, found.get(run) ?? 0));
  }
  return found;
}

/** The rule, entry by entry. */
function expected(entries: readonly SealedEntry[], query: Partial<PeopleQuery>): SeenPerson[] {
  const fitting = entries.toReversed().filter(({ draft: { user, decision, run, lineage, at } }) => {
    if (user === undefined || decision === null || run === undefined) return false;
    const names = [user.sub === query.user, user.email !== '' && same(user.email, query.user)];
    return (
      (query.user === undefined || names.includes(true)) &&
      (query.orgId === undefined || lineage.org_id === query.orgId) &&
      (query.teamId === undefined || lineage.team_id === query.teamId) &&
      at >= (query.from ?? 0) &&
      at < (query.to ?? Number.POSITIVE_INFINITY)
    );
  });
  const keys = [...new Set(fitting.map(({ draft }) => JSON.stringify([draft.user?.issuer, draft.user?.sub])))];
  return keys.map((key) => {
    const own = fitting.filter(({ draft }) => JSON.stringify([draft.user?.issuer, draft.user?.sub]) === key);
    const [last] = own;
    const number = (wanted: string) => own.filter(({ draft }) => draft.decision === wanted).length;
    const ids = own.map(({ draft: { lineage } }) => `${lineage.org_id ?? ''}/${lineage.team_id}/${lineage.agent_id}`);
    const agents = [...new Set(ids)].map((id) => {
      const [orgId = '', teamId = '', agentId = ''] = id.split('/');
      return { orgId, teamId, agentId };
    });
    return {
      issuer: last?.draft.user?.issuer ?? '',
      sub: last?.draft.user?.sub ?? '',
      email: (last?.draft.user?.email ?? '').toLowerCase(),
      lastAt: last?.draft.at ?? 0,
      lastSeq: last?.seq ?? 0,
      counts: { allow: number('allow'), deny: number('deny'), pending: number('pending') },
      agents: agents.slice(0, 5),
      agentCount: agents.length,
    };
  });
}

function same(email: string, wanted = ''): boolean {
  return email.toLowerCase() === wanted.toLowerCase();
}

/** What was counted for whom, over all pages on which a person comes. */
function summed(people: readonly SeenPerson[]): Map<string, SeenPerson['counts']> {
  const sums = new Map<string, SeenPerson['counts']>();
  for (const { issuer, sub, counts } of people) {
    const key = JSON.stringify([issuer, sub]);
    const { allow, deny, pending } = sums.get(key) ?? { allow: 0, deny: 0, pending: 0 };
    sums.set(key, {
      allow: allow + counts.allow,
      deny: deny + counts.deny,
      pending: pending + counts.pending,
    });
  }
  return sums;
}

function pick<Item>(items: readonly Item[], index: number): Item {
  return items[index % items.length] as Item;
}
