import { beforeEach, describe, expect, test } from 'vitest';
import { checkAction } from '../../decision/check-action.ts';
import { ownWork } from '../../journal/warrant.ts';
import { approve } from '../../testkit/approvals.ts';
import { expectInverses } from '../../testkit/expect-inverses.ts';
import { agentId, checkOf, useTool } from '../../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../../testkit/test-governance.ts';
import { testGovernance } from '../../testkit/test-governance.ts';
import { twoGateways } from '../../testkit/two-gateways.ts';
import type { Fact } from '../../facts.ts';

let world: TestGovernance;
let bot: TestAgent;
let asked = 0;

beforeEach(async () => {
  world = await testGovernance();
  bot = await world.register(agentId('acme/search/bot'));
});

const check = (agent = bot, tool = 'search', members: object = {}) =>
  world.check(agent, { traceId: `t${++asked}`, spanId: 's', action: useTool(tool), ...members });
const decisions = async (count: number, agent = bot, tool = 'search') => {
  const found: string[] = [];
  for (let at = 0; at < count; at++) found.push((await check(agent, tool)).decision);
  return found;
};
const rates = (list: string, more = '') => world.policies(`name: p\ndefault: allow\n${more}rates: [${list}]\n`);

test('the next check beyond a rate is denied; the reason says when there is room again, and then there is', async () => {
  await rates('{ per: agent, window_secs: 2, max: 2 }');
  const at = world.clock.now();
  expect(await decisions(2)).toEqual(['allow', 'allow']);
  const denied = await check();
  expect(denied).toMatchObject({ decision: 'deny', policyRule: 'p/rate-0', tier: 'global' });
  const room = new Date(at + 2000).toISOString();
  expect(denied.reason).toBe(
    `the rate p/rate-0 is used up: 2 checks of this agent in 2 s; there is room again at ${room}`,
  );
  world.clock.advance(1999);
  expect((await check()).decision).toBe('deny');
  world.clock.advance(1);
  expect(await decisions(3)).toEqual(['allow', 'allow', 'deny']);
});

test('held checks count; denied ones and replays do not', async () => {
  const rules = 'rules: [{ effect: deny, tools: [no] }, { effect: require_approval, tools: [ask] }]\n';
  await rates('{ per: agent, window_secs: 60, max: 3 }', rules);
  expect(await decisions(5, bot, 'no')).toEqual(Array.from({ length: 5 }, () => 'deny'));
  const again = { traceId: 'same', spanId: 's' };
  for (let at = 0; at < 4; at++) expect((await check(bot, 'search', again)).decision).toBe('allow');
  const held = await check(bot, 'ask');
  expect(held.decision).toBe('pending');
  await approve(world, held.approvalId);
  expect(await decisions(2)).toEqual(['allow', 'deny']);
  // What a rate has denied does not count either.
  world.clock.advance(60_100);
  expect(await decisions(4)).toEqual(['allow', 'allow', 'allow', 'deny']);
});

test('actions and tools say what counts', async () => {
  await rates('{ per: agent, window_secs: 60, max: 1, actions: [tool_call], tools: ["pay*"] }');
  expect(await decisions(3)).toEqual(['allow', 'allow', 'allow']);
  expect(await decisions(2, bot, 'pay')).toEqual(['allow', 'deny']);
});

test('agents, teams, orgs and all together are counted, each by themselves', async () => {
  const [mate, other, foreign] = await Promise.all([
    world.register(agentId('acme/search/mate')),
    world.register(agentId('acme/other/x')),
    world.register(agentId('umbrella/search/x')),
  ]);
  const first = async (agents: readonly TestAgent[]) => {
    const found: string[] = [];
    for (const agent of agents) found.push((await check(agent)).decision);
    return found;
  };
  const all = [bot, mate, other, foreign];
  await rates('{ per: agent, window_secs: 60, max: 1 }');
  expect(await first(all)).toEqual(['allow', 'allow', 'allow', 'allow']);
  await rates('{ per: team, window_secs: 60, max: 1 }');
  expect(await first(all)).toEqual(['allow', 'deny', 'allow', 'allow']);
  await rates('{ per: org, window_secs: 60, max: 1 }');
  expect(await first(all)).toEqual(['allow', 'deny', 'deny', 'allow']);
  await rates('{ per: global, window_secs: 60, max: 1 }');
  expect(await first(all)).toEqual(['allow', 'deny', 'deny', 'deny']);
});

