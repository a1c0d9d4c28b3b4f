import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

type Overview = RouteOutput<Routes['topologyOverview']>;
type Items = RouteOutput<Routes['topologyTeam']>;
type Tree = { agent: Items['items'][number]; children: Tree[] };
type Stats = RouteOutput<Routes['topologyStats']>;
type Agents = RouteOutput<Routes['listAgents']>;
type Agent = RouteOutput<Routes['getAgent']>;

let gateway: TestGateway;
let orgKey: string;
let teamKey: string;
let strangerKey: string;
let root: Registered;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  root = await gateway.register({ agentId: 'root' }, { name: 'The root', framework: 'langgraph', version: '1.2' });
  const child = await gateway.register({ agentId: 'child' }, { parentAgentId: root.id });
  await gateway.register({ teamId: 'other', agentId: 'grandchild' }, { parentAgentId: child.id });
  await gateway.register({ agentId: 'second' }, { parentAgentId: root.id });
  await gateway.register({ teamId: 'other', agentId: 'solo' });
  await gateway.register({ orgId: 'globex', agentId: 'root' });
  await gateway.register({ orgId: '', teamId: '', agentId: 'lone' });
  await gateway.check(root, { traceId: 't', spanId: '1' });
  await gateway.check(root, { traceId: 't', spanId: '2' });
  await gateway.check(root, { traceId: 't', spanId: 'done' });
  await gateway.complete(root, 't:done');
  await gateway.check(child);
  orgKey = (await makeKey(gateway, { org_id: 'acme', scopes: ['write'] })).key;
  teamKey = (await makeKey(gateway, { org_id: 'acme', team_id: 'core', scopes: ['write'] })).key;
  strangerKey = (await makeKey(gateway, { org_id: 'nobody', scopes: ['write'] })).key;
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function get<Body>(path: string, bearer = bootstrapKey): Promise<Body> {
  const { status, body, text } = await gateway.api.get<Body>(`/api/v1${path}`, bearer);
  expect(status, text).toBe(200);
  return body;
}

async function expectNotFound(path: string, code: string, bearer = bootstrapKey): Promise<void> {
  expect(await gateway.api.get(`/api/v1${path}`, bearer), path).toMatchObject({ status: 404, body: { code } });
}

function names(agents: readonly { agent_id: string }[]): string[] {
  return agents.map((agent) => agent.agent_id).toSorted();
}

const acme = ['child', 'grandchild', 'root', 'second', 'solo'];
const core = ['child', 'root', 'second'];

