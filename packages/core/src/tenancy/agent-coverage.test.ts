import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Action } from '../action/action.ts';
import { action } from '../action/action.ts';
import type { Via } from '../action/via.ts';
import { agentId, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { AgentUsage } from './agent-coverage.ts';
import { joined, uncoveredBy, unused } from './agent-coverage.ts';
import { saveUses } from './save-uses.ts';
import { ownWork } from '../journal/warrant.ts';

const minute = 60_000;
const github: Via = { door: 'mcp', name: 'github' };
const jira: Via = { door: 'mcp', name: 'jira' };
const openai: Via = { door: 'model', name: 'openai' };
const model = action('llm_call', { model: 'large' });

async function world(): Promise<{ g: TestGovernance; bot: TestAgent }> {
  const g = await testGovernance();
  await g.policies('default: allow');
  return { g, bot: await g.register(agentId('acme/search/bot')) };
}

function usageOf(g: TestGovernance, { id }: TestAgent): AgentUsage {
  return g.known(id).coverage?.usage ?? unused;
}

/** How many uses are written now. */
async function saved(g: TestGovernance): Promise<number> {
  const before = g.commits.length;
  await g.settle(g.gov.journal.turn(ownWork, () => saveUses(g.gov, 1000)));
  return g.commits.slice(before).flatMap(({ changes }) => changes.filter(({ kind }) => kind === 'agent_used')).length;
}

test('an org with many agents does not delay what is known of others', async () => {
  const { g, bot } = await world();
  const crowd = [];
  for (let each = 0; each < 20; each++) crowd.push(await g.register(agentId(`crowd/team/bot-${each}`)));
  for (const agent of crowd) await g.check(agent);
  await g.check(bot);
  const before = g.commits.length;
  expect(await g.settle(g.gov.journal.turn(ownWork, () => saveUses(g.gov, 4)))).toBe(true);
  const written = g.commits.slice(before).flatMap(({ changes }) => changes);
  expect(written.map((change) => change.kind === 'agent_used' && change.use.id.orgId)).toEqual([
    'crowd',
    'acme',
    'crowd',
    'crowd',
  ]);
  expect(await saved(g)).toBe(17);
});

describe('an agent that checks', () => {
  test('is known by its doors, the names behind them, and what it asked for', async () => {
    const { g, bot } = await world();
    const start = g.clock.now();
    expect(usageOf(g, bot)).toEqual(unused);
    await g.check(bot);
    g.clock.advance(2 * minute);
    await g.check(bot, { via: github });
    await g.check(bot, { via: jira });
    await g.check(bot, { action: model, via: openai });
    const later = g.clock.now();
    expect(usageOf(g, bot)).toEqual({
      doors: {
        sdk: { firstAt: start, lastAt: start, names: [] },
        mcp: { firstAt: later, lastAt: later, names: ['github', 'jira'] },
        model: { firstAt: later, lastAt: later, names: ['openai'] },
      },
      families: {
        tools: { firstAt: start, lastAt: later },
        model_calls: { firstAt: later, lastAt: later },
      },
    });
  });

  test('costs one write for each door and minute, and none with a decision', async () => {
    const { g, bot } = await world();
    const before = g.commits.length;
    for (let second = 0; second < 59; second++) {
      await g.check(bot, { via: second % 2 === 0 ? github : jira });
      g.clock.advance(1000);
    }
    const kinds = g.commits.slice(before).flatMap(({ changes }) => changes.map(({ kind }) => kind));
    expect(kinds).not.toContain('agent_used');
    expect(await saved(g)).toBe(1);
    await g.check(bot, { via: github });
    expect(await saved(g)).toBe(0);
    g.clock.advance(1000);
    await g.check(bot, { via: github });
    expect(await saved(g)).toBe(1);
    expect(usageOf(g, bot).doors.mcp).toMatchObject({ lastAt: g.clock.now(), names: ['github', 'jira'] });
  });

  test('is remembered after a kill as far as it was written; what failed is written later', async () => {
    const { g, bot } = await world();
    await g.check(bot, { via: github });
    g.failure = new Error('disk full');
    await expect(saved(g)).rejects.toThrow();
    g.failure = undefined;
    expect(await saved(g)).toBe(1);
    const usage = usageOf(g, bot);
    const again = await g.crash();
    expect(usageOf(again, bot)).toEqual(usage);
    await again.check(bot, { via: jira });
    expect(usageOf(again, bot).doors.mcp?.names).toEqual(['github', 'jira']);
  });

  test('and leaves is forgotten, also by the store', async () => {
    const { g, bot } = await world();
    await g.check(bot, { via: github });
    await saved(g);
    await g.check(bot);
    await g.deregister(bot);
    expect(await saved(g)).toBe(0);
    expect((await g.store.load()).agentUses).toEqual([]);
    const back = await g.register(bot.id);
    expect(usageOf(g, back)).toEqual(unused);
  });

  test('and fails to prove who it is uses no door', async () => {
    const { g, bot } = await world();
    await g.check({ ...bot, token: 'x'.repeat(40) }, { via: github });
    expect(usageOf(g, bot)).toEqual(unused);
  });

  test('keeps the newest 16 names, without secrets', async () => {
    const { g, bot } = await world();
    const secret = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`;
    for (let nth = 0; nth < 40; nth++) await g.check(bot, { via: { door: 'hook', name: `host-${nth}` } });
    await g.check(bot, { via: { door: 'hook', name: secret } });
    const names = usageOf(g, bot).doors.hook?.names ?? [];
    expect(names).toHaveLength(16);
    expect(names[14]).toBe('host-39');
    expect(names.join(' ')).not.toContain(secret);
  });
});

test.each<[string, readonly Action[], readonly string[]]>([
  ['nothing', [], []],
  ['a model alone', [model], ['tools']],
  ['a tool alone', [useTool('x')], ['model_calls']],
  ['a command alone', [action('process_exec', { command: 'ls' })], ['model_calls']],
  ['a result alone', [action('tool_result', { tool: 'x' })], []],
  ['both', [model, action('file_operation', { operation: 'read', path: '/x' })], []],
])('of an agent that asked for %s, what it never asked for is told', async (_what, actions, expected) => {
  const { g, bot } = await world();
  for (const each of actions) await g.check(bot, { action: each });
  expect(uncoveredBy(usageOf(g, bot))).toEqual(expected);
});

const use = fc.tuple(fc.nat(100), fc.nat(100)).map(([a, b]) => ({ firstAt: Math.min(a, b), lastAt: Math.max(a, b) }));
const door = fc.tuple(use, fc.uniqueArray(fc.constantFrom('a', 'b', 'c'))).map(([at, names]) => ({ ...at, names }));
const usages: fc.Arbitrary<AgentUsage> = fc.record({
  doors: fc.record({ sdk: door, mcp: door, model: door, hook: door }, { requiredKeys: [] }),
  families: fc.record({ tools: use, model_calls: use }, { requiredKeys: [] }),
});

/** Which name came last is the one thing that depends on the order. */
function inOrder({ doors, families }: AgentUsage): unknown {
  const sorted = Object.entries(doors).map(([name, each]) => [name, { ...each, names: each.names.toSorted() }]);
  return { doors: Object.fromEntries(sorted) as unknown, families };
}

test('two accounts say the same together, in any order and however often', () => {
  fc.assert(
    fc.property(usages, usages, usages, (one, two, three) => {
      expect(inOrder(joined(one, two))).toEqual(inOrder(joined(two, one)));
      expect(inOrder(joined(joined(one, two), three))).toEqual(inOrder(joined(one, joined(two, three))));
      expect(joined(one, one)).toEqual(one);
      expect(joined(unused, one)).toEqual(one);
    }),
  );
});
