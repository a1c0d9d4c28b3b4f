import { describe, expect, test } from 'vitest';
import { groupAgents, lineageEdges, openAtFirst, openForSearch } from './topology-groups.ts';
import type { TopologyAgent } from './topology-model.ts';
import { parseAgentPath } from './topology-model.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');

function agent(path: string, parent: string | null = null, members: Partial<TopologyAgent> = {}): TopologyAgent {
  const ids = parseAgentPath(path);
  if (ids === undefined) throw new Error(path);
  return {
    ...ids,
    name: '',
    framework: '',
    status: 'active',
    suspended_by: null,
    delegation: null,
    parent: parent === null ? null : (parseAgentPath(parent) ?? null),
    depth: parent === null ? 0 : 1,
    last_seen_at: new Date(now).toISOString(),
    in_flight: 1,
    spent_today_usd: '0.10',
    doors: [],
    uncovered: [],
    ...members,
  };
}

const agents = [
  agent('acme/web/child', 'acme/core/root'),
  agent('acme/core/root'),
  agent('acme/core/child', 'acme/core/root', { status: 'suspended' }),
  agent('acme/web/second', 'acme/core/root', { last_seen_at: new Date(0).toISOString() }),
  agent('-/-/lone', null, { spent_today_usd: null }),
];

describe('groups', () => {
  const orgs = groupAgents(agents, now);

  test('are orgs, their teams and the agents of these, by name, with those of no org last', () => {
    expect(
      orgs.map((org) => [org.key, org.teams.map((team) => [team.key, team.members.map((m) => m.agent_id)])]),
    ).toEqual([
      [
        'acme',
        [
          ['acme/core', ['child', 'root']],
          ['acme/web', ['child', 'second']],
        ],
      ],
      ['-', [['-/-', ['lone']]]],
    ]);
  });

  test('come with numbers by condition, what is in flight and what was spent', () => {
    expect(orgs[0]).toMatchObject({
      agents: 4,
      inFlight: 4,
      conditions: { active: 2, idle: 0, silent: 1, suspended: 1 },
      spentUsd: '0.400000',
    });
    expect(orgs[1]).toMatchObject({ agents: 1, spentUsd: null });
  });
});

describe('what is open at first', () => {
  const many = Array.from({ length: 60 }, (_, index) => agent(`acme/team-${index % 6}/bot-${index}`));

  test('is everything where there is little', () => {
    expect([...openAtFirst(groupAgents(agents, now))]).toEqual(['acme', 'acme/core', 'acme/web', '-', '-/-']);
  });

  test('is the only org, or no org, where there is much', () => {
    expect([...openAtFirst(groupAgents(many, now))]).toEqual(['acme']);
    expect([...openAtFirst(groupAgents([...many, agent('globex/core/bot')], now))]).toEqual([]);
  });

  test('after a search is what it found, but not thousands', () => {
    expect(openForSearch(groupAgents(many, now)).size).toBe(7);
    const more = Array.from({ length: 201 }, (_, index) => agent(`acme/core/bot-${index}`));
    expect([...openForSearch(groupAgents(more, now))]).toEqual(['acme']);
  });
});

describe('edges of lineage', () => {
  const orgs = groupAgents(agents, now);
  const edges = (...open: string[]) => lineageEdges(orgs, new Set(open)).map((edge) => `${edge.id} ${edge.agents}`);

  test('run between agents where their teams are open', () => {
    expect(edges('acme', 'acme/core', 'acme/web')).toEqual([
      'acme/core/root>acme/core/child 1',
      'acme/core/root>acme/web/child 1',
      'acme/core/root>acme/web/second 1',
    ]);
  });

  test('run to the team that stands for those inside, as one', () => {
    expect(edges('acme', 'acme/core')).toEqual(['acme/core/root>acme/core/child 1', 'acme/core/root>acme/web 2']);
    expect(edges('acme')).toEqual(['acme/core>acme/web 2']);
  });

  test('are not drawn inside what is closed', () => {
    expect(edges()).toEqual([]);
  });

  test('are left out where the parent is not to be seen', () => {
    const orphans = groupAgents([agent('acme/web/child', 'acme/core/gone')], now);
    expect(lineageEdges(orphans, new Set(['acme', 'acme/web']))).toEqual([]);
  });
});