describe('the overview', () => {
  const moment: unknown = expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/);

  test('shows orgs, teams and agents, with what is in flight', async () => {
    const { orgs, teams, agents, totals } = await get<Overview>('/topology/overview');
    expect(orgs.toSorted((a, b) => a.org_id.localeCompare(b.org_id))).toEqual([
      { org_id: '', teams: 1, agents: 1, in_flight: 0 },
      { org_id: 'acme', teams: 2, agents: 5, in_flight: 3 },
      { org_id: 'globex', teams: 1, agents: 1, in_flight: 0 },
    ]);
    expect(teams).toHaveLength(4);
    expect(teams).toContainEqual({ org_id: 'acme', team_id: 'other', agents: 2, in_flight: 0 });
    expect(totals).toEqual({ orgs: 3, teams: 4, agents: 7, in_flight: 3 });
    expect(agents).toHaveLength(7);
    expect(agents.find((agent) => agent.name === 'The root')).toEqual({
      org_id: 'acme',
      team_id: 'core',
      agent_id: 'root',
      name: 'The root',
      framework: 'langgraph',
      status: 'active',
      suspended_by: null,
      parent: null,
      delegation: null,
      depth: 0,
      last_seen_at: moment,
      in_flight: 2,
      spent_today_usd: '0.00',
      doors: [{ door: 'sdk', first_used_at: moment, last_used_at: moment }],
      uncovered: ['model_calls'],
    });
    expect(agents.find((agent) => agent.agent_id === 'grandchild')).toMatchObject({
      parent: { org_id: 'acme', team_id: 'core', agent_id: 'child' },
      depth: 2,
    });
  });

  test('with org_id has that org only, in every list and count', async () => {
    const { orgs, teams, agents, totals } = await get<Overview>('/topology/overview?org_id=acme');
    expect(orgs).toEqual([{ org_id: 'acme', teams: 2, agents: 5, in_flight: 3 }]);
    expect(teams.map((team) => team.team_id).toSorted()).toEqual(['core', 'other']);
    expect(names(agents)).toEqual(acme);
    expect(totals).toEqual({ orgs: 1, teams: 2, agents: 5, in_flight: 3 });
    expect(names((await get<Overview>('/topology/overview?org_id=')).agents)).toEqual(['lone']);
  });

  const nothing = { orgs: [], teams: [], agents: [], totals: { orgs: 0, teams: 0, agents: 0, in_flight: 0 } };

  test('of an org that is not there is empty', async () => {
    expect(await get('/topology/overview?org_id=nobody')).toEqual(nothing);
  });

  test('shows an org’s key its org, a team’s key its team, and org_id only narrows', async () => {
    const whole = await get<Overview>('/topology/overview?org_id=acme');
    expect(await get('/topology/overview', orgKey)).toEqual(whole);
    expect(await get('/topology/overview?org_id=acme', orgKey)).toEqual(whole);
    const team = await get<Overview>('/topology/overview', teamKey);
    expect(names(team.agents)).toEqual(core);
    expect(team.orgs).toEqual([{ org_id: 'acme', teams: 1, agents: 3, in_flight: 3 }]);
    expect(team.totals).toEqual({ orgs: 1, teams: 1, agents: 3, in_flight: 3 });
    for (const bearer of [orgKey, teamKey]) {
      for (const org of ['globex', '', 'nobody']) {
        expect(await get(`/topology/overview?org_id=${org}`, bearer)).toEqual(nothing);
      }
    }
    expect(await get('/topology/overview', strangerKey)).toEqual(nothing);
  });
});

describe('the tree', () => {
  function shape({ agent, children }: Tree): unknown {
    return [agent.agent_id, ...children.map(shape)];
  }

  test('is an agent and all below it, over the borders of teams', async () => {
    const tree = await get<Tree>('/topology/tree/acme/core/root?org_id=acme');
    expect(shape(tree)).toEqual(['root', ['child', ['grandchild']], ['second']]);
    expect(tree.children[0]?.agent).toMatchObject({ depth: 1, parent: { agent_id: 'root' }, in_flight: 1 });
    expect(shape(await get('/topology/tree/acme/other/solo'))).toEqual(['solo']);
    expect(shape(await get('/topology/tree/-/-/lone'))).toEqual(['lone']);
  });

  test('ends for a team’s key where its team does', async () => {
    expect(shape(await get('/topology/tree/acme/core/root', orgKey))).toEqual([
      'root',
      ['child', ['grandchild']],
      ['second'],
    ]);
    expect(shape(await get('/topology/tree/acme/core/root', teamKey))).toEqual(['root', ['child'], ['second']]);
  });
});

describe('the lineage', () => {
  const line = async (bearer?: string) =>
    (await get<Items>('/topology/lineage/acme/other/grandchild', bearer)).items.map((agent) => agent.agent_id);

  test('is the root first and the agent last', async () => {
    expect(await line()).toEqual(['root', 'child', 'grandchild']);
    expect(await line(orgKey)).toEqual(['root', 'child', 'grandchild']);
    const { items } = await get<Items>('/topology/lineage/acme/core/root?org_id=acme');
    expect(items).toHaveLength(1);
  });

  test('ends for a team’s key where its team does', async () => {
    const other = (await makeKey(gateway, { org_id: 'acme', team_id: 'other' })).key;
    expect(await line(other)).toEqual(['grandchild']);
    await expectNotFound('/topology/lineage/acme/other/grandchild', 'agent_not_found', teamKey);
  });
});

