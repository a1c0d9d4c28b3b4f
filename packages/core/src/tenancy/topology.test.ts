import { beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { Agent } from './agent.ts';
import type { AgentPlace } from './topology.ts';
import { listAgents, lineageOf, teamOf, topologyStats, treeUnder, visibleAgents } from './topology.ts';
import type { Tree } from './topology.ts';
import { inFlight } from '../ops/find-ops.ts';
import { suspendAgent } from '../testkit/commands.ts';

let world: TestGovernance;
const acme: Principal = { ...operator, orgId: 'acme' };
const search: Principal = { ...acme, teamId: 'search' };
const keys = (agents: Iterable<Agent>) => [...agents].map((agent) => agent.key);

/** acme: boss above helper (in another team) above leaf; umbrella: bot; and one agent without an org. */
beforeAll(async () => {
  world = await testGovernance();
  await world.policies('default: allow');
  await world.register(agentId('acme/search/boss'));
  await world.register(agentId('acme/other/helper'), { parent: agentId('acme/search/boss') });
  await world.register(agentId('acme/search/leaf'), { parent: agentId('acme/other/helper') });
  const bot = await world.register(agentId('umbrella/search/bot'));
  await world.register(agentId('//loose'));
  await world.deregister(await world.register(agentId('acme/search/gone')));
  await world.settle(suspendAgent(world.gov, operator, agentId('acme/search/leaf'), ''));
  await world.check(bot, { traceId: 't1', spanId: 's' });
  await world.check(bot, { traceId: 't2', spanId: 's' });
  await world.complete(bot, 't2:s');
});

describe('who sees whom', () => {
  test.each<[string, Principal, { orgId?: string; teamId?: string }, string[]]>([
    [
      'bound to nothing: everyone',
      operator,
      {},
      ['//loose', 'acme/other/helper', 'acme/search/boss', 'acme/search/leaf', 'umbrella/search/bot'],
    ],
    ['asking for an org: its agents', operator, { orgId: 'umbrella' }, ['umbrella/search/bot']],
    ['asking for no org: those without one', operator, { orgId: '' }, ['//loose']],
    ['bound to an org: its agents', acme, {}, ['acme/other/helper', 'acme/search/boss', 'acme/search/leaf']],
    ['bound to an org, asking for another: nobody', acme, { orgId: 'umbrella' }, []],
    ['bound to a team: its agents', search, {}, ['acme/search/boss', 'acme/search/leaf']],
  ])('%s', (_, by, filter, expected) => {
    expect(keys(visibleAgents(world.gov, by, filter)).toSorted()).toEqual(expected);
    const page = listAgents(world.gov, by, filter, { after: 0, limit: 100 });
    expect(keys(page.agents).toSorted()).toEqual(expected);
    expect(page).toMatchObject({ total: expected.length, next: null });
    expect(topologyStats(world.gov, by, filter).agents).toBe(expected.length);
  });
});

test('a list is cut into pages, in the order in which agents came', () => {
  const seen: string[] = [];
  let after: AgentPlace = 0;
  for (;;) {
    const page = listAgents(world.gov, operator, {}, { after, limit: 2 });
    expect(page.total).toBe(5);
    seen.push(...keys(page.agents));
    if (page.next === null) break;
    after = page.next;
  }
  expect(seen).toEqual(['acme/search/boss', 'acme/other/helper', 'acme/search/leaf', 'umbrella/search/bot', '//loose']);
});

test('a list may show those who are suspended, or those who are not', () => {
  const list = (status: 'active' | 'suspended') => listAgents(world.gov, acme, { status }, { after: 0, limit: 10 });
  expect(keys(list('suspended').agents)).toEqual(['acme/search/leaf']);
  expect(list('suspended').total).toBe(1);
  expect(keys(list('active').agents)).toEqual(['acme/search/boss', 'acme/other/helper']);
  expect(list('active').total).toBe(2);
});

test('a tree has all that stand below, and ends where the sight of the caller does', () => {
  const shape = ({ agent, children }: Tree): unknown => [agent.key, ...children.map(shape)];
  const boss = agentId('acme/search/boss');
  expect(shape(treeUnder(world.gov, acme, boss, {}))).toEqual([
    'acme/search/boss',
    ['acme/other/helper', ['acme/search/leaf']],
  ]);
  expect(shape(treeUnder(world.gov, search, boss, {}))).toEqual(['acme/search/boss']);
});

test('a line of descent has the root first', () => {
  const leaf = agentId('acme/search/leaf');
  expect(keys(lineageOf(world.gov, acme, leaf, {}))).toEqual([
    'acme/search/boss',
    'acme/other/helper',
    'acme/search/leaf',
  ]);
  expect(keys(lineageOf(world.gov, search, leaf, {}))).toEqual(['acme/search/leaf']);
});

test('numbers tell roots, depths, orgs, teams and who is suspended', () => {
  expect(topologyStats(world.gov, operator, {})).toMatchObject({
    agents: 5,
    roots: 3,
    suspended: 1,
    orgs: 3,
    teams: 4,
  });
  const stats = topologyStats(world.gov, acme, {});
  expect(stats).toMatchObject({ agents: 3, roots: 1, suspended: 1, orgs: 1, teams: 2 });
  expect(Object.fromEntries(stats.byDepth)).toEqual({ 0: 1, 1: 1, 2: 1 });
  expect(topologyStats(world.gov, search, {})).toMatchObject({ agents: 2, orgs: 1, teams: 1 });
});

test('what an agent has in flight does not count what is over', () => {
  expect(inFlight(world.gov, world.known(agentId('umbrella/search/bot')))).toBe(1);
});

describe('to a tenant, what is not its own does not exist', () => {
  test.each(['umbrella/search/bot', 'acme/search/gone', 'acme/search/nobody'])('%s', (id) => {
    const gone = expect.objectContaining({ code: 'agent_not_found' });
    expect(() => treeUnder(world.gov, acme, agentId(id), {})).toThrow(gone);
    expect(() => lineageOf(world.gov, acme, agentId(id), {})).toThrow(gone);
  });

  test('a team of another org, or without agents', () => {
    const gone = expect.objectContaining({ code: 'team_not_found' });
    expect(keys(teamOf(world.gov, acme, { orgId: 'acme', teamId: 'search' }, {})).toSorted()).toEqual([
      'acme/search/boss',
      'acme/search/leaf',
    ]);
    expect(() => teamOf(world.gov, acme, { orgId: 'umbrella', teamId: 'search' }, {})).toThrow(gone);
    expect(() => teamOf(world.gov, operator, { orgId: 'acme', teamId: 'nobody' }, {})).toThrow(gone);
    expect(() => teamOf(world.gov, operator, { orgId: 'acme', teamId: 'search' }, { orgId: 'umbrella' })).toThrow(gone);
  });
});
