import { ingest } from '../testkit/registered-ops.ts';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { OpState } from './lifecycle.ts';
import { recordOf } from './op.ts';
import type { OpFilter, OpPage } from './find-ops.ts';
import { listOps } from './find-ops.ts';

const names = ['acme/search/bot', 'acme/search/kid', 'acme/ads/bot', 'umbrella/search/bot', '//bot'] as const;

async function world(ops: number): Promise<TestGovernance> {
  const test = await testGovernance();
  await test.policies('default: allow');
  const agents = [];
  for (const name of names) agents.push(await test.register(agentId(name)));
  for (let i = 0; i < ops; i++) {
    const agent = agents[i % agents.length];
    if (agent === undefined) throw new RangeError('no such agent');
    const via = i % 3 === 2 ? ({ door: 'mcp', name: 'github' } as const) : null;
    await test.check(agent, { traceId: `t${i}`, spanId: 's', runId: `run${i % 3}`, via });
    if (i % 4 === 0) await test.complete(agent, `t${i}:s`);
  }
  return test;
}

const all = Array.from({ length: 20 }, (_, i) => i);
const ids = (numbers: readonly number[]) => numbers.toReversed().map((i) => `t${i}:s`);
const of = (...agents: number[]) => ids(all.filter((i) => agents.includes(i % names.length)));

type Cut = { readonly before?: number | undefined; readonly limit: number };

/** Lists to the end, doing `between` after each step. */
function list(
  { gov }: Pick<TestGovernance, 'gov'>,
  filter: OpFilter,
  cut: Cut,
  by = operator,
  between = () => {},
): OpPage {
  const steps = listOps(gov, by, filter, cut);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    between();
  }
}

function listed(test: TestGovernance, filter: OpFilter = {}, by: Principal = operator): string[] {
  const page = list(test, filter, { limit: 1000 }, by);
  expect(page.next).toBeNull();
  expect(page.total).toBe(page.ops.length);
  return page.ops.map((op) => op.opId);
}

test('operations are listed newest first, those that are over included', async () => {
  expect(listed(await world(20))).toEqual(ids(all));
});

test.each<[string, OpFilter, string[]]>([
  ['org', { orgId: 'acme' }, of(0, 1, 2)],
  ['no org', { orgId: '' }, of(4)],
  ['team, in whatever org', { teamId: 'search' }, of(0, 1, 3)],
  ['org and team', { orgId: 'acme', teamId: 'search' }, of(0, 1)],
  ['agent, in whatever org', { agentId: 'bot' }, of(0, 2, 3, 4)],
  ['the triple', { orgId: 'acme', teamId: 'search', agentId: 'kid' }, of(1)],
  ['run', { runId: 'run1' }, ids(all.filter((i) => i % 3 === 1))],
  ['door', { door: 'mcp' }, ids(all.filter((i) => i % 3 === 2))],
  ['no door', { door: 'sdk', runId: 'run1' }, ids(all.filter((i) => i % 3 === 1))],
  ['a door that none used', { door: 'hook' }, []],
  ['state', { state: 'completing' }, ids(all.filter((i) => i % 4 === 0))],
  ['a state that none is in', { state: 'paused' }, []],
  ['several at once', { orgId: 'acme', runId: 'run0', state: 'running' }, ['t15:s', 't6:s']],
  ['something that nobody has', { orgId: 'nobody' }, []],
])('a filter by %s holds what it says', async (_what, filter, expected) => {
  expect(listed(await world(20), filter)).toEqual(expected);
});

test('a tenant sees its own, and a filter only narrows that', async () => {
  const test = await world(20);
  const umbrella = { ...operator, orgId: 'umbrella' };
  expect(listed(test, {}, umbrella)).toEqual(of(3));
  expect(listed(test, { orgId: 'acme' }, umbrella)).toEqual([]);
  expect(listed(test, { agentId: 'kid' }, umbrella)).toEqual([]);
  expect(listed(test, {}, { ...operator, orgId: 'acme', teamId: 'ads' })).toEqual(of(2));
});

test('listing needs the scope "read"', async () => {
  const test = await world(1);
  expect(() => list(test, {}, { limit: 1 }, { ...operator, scopes: [] })).toThrow(
    expect.objectContaining({ code: 'insufficient_scope' }),
  );
});