describe('a team', () => {
  test('has its agents', async () => {
    for (const bearer of [bootstrapKey, orgKey, teamKey]) {
      expect(names((await get<Items>('/topology/team/acme/core?org_id=acme', bearer)).items)).toEqual(core);
    }
    expect(names((await get<Items>('/topology/team/-/-')).items)).toEqual(['lone']);
  });

  test('that is not there, not in the org that is asked for, or another tenant’s is a 404 all the same', async () => {
    const paths = [
      '/topology/team/acme/nobody',
      '/topology/team/nobody/core',
      '/topology/team/acme/core?org_id=globex',
    ];
    for (const path of paths) await expectNotFound(path, 'team_not_found');
    await expectNotFound('/topology/team/globex/core', 'team_not_found', orgKey);
    await expectNotFound('/topology/team/-/-', 'team_not_found', orgKey);
    await expectNotFound('/topology/team/acme/other', 'team_not_found', teamKey);
  });
});

describe('the numbers', () => {
  test('count agents, roots, orgs and teams, by status and depth', async () => {
    expect(await get<Stats>('/topology/stats')).toEqual({
      agents: 7,
      roots: 4,
      by_status: { active: 7, suspended: 0 },
      by_depth: { '0': 4, '1': 2, '2': 1 },
      orgs: 3,
      teams: 4,
    });
  });

  test('are of one org with org_id or an org’s key, and of one team with a team’s', async () => {
    const ofAcme = {
      agents: 5,
      roots: 2,
      by_status: { active: 5, suspended: 0 },
      by_depth: { '0': 2, '1': 2, '2': 1 },
      orgs: 1,
      teams: 2,
    };
    expect(await get('/topology/stats?org_id=acme')).toEqual(ofAcme);
    expect(await get('/topology/stats', orgKey)).toEqual(ofAcme);
    expect(await get('/topology/stats', teamKey)).toEqual({
      agents: 3,
      roots: 1,
      by_status: { active: 3, suspended: 0 },
      by_depth: { '0': 1, '1': 2 },
      orgs: 1,
      teams: 1,
    });
    const none = { agents: 0, roots: 0, by_status: { active: 0, suspended: 0 }, by_depth: {}, orgs: 0, teams: 0 };
    expect(await get('/topology/stats?org_id=nobody')).toEqual(none);
    expect(await get('/topology/stats', strangerKey)).toEqual(none);
    expect(await get('/topology/stats?org_id=globex', orgKey)).toEqual(none);
    expect(await get('/topology/stats?org_id=globex', teamKey)).toEqual(none);
  });
});

test('an agent that is not there, in the wrong org or another tenant’s is a 404 all the same, on every route', async () => {
  const routes = (id: string) => [`/topology/tree/${id}`, `/topology/lineage/${id}`, `/agents/${id}`];
  for (const path of [...routes('acme/core/nobody'), ...routes('nobody/core/root'), ...routes('-/-/root')]) {
    await expectNotFound(path, 'agent_not_found');
  }
  for (const path of ['/topology/tree/acme/core/root', '/topology/lineage/acme/core/root']) {
    await expectNotFound(`${path}?org_id=globex`, 'agent_not_found');
    await expectNotFound(`${path}?org_id=`, 'agent_not_found');
  }
  for (const path of [...routes('globex/core/root'), ...routes('-/-/lone')]) {
    await expectNotFound(path, 'agent_not_found', orgKey);
    await expectNotFound(path, 'agent_not_found', teamKey);
  }
  for (const path of routes('acme/other/solo')) await expectNotFound(path, 'agent_not_found', teamKey);
  const own = await gateway.api.get<{ detail: string }>('/api/v1/agents/globex/core/nobody', orgKey);
  const foreign = await gateway.api.get<{ detail: string }>('/api/v1/agents/globex/core/root', orgKey);
  expect(foreign.body.detail.replace('/root', '/nobody')).toBe(own.body.detail);
});

