import { beforeEach, describe, expect, test } from 'vitest';
import type { Governance } from '../governance.ts';
import { approve, person, reject } from '../testkit/approvals.ts';
import { finish } from '../testkit/controls.ts';
import { agentId, useTool } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { Approval } from './approval.ts';
import { ApprovalRegistry } from './approval-registry.ts';
import type { PageEnd } from './approval-reader.ts';
import type { ApprovalFilter, GrantFilter } from './list-approvals.ts';
import { listApprovals, listGrants } from './list-approvals.ts';

const reader = person('reader', { scopes: ['read'] });
let world: TestGovernance;
/** The approvals in the order of their requests, a second apart. */
let ids: string[];

beforeEach(async () => {
  world = await testGovernance();
  await world.policies('name: p\nrules: [{ name: ask, effect: require_approval }]\n');
  const [bot, other] = [
    await world.register(agentId('acme/search/bot')),
    await world.register(agentId('acme/ads/bot2')),
  ];
  ids = [];
  for (const [at, agent] of [bot, other, bot, other, bot].entries()) {
    const runId = at < 2 ? 'early' : 'late';
    const { approvalId } = await world.check(agent, {
      traceId: `t${at}`,
      spanId: 's',
      runId,
      action: useTool(`x${at}`),
    });
    ids.push(approvalId);
    world.clock.advance(1000);
  }
});

const list = (filter: Partial<ApprovalFilter> = {}, page: { limit?: number; after?: PageEnd } = {}, by = reader) =>
  finish(world, listApprovals(world.gov, by, { state: 'open', ...filter }, { limit: 10, ...page }));
const grants = (filter: Partial<GrantFilter> = {}, page: { limit?: number; after?: PageEnd } = {}, by = reader) =>
  finish(world, listGrants(world.gov, by, { state: 'all', ...filter }, { limit: 10, ...page }));
/** The approvals of a page, by their place in `ids`. */
const placesOf = ({ items }: { readonly items: readonly Approval[] }) => items.map(({ id }) => ids.indexOf(id));

describe('approvals are listed', () => {
  test('page by page, each once, and the last page says that it is the last', async () => {
    const pages: number[][] = [];
    let after: PageEnd | null = null;
    do {
      const page: Awaited<ReturnType<typeof list>> = await list({}, { limit: 2, ...(after === null ? {} : { after }) });
      expect(page.total).toBe(5);
      pages.push(placesOf(page));
      after = page.next;
    } while (after !== null && pages.length < 9);
    expect(pages).toEqual([[0, 1], [2, 3], [4]]);
    expect((await list({}, { limit: 5 })).next).toBeNull();
  });

  test('by agent, team and run', async () => {
    expect(placesOf(await list({ agentId: 'bot' }))).toEqual([0, 2, 4]);
    expect(placesOf(await list({ teamId: 'ads' }))).toEqual([1, 3]);
    expect(placesOf(await list({ runId: 'late' }))).toEqual([2, 3, 4]);
    expect(placesOf(await list({ runId: 'late', agentId: 'bot2' }))).toEqual([3]);
    expect(placesOf(await list({ orgId: 'umbrella' }))).toEqual([]);
  });

  test('by state: what is decided by when it was, all by when they were asked for, the newest first', async () => {
    for (const at of [3, 1]) {
      await reject(world, ids[at] ?? '');
      world.clock.advance(1000);
    }
    expect(placesOf(await list({ state: 'rejected' }))).toEqual([1, 3]);
    expect(placesOf(await list({ state: 'all' }))).toEqual([4, 3, 2, 1, 0]);
    expect(placesOf(await list())).toEqual([0, 2, 4]);
    const rejected = await list({ state: 'rejected' }, { limit: 1 });
    const [first] = rejected.items;
    expect(rejected.next).toEqual({ at: first?.decidedAt, id: first?.id });
    expect(first && rejected.endAt(first)).toEqual(rejected.next);
  });

  test('by who decided, in any letter case, and when; what waits was decided by nobody', async () => {
    await approve(world, ids[0] ?? '', person('ada'));
    await reject(world, ids[1] ?? '', person('ben'));
    expect(placesOf(await list({ state: 'decided' })).toSorted((a, b) => a - b)).toEqual([0, 1]);
    expect(placesOf(await list({ state: 'decided', decidedBy: 'ADA@example.com' }))).toEqual([0]);
    expect(placesOf(await list({ state: 'decided', to: world.clock.now() - 1 }))).toEqual([]);
    for (const filter of [{ decidedBy: 'ada@example.com' }, { from: 1 }, { to: 1 }]) {
      await expect(list(filter)).rejects.toMatchObject({ code: 'invalid_argument' });
    }
  });

  test('to nobody who may not read, and none of another tenant', async () => {
    await expect(list({}, {}, person('x', { scopes: [] }))).rejects.toMatchObject({ code: 'insufficient_scope' });
    const ofAds = person('ads', { orgId: 'acme', teamId: 'ads', scopes: ['read'] });
    expect(placesOf(await list({}, {}, ofAds))).toEqual([1, 3]);
    expect(await list({ teamId: 'search' }, {}, ofAds)).toMatchObject({ items: [], total: 0, next: null });
  });

  test('on another page where a page would have become too large', async () => {
    const { reader: whole, settings } = world.gov.approvals;
    const cutting = {
      approval: whole.approval.bind(whole),
      grant: whole.grant.bind(whole),
      grants: whole.grants.bind(whole),
      approvals: async (query: Parameters<typeof whole.approvals>[0]) => {
        const { items, total } = await whole.approvals(query);
        return { items: items.slice(0, 1), total, cut: true };
      },
    };
    const approvals = new ApprovalRegistry({ reader: cutting, settings, clock: world.clock });
    const gov: Governance = { ...world.gov, approvals };
    const page = await finish(world, listApprovals(gov, reader, { state: 'open' }, { limit: 10 }));
    expect([placesOf(page), page.next?.id]).toEqual([[0], ids[0]]);
  });
});

describe('grants are listed', () => {
  test('page by page, the newest first, by agent and state', async () => {
    const given: (string | null)[] = [];
    for (const at of [0, 1, 2]) {
      const until = world.clock.now() + 10_000 * (at + 1);
      given.push((await approve(world, ids[at] ?? '', person('a'), { grant: { reach: 'until', until } })).grantId);
      world.clock.advance(1000);
    }
    const idsOf = async (...asked: Parameters<typeof grants>) => (await grants(...asked)).items.map(({ id }) => id);
    expect(await idsOf()).toEqual([given[2], given[1], given[0]]);
    expect(await idsOf({ agentId: 'bot2' })).toEqual([given[1]]);
    const page = await grants({}, { limit: 2 });
    expect(page).toMatchObject({ total: 3, next: { at: page.items[1]?.grantedAt, id: given[1] } });
    expect(await idsOf({}, page.next === null ? {} : { after: page.next })).toEqual([given[0]]);
    world.clock.advance(7000);
    expect([await idsOf({ state: 'active' }), await idsOf({ state: 'expired' })]).toEqual([
      [given[2], given[1]],
      [given[0]],
    ]);
    const elsewhere = person('x', { orgId: 'acme', teamId: 'ads' });
    expect(await grants({ teamId: 'search' }, {}, elsewhere)).toMatchObject({ items: [], total: 0, next: null });
  });
});