test('what everybody may do together is not told to an agent of an org', async () => {
  await rates('{ per: global, window_secs: 60, max: 7 }');
  await decisions(7);
  const { decision, reason } = await check();
  expect(decision).toBe('deny');
  expect(reason).toContain('there is room again at');
  expect(reason).not.toContain('7 checks');
});

test('a document counts within its scope alone, and a rate of it can only lower', async () => {
  const foreign = await world.register(agentId('umbrella/search/x'));
  const global = 'name: p\ndefault: allow\nrates: [{ per: agent, window_secs: 60, max: 3 }]\n';
  await world.policies(global, 'name: a\nscope: org:acme\nrates: [{ per: global, window_secs: 60, max: 2 }]\n');
  expect(await decisions(2, foreign)).toEqual(['allow', 'allow']);
  expect(await decisions(3)).toEqual(['allow', 'allow', 'deny']);
  expect(await decisions(2, foreign)).toEqual(['allow', 'deny']);
  await world.policies(global, 'name: a\nscope: org:acme\nrates: [{ per: agent, window_secs: 60, max: 100 }]\n');
  expect((await check()).decision).toBe('allow');
  expect(await check()).toMatchObject({ decision: 'deny', policyRule: 'p/rate-0' });
});

test('a changed maximum counts on; another window begins anew', async () => {
  await rates('{ per: agent, window_secs: 60, max: 2 }');
  await decisions(2);
  await rates('{ per: agent, window_secs: 60, max: 3 }');
  expect(await decisions(2)).toEqual(['allow', 'deny']);
  await rates('{ per: agent, window_secs: 61, max: 1 }');
  expect(await decisions(2)).toEqual(['allow', 'deny']);
});

test('more rates than can be counted deny', async () => {
  const many = Array.from({ length: 6 }, (_, document) =>
    [`name: d${document}`, 'default: allow', 'rates:']
      .concat(Array.from({ length: 20 }, (__, at) => `  - { per: agent, window_secs: ${100 + at}, max: 9 }`))
      .join('\n'),
  );
  await world.policies(...many.slice(0, 5));
  expect((await check()).decision).toBe('allow');
  await world.policies(...many);
  expect(await check()).toMatchObject({ decision: 'deny', policyRule: 'd5/rate-0' });
});

test('somebody is told at 80 and 95 percent, once in a window', async () => {
  await rates('{ per: agent, window_secs: 60, max: 20 }');
  const told = async () =>
    (await world.audit())
      .filter(({ event_type: type }) => type === 'RateLimitApproached')
      .map(({ payload, policy_rule: rule }) => [rule, (payload as { percent: number }).percent]);
  await decisions(15);
  expect(await told()).toEqual([]);
  await decisions(10);
  expect(await told()).toEqual([
    ['p/rate-0', 80],
    ['p/rate-0', 95],
  ]);
  world = await world.crash();
  world.clock.advance(61_000);
  await decisions(16);
  expect(await told()).toHaveLength(3);
});