test('however it is cut into pages, each operation is on one of them, in order', async () => {
  const test = await world(20);
  const states: readonly (OpState | undefined)[] = [undefined, 'running', 'completing'];
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 25 }), fc.constantFrom(...states), (limit, state) => {
      const whole = list(test, { state }, { limit: 1000 }).ops.map((op) => op.opId);
      const seen: string[] = [];
      let before: number | undefined;
      do {
        const page = list(test, { state }, { before, limit });
        expect(page.ops.length).toBeLessThanOrEqual(limit);
        expect(seen.length).toBeLessThan(whole.length);
        expect(page.total).toBe(whole.length);
        seen.push(...page.ops.map((op) => op.opId));
        before = page.next ?? undefined;
      } while (before !== undefined);
      expect(seen).toEqual(whole);
    }),
  );
});

test('what begins while pages are read does not shift those that follow', async () => {
  const test = await world(20);
  const first = list(test, {}, { limit: 5 });
  const newcomer = await test.register(agentId('acme/search/newcomer'));
  await test.check(newcomer, { traceId: 'new', spanId: 's' });
  const second = list(test, {}, { before: first.next ?? 0, limit: 5 });
  expect(second.ops.map((op) => op.opId)).toEqual(ids(all).slice(5, 10));
  expect(second.total).toBe(21);
});

test('of many thousand the newest are found, wherever they stand', async () => {
  const test = await testGovernance();
  for (let i = 0; i < 50; i++) await test.register(agentId(`acme/many/a${i}`));
  const agents = [...test.gov.directory.registered()];
  // The agents take turns in blocks, so that the newest operations belong to agents in the middle.
  for (let i = 0; i < 30_000; i++) {
    const agent = agents[(Math.floor(i / 700) * 17) % agents.length];
    if (agent !== undefined) ingest(test.gov, agent, `t${i}:s`);
  }
  const page = list(test, {}, { limit: 10 });
  expect(page.ops.map((op) => op.opId)).toEqual(Array.from({ length: 10 }, (_, i) => `t${29_999 - i}:s`));
  expect(page.total).toBe(30_000);
  const middle = list(test, {}, { before: 12_001, limit: 3 });
  expect(middle.ops.map((op) => op.opId)).toEqual(['t11999:s', 't11998:s', 't11997:s']);
});

test('what changes between the steps is shown as it is at the end, and nothing comes twice', async () => {
  const test = await testGovernance();
  const agent = await test.register(agentId('acme/many/bot'));
  await test.register(agentId('acme/many/other'));
  const bot = test.known(agent.id);
  const ops = Array.from({ length: 45_000 }, (_, i) => ingest(test.gov, bot, `t${i}:s`).op);
  let steps = 0;
  const page = list(test, { state: 'pending' }, { before: ops[30_000]?.ordinal, limit: 3 }, operator, () => {
    // The agent moves to the end of the directory, and the newest operation found so far moves on.
    if (++steps === 1) test.gov.directory.put(bot.record, 0);
    const found = ops[29_999];
    if (steps === 2 && found !== undefined)
      test.gov.ops.put(bot, found, { ...recordOf(found), state: 'running' }, { movedAt: 0, seq: 0, isDurable: true });
  });
  expect(steps).toBe(2);
  expect(page.ops.map((op) => op.opId)).toEqual(['t29998:s', 't29997:s']);
  expect(page.total).toBe(45_000);
});

test('after a restart the order is that of registration', async () => {
  const test = await testGovernance();
  await test.policies('default: allow');
  const agents = [await test.register(agentId('acme/search/bot')), await test.register(agentId('acme/ads/bot'))];
  for (let i = 0; i < 6; i++) {
    const agent = agents[i % 2];
    if (agent === undefined) throw new RangeError('no such agent');
    test.clock.advance(10);
    await test.check(agent, { traceId: `t${i}`, spanId: 's' });
  }
  const [first] = agents;
  if (first === undefined) throw new RangeError('no such agent');
  test.clock.advance(10);
  // It moved last, and is still the oldest.
  await test.complete(first, 't0:s');
  const again = await test.crash();
  expect(listed(again)).toEqual(['t5:s', 't4:s', 't3:s', 't2:s', 't1:s', 't0:s']);
  await again.check(first, { traceId: 't6', spanId: 's' });
  expect(listed(again)).toEqual(['t6:s', 't5:s', 't4:s', 't3:s', 't2:s', 't1:s', 't0:s']);
});