describe('agents', () => {
  test('are listed in the order in which they came, in pages that newcomers do not shift', async () => {
    const made = ['p1', 'p2', 'p3', 'p4', 'p5'];
    for (const agentId of made) await gateway.register({ orgId: 'paged', agentId });
    const seen: string[] = [];
    let cursor = '';
    for (let page = 0; page < 3; page++) {
      const answer = await get<Agents>(`/agents?org_id=paged&per_page=2${cursor}`);
      seen.push(...answer.items.map((agent) => agent.agent_id));
      expect(answer.total).toBe(5);
      expect(answer.next_cursor === null).toBe(page === 2);
      cursor = `&cursor=${answer.next_cursor}`;
      await gateway.register({ orgId: 'paged', agentId: 'p1' });
    }
    expect(seen).toEqual(made);
    for (const agentId of made) await gateway.deregister(await gateway.register({ orgId: 'paged', agentId }));
  });

  test('are narrowed by org, team and status, with totals to match', async () => {
    const find = async (query: string, bearer?: string) => {
      const { items, total } = await get<Agents>(`/agents${query}`, bearer);
      expect(total).toBe(items.length);
      return names(items);
    };
    expect(await find('?org_id=acme')).toEqual(acme);
    expect(await find('?org_id=acme&team_id=core')).toEqual(core);
    expect(await find('?team_id=core')).toEqual([...core, 'root'].toSorted());
    expect(await find('?org_id=')).toEqual(['lone']);
    expect(await find('?status=suspended')).toEqual([]);
    expect(await find('?org_id=acme&status=active')).toEqual(acme);
    expect(await find('', orgKey)).toEqual(acme);
    expect(await find('', teamKey)).toEqual(core);
    expect(await find('?team_id=other', orgKey)).toEqual(['grandchild', 'solo']);
    for (const query of ['?org_id=globex', '?team_id=other', '?org_id='])
      expect(await find(query, teamKey)).toEqual([]);
    expect(await gateway.api.get('/api/v1/agents?status=asleep', bootstrapKey)).toMatchObject({ status: 422 });
  });

  test('are shown with what they registered with', async () => {
    const metadata = { owner: 'Ada', 'cost-centre': '42' };
    const about = { name: 'Full', framework: 'crew', version: '3', metadata, toolNames: ['search', 'mail'] };
    const agent = await gateway.register({ orgId: 'shown', agentId: 'full' }, about);
    await gateway.heartbeat(agent);
    const shown = await get<Agent>('/agents/shown/core/full');
    expect(shown).toMatchObject({
      org_id: 'shown',
      team_id: 'core',
      agent_id: 'full',
      name: 'Full',
      framework: 'crew',
      version: '3',
      status: 'active',
      suspended_reason: null,
      parent: null,
      delegation: null,
      depth: 0,
      metadata,
      tool_names: ['search', 'mail'],
      in_flight: 0,
    });
    expect(Date.parse(shown.last_seen_at)).toBeGreaterThanOrEqual(Date.parse(shown.registered_at));
    expect(JSON.stringify(shown)).not.toContain(agent.token);
    await gateway.deregister(agent);
    await expectNotFound('/agents/shown/core/full', 'agent_not_found');
    await expectNotFound('/topology/team/shown/core', 'team_not_found');
    expect(await get<Stats>('/topology/stats?org_id=shown')).toMatchObject({ agents: 0, orgs: 0, teams: 0 });
  });

  test('whose parent has left keep its name as their parent, and count as before', async () => {
    const parent = await gateway.register({ orgId: 'orphans', agentId: 'parent' });
    await gateway.register({ orgId: 'orphans', agentId: 'orphan' }, { parentAgentId: parent.id });
    await gateway.deregister(parent);
    const { items } = await get<Items>('/topology/lineage/orphans/core/orphan');
    expect(names(items)).toEqual(['orphan']);
    expect(items[0]).toMatchObject({ parent: { agent_id: 'parent' } });
    expect(await get<Stats>('/topology/stats?org_id=orphans')).toMatchObject({ agents: 1, teams: 1 });
  });
});