describe('over a restart', () => {
  const limit = '{ per: agent, window_secs: 600, max: 5 }';

  test('what the log has counts', async () => {
    await rates(limit);
    await decisions(3);
    world = await world.crash();
    expect(await decisions(3)).toEqual(['allow', 'allow', 'deny']);
  });

  test('what was saved counts, and what came after, each once', async () => {
    await rates(limit);
    await decisions(2);
    const before = world.gov.rates.all();
    await world.settle(world.gov.journal.turn(ownWork, () => world.gov.rateKeeper.save()));
    await decisions(1);
    const all = world.gov.rates.all();
    expect(all).not.toEqual(before);
    const { rates: saved, ratesMark } = await world.store.load();
    expect(saved.map(({ counts }) => counts)).toEqual(before.map(({ counts }) => counts));
    expect(ratesMark).toBeGreaterThan(0);
    world = await world.crash();
    expect(world.gov.rates.all()).toEqual(all);
    expect(await decisions(3)).toEqual(['allow', 'allow', 'deny']);
  });

  test('what is not durable is not saved, and is not counted twice', async () => {
    await rates(limit);
    await decisions(1);
    const going = checkAction(
      world.gov,
      checkOf({ agentId: bot.id, token: bot.token, traceId: 'going', spanId: 's', action: useTool('x') }, 1e9),
    );
    const saving = world.gov.journal.turn(ownWork, () => world.gov.rateKeeper.save());
    await world.settle(Promise.all([going, saving]));
    const all = world.gov.rates.all();
    world = await world.crash();
    expect(world.gov.rates.all()).toEqual(all);
  });

  test('what was on its way during a save is part of the next one', async () => {
    await rates(limit);
    await decisions(1);
    const request = { agentId: bot.id, token: bot.token, traceId: 'going', spanId: 's', action: useTool('x') };
    const going = checkAction(world.gov, checkOf(request, 1e9));
    const save = () => world.gov.journal.turn(ownWork, () => world.gov.rateKeeper.save());
    await world.settle(Promise.all([going, save()]));
    world.clock.advance(31_000);
    await decisions(1, await world.register(agentId('acme/search/other')));
    await world.settle(save());
    const all = world.gov.rates.all();
    world = await world.crash();
    expect(world.gov.rates.all()).toEqual(all);
  });

  test('a save that fails is made again', async () => {
    await rates(limit);
    await decisions(2);
    world.failure = new Error('the disk is full');
    await expect(world.settle(world.gov.journal.turn(ownWork, () => world.gov.rateKeeper.save()))).rejects.toThrow();
    world.failure = undefined;
    world.clock.advance(31_000);
    await world.settle(world.gov.journal.turn(ownWork, () => world.gov.rateKeeper.save()));
    expect((await world.store.load()).rates).toHaveLength(1);
  });

  test('a counter of which nothing counts any more is forgotten, with its row', async () => {
    await rates(limit);
    await decisions(2);
    const save = () => world.settle(world.gov.journal.turn(ownWork, () => world.gov.rateKeeper.save()));
    await save();
    world.clock.advance(3_600_000);
    await save();
    await save();
    expect(world.gov.rates.size).toBe(0);
    expect((await world.store.load()).rates).toEqual([]);
  });
});

test('a check whose commit fails does not count', async () => {
  await rates('{ per: agent, window_secs: 600, max: 1 }');
  world.failure = new Error('the disk is full');
  await expect(check()).rejects.toThrow();
  world.failure = undefined;
  expect(world.gov.rates.size).toBe(0);
  expect(await decisions(2)).toEqual(['allow', 'deny']);
});

test('facts are taken back by their inverses', () => {
  const { gov } = world;
  const key = (secs: number) => `agent.${secs}.${'a'.repeat(24)}`;
  const counted = (at: number, ...secs: number[]): Fact => ({
    kind: 'rates_counted',
    agent: bot.id,
    at,
    counted: secs.map(key),
    told: [{ key: key(2), percent: 80 }],
  });
  const now = world.clock.now();
  const facts = [counted(now, 2, 60), counted(now, 2), counted(now - 500, 2), counted(now + 90_000, 2, 60)];
  expectInverses(gov, facts, () => gov.rates.all());
});

test('two gateways together never allow more', async () => {
  const policy = 'name: p\ndefault: allow\nrates: [{ per: org, window_secs: 60, max: 5 }]\n';
  const { one, two, settled, register, follow } = await twoGateways(policy);
  const agents = [await register('acme/search/a'), await register('acme/search/b')];
  await follow();
  const asking = Array.from({ length: 12 }, (_, at) => {
    const { gov } = at % 2 === 0 ? one : two;
    const agent = agents[at % 3 === 0 ? 0 : 1] ?? agents[0];
    const request = {
      agentId: agent?.id ?? agentId('a/b/c'),
      token: agent?.token ?? '',
      traceId: `c${at}`,
      spanId: 's',
    };
    return checkAction(gov, checkOf({ ...request, action: useTool('x') }, 1e9));
  });
  const answers = await settled(Promise.all(asking));
  expect(answers.filter(({ decision }) => decision === 'allow')).toHaveLength(5);
  await follow();
  expect(one.gov.rates.all()).toEqual(two.gov.rates.all());
  const entries = (await one.audit()).filter(({ event_type: type }) => type === 'RateLimitApproached');
  expect(entries.map(({ payload }) => (payload as { percent: number }).percent)).toEqual([80, 95]);
});
