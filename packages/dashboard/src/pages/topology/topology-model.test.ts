import { agentPath } from '@reeve/contract/names';
import { describe, expect, test } from 'vitest';
import type { TopologyAgent } from './topology-model.ts';
import { conditionOf, filterAgents, parseAgentPath, silentAfterMs, sortAgents, sumUsd } from './topology-model.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');

function agent(path: string, members: Partial<TopologyAgent> = {}): TopologyAgent {
  const ids = parseAgentPath(path);
  if (ids === undefined) throw new Error(path);
  return {
    ...ids,
    name: '',
    framework: '',
    status: 'active',
    suspended_by: null,
    parent: null,
    delegation: null,
    depth: 0,
    last_seen_at: new Date(now).toISOString(),
    in_flight: 0,
    spent_today_usd: '0.00',
    doors: [],
    uncovered: [],
    ...members,
  };
}

const paths = (agents: readonly TopologyAgent[]) => agents.map(agentPath);

describe('a path', () => {
  test('names an agent with or without org and team, there and back', () => {
    for (const path of ['acme/core/bot', '-/-/lone', 'acme/-/solo']) expect(agentPath(agent(path))).toBe(path);
    expect(parseAgentPath('-/-/lone')).toEqual({ org_id: '', team_id: '', agent_id: 'lone' });
  });

  test('that is not one is nothing', () => {
    for (const path of ['', 'bot', 'a/b', 'a//c', 'a/b/c/d', 'a/b/']) expect(parseAgentPath(path)).toBeUndefined();
  });
});

test('after five minutes without a word an agent is idle, or silent with work in flight, unless it is suspended', () => {
  const seen = (agoMs: number) => new Date(now - agoMs).toISOString();
  expect(conditionOf(agent('a/b/c', { last_seen_at: seen(silentAfterMs) }), now)).toBe('active');
  expect(conditionOf(agent('a/b/c', { last_seen_at: seen(silentAfterMs + 1) }), now)).toBe('idle');
  expect(conditionOf(agent('a/b/c', { last_seen_at: seen(silentAfterMs + 1), in_flight: 1 }), now)).toBe('silent');
  expect(conditionOf(agent('a/b/c', { last_seen_at: seen(1e9), status: 'suspended' }), now)).toBe('suspended');
});

describe('filters', () => {
  const all = [
    agent('acme/core/planner', { name: 'The planner', framework: 'langgraph' }),
    agent('acme/web/bot', { status: 'suspended' }),
    agent('globex/core/bot', { last_seen_at: new Date(0).toISOString(), in_flight: 1, uncovered: ['tools'] }),
    agent('-/-/lone'),
  ];

  test('narrow by org, team and status, with "-" for none', () => {
    expect(paths(filterAgents(all, { org: 'acme' }, now))).toEqual(['acme/core/planner', 'acme/web/bot']);
    expect(paths(filterAgents(all, { org: 'acme', team: 'web' }, now))).toEqual(['acme/web/bot']);
    expect(paths(filterAgents(all, { org: '-' }, now))).toEqual(['-/-/lone']);
    expect(paths(filterAgents(all, { status: 'silent' }, now))).toEqual(['globex/core/bot']);
    expect(paths(filterAgents(all, { uncovered: 'tools' }, now))).toEqual(['globex/core/bot']);
    expect(paths(filterAgents(all, { uncovered: 'model_calls' }, now))).toEqual([]);
    expect(paths(filterAgents(all, { status: 'suspended' }, now))).toEqual(['acme/web/bot']);
  });

  test('find words in path, name and framework, all of them, in any case', () => {
    expect(paths(filterAgents(all, { q: 'PLANNER lang' }, now))).toEqual(['acme/core/planner']);
    expect(paths(filterAgents(all, { q: 'bot globex' }, now))).toEqual(['globex/core/bot']);
    expect(filterAgents(all, { q: 'planner globex' }, now)).toEqual([]);
    expect(filterAgents(all, { q: '  ' }, now)).toBe(all);
  });
});

describe('a sum of money', () => {
  test('is exact where floats are not', () => {
    expect(sumUsd(['0.10', '0.20', '0.000001'])).toBe('0.300001');
    expect(sumUsd(['9007199254.740993', '0.000001'])).toBe('9007199254.740994');
    expect(sumUsd([])).toBe('0.000000');
  });

  test('is not known where a part is not', () => {
    expect(sumUsd(['1.00', null])).toBeNull();
    expect(sumUsd(['1.00', 'much'])).toBeNull();
  });
});

describe('sorting', () => {
  const all = [
    agent('a/t/bot-10', { in_flight: 2, spent_today_usd: '9.00' }),
    agent('a/t/bot-9', { in_flight: 2, spent_today_usd: null }),
    agent('a/s/zed', { in_flight: 0, spent_today_usd: '10.00' }),
  ];

  test('goes by the column, numbers in names as numbers, and by the path where that is equal', () => {
    expect(paths(sortAgents(all, 'agent', false, now))).toEqual(['a/t/bot-9', 'a/t/bot-10', 'a/s/zed']);
    expect(paths(sortAgents(all, 'in_flight', true, now))).toEqual(['a/t/bot-9', 'a/t/bot-10', 'a/s/zed']);
    expect(paths(sortAgents(all, 'team', false, now))).toEqual(['a/s/zed', 'a/t/bot-9', 'a/t/bot-10']);
  });

  test('compares money as money, with what is not known last either way', () => {
    expect(paths(sortAgents(all, 'spent', false, now))).toEqual(['a/t/bot-10', 'a/s/zed', 'a/t/bot-9']);
    expect(paths(sortAgents(all, 'spent', true, now))).toEqual(['a/s/zed', 'a/t/bot-10', 'a/t/bot-9']);
  });
});
