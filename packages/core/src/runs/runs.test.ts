import * as fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { checkAction } from '../decision/check-action.ts';
import type { Fact } from '../facts.ts';
import type { Governance } from '../governance.ts';
import type { Applying } from '../journal/meaning.ts';
import { ownWork } from '../journal/warrant.ts';
import type { AgentId } from '../kernel/ids.ts';
import type { OpRecord } from '../ops/op.ts';
import { bareRecord } from '../ops/op.ts';
import { approve } from '../testkit/approvals.ts';
import { completeAction, delegateAgent } from '../testkit/commands.ts';
import { expectInverses } from '../testkit/expect-inverses.ts';
import { agentId, checkOf, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { twoGateways } from '../testkit/two-gateways.ts';
import { RunRegistry } from './run-registry.ts';
import type { OpOfRun } from './runs-slice.ts';

const day = 86_400_000;
const policy = `
name: p
default: allow
rules:
  - { name: ask, effect: require_approval, tools: [ask] }
  - { name: "no", effect: deny, tools: ["no"] }
`;

let world: TestGovernance;
let bot: TestAgent;
let asked = 0;

beforeEach(async () => {
  world = await testGovernance();
  await world.policies(policy);
  bot = await world.register(agentId('acme/search/bot'));
});

const check = (agent = bot, members: object = {}, tool = 'search') =>
  world.check(agent, { traceId: `t${++asked}`, spanId: 's', action: useTool(tool), ...members });

const save = (most?: number) => world.settle(world.gov.journal.turn(ownWork, () => world.gov.runKeeper.save(most)));

const countsOf = (agent: AgentId, runId = '', delegators: readonly string[] = []) =>
  world.gov.runs.of({ agent, runId, delegators });

/** Everything that is known of runs, in the order of their names. One without a check has no times. */
function picture({ runs }: Pick<Governance, 'runs'>) {
  return [...runs.all()]
    .map(({ name, startedAt, lastAt, checks, denied, spentMicros, costMicros, agents, underWay }) => ({
      ...{ name, checks, denied, spentMicros, costMicros, underWay },
      ...(checks === 0 ? {} : { startedAt, lastAt }),
      agents: agents.map((each) => ({ ...each })),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

describe('a run', () => {
  test('is its id within an org and team, whichever agents are in it', async () => {
    const mate = await world.register(agentId('acme/search/mate'));
    const others = [
      await world.register(agentId('acme/other/bot')),
      await world.register(agentId('umbrella/search/bot')),
    ];
    await check(bot, { runId: 'r', estimatedCostMicros: 5 });
    await check(mate, { runId: 'r', estimatedCostMicros: 7 });
    for (const other of others) await check(other, { runId: 'r' });
    expect(countsOf(bot.id, 'r')).toMatchObject({ checks: 2, spentMicros: 12 });
    expect(countsOf(mate.id, 'r')).toMatchObject({
      agents: [
        { agentId: 'bot', checks: 1 },
        { agentId: 'mate', checks: 1 },
      ],
    });
    for (const { id } of others) expect(countsOf(id, 'r').checks).toBe(1);
    expect(countsOf(bot.id, 'another')).toEqual({ checks: 0, spentMicros: 0 });
  });

  test('of an agent that sends no id is its own, and no id is taken for it', async () => {
    const mate = await world.register(agentId('acme/search/mate'));
    await check();
    await check();
    await check(mate);
    await check(bot, { runId: '@bot' });
    expect([countsOf(bot.id).checks, countsOf(mate.id).checks, countsOf(bot.id, '@bot').checks]).toEqual([2, 1, 1]);
  });

  test('of a delegate that sends no id is that of whoever stands above all', async () => {
    const delegate = async (by: TestAgent, childId: string) => {
      const { token } = await world.settle(delegateAgent(world.gov, by, childId));
      return { id: { ...by.id, agentId: childId }, token };
    };
    const child = await delegate(bot, 'child');
    const grandchild = await delegate(child, 'grandchild');
    await check(bot);
    await check(child);
    await check(grandchild);
    await check(grandchild, { runId: 'r' });
    expect(countsOf(bot.id)).toMatchObject({ checks: 3 });
    expect(countsOf(bot.id, 'r')).toMatchObject({ checks: 1, agents: [{ agentId: 'grandchild', checks: 1 }] });
    expect(countsOf(child.id).checks).toBe(0);
  });

  test('counts first checks, whatever their answer; replays and moves do not count, and what is over is not under way', async () => {
    const run = { runId: 'r', estimatedCostMicros: 10 };
    const same = { ...run, traceId: 'same', spanId: 's' };
    const { opId } = await check(bot, same);
    await check(bot, same);
    await check(bot, run, 'no');
    const held = await check(bot, run, 'ask');
    expect(countsOf(bot.id, 'r')).toMatchObject({ checks: 3, denied: 1, spentMicros: 20, costMicros: 0, underWay: 2 });
    await world.complete(bot, opId, { actualCostMicros: 4 });
    await approve(world, held.approvalId);
    expect(countsOf(bot.id, 'r')).toMatchObject({ checks: 3, denied: 1, spentMicros: 20, costMicros: 4, underWay: 1 });
    await world.deregister(bot);
    expect(countsOf(bot.id, 'r')).toMatchObject({ checks: 3, underWay: 0 });
  });

  test('names the first agents, however many there are', async () => {
    for (let at = 0; at < 20; at++) await check(await world.register(agentId(`acme/search/a${at}`)), { runId: 'r' });
    const { checks, agents } = world.gov.runs.find({ orgId: 'acme', teamId: 'search', runId: 'r', agentId: '' }) ?? {};
    expect([checks, agents?.length]).toEqual([20, 16]);
  });

  test('does not count a check whose commit fails', async () => {
    await check(bot, { runId: 'old' });
    const before = picture(world.gov);
    world.failure = new Error('the disk is full');
    await expect(check(bot, { runId: 'r' })).rejects.toThrow();
    await expect(check(bot, { runId: 'old' })).rejects.toThrow();
    world.failure = undefined;
    expect(picture(world.gov)).toEqual(before);
  });
});

/** Facts of operations of two agents in a few runs, and of runs that are forgotten. */
const facts: fc.Arbitrary<Fact[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .record({
          agent: fc.constantFrom('bot', 'mate'),
          op: fc.nat(3),
          runId: fc.constantFrom('', 'r', 'q'),
          state: fc.constantFrom('pending' as const, 'running' as const, 'completing' as const, 'terminated' as const),
          at: fc.nat(50),
          cost: fc.nat(9),
          kind: fc.constantFrom('first', 'asked', 'moved', 'settled'),
        })
        .map(({ agent, op: nth, runId, state, at, cost, kind }): Fact => {
          const id = { orgId: 'acme', teamId: 'search', agentId: agent };
          const bare = bareRecord(id, `t${nth}:s`, 1);
          const op: OpRecord = { ...bare, runId, state, updatedAt: at, costMicros: cost, digest: 'd' };
          if (kind === 'asked') return { kind: 'op_asked', op: { ...op, state: 'pending', reservedMicros: cost } };
          if (kind === 'first') {
            const reservedMicros = state === 'running' ? cost : 0;
            return { type: 'ops_change', at, agent: id, op: { ...op, reservedMicros }, checked: true };
          }
          const moved = { type: 'ops_change', at, agent: id, op } as const;
          return kind === 'moved' ? moved : { ...moved, booked: '2026-11-17' };
        }),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('', 'r', 'q').map((runId): Fact => {
        const place = { orgId: 'acme', teamId: 'search', runId, agentId: runId === '' ? 'bot' : '' };
        return { kind: 'runs_forgotten', runs: [place] };
      }),
    },
  ),
  { maxLength: 25 },
);

test('whatever happens to runs and is taken back leaves them as they were', async () => {
  await world.register(agentId('acme/search/mate'));
  await check(bot, { runId: 'r', estimatedCostMicros: 3 });
  await check(bot, {}, 'ask');
  await fc.assert(
    fc.asyncProperty(facts, async (list) => {
      expectInverses(world.gov, list, () => picture(world.gov));
      await Promise.resolve();
    }),
    { numRuns: 200 },
  );
});

test('what is taken back leaves the times of what another gateway did meanwhile', () => {
  const runs = new RunRegistry(1000);
  const checked = (opId: string, at: number): OpOfRun => {
    const op = { ...bareRecord(bot.id, opId, at), runId: 'r', updatedAt: at, digest: 'd' };
    return { op, checked: true };
  };
  const times = () => [...runs.all()].map(({ startedAt, lastAt }) => [startedAt, lastAt]);
  const elsewhere: Applying = { isHere: false, seq: 1, onDurable: (effect) => effect() };
  const here: Applying = { isHere: true, seq: 0, onDurable: () => undefined };
  runs.count(checked('a', 10), elsewhere);
  const takeBack = runs.count(checked('b', 30), here);
  runs.count(checked('c', 20), elsewhere);
  const takeBackEarlier = runs.count(checked('d', 5), here);
  expect(times()).toEqual([[5, 30]]);
  takeBackEarlier();
  takeBack();
  expect(times()).toEqual([[10, 20]]);
});

describe('over a restart', () => {
  test('the same is known, whatever was saved, taken back or forgotten before', async () => {
    const kinds = fc.constantFrom(
      'check',
      'check',
      'check',
      'no',
      'ask',
      'end',
      'save',
      'save one',
      'wait',
      'fail',
      'forget',
    );
    const deeds = fc.array(fc.record({ kind: kinds, runId: fc.constantFrom('', 'a', 'b', 'c'), cost: fc.nat(9) }), {
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(deeds, async (plan) => {
        world = await testGovernance();
        await world.policies(policy);
        bot = await world.register(agentId('acme/search/bot'));
        const running: string[] = [];
        for (const { kind, runId, cost } of plan) {
          const members = { runId, estimatedCostMicros: cost };
          world.clock.advance(1);
          if (kind === 'wait') world.clock.advance(31_000);
          else if (kind === 'save') await save();
          else if (kind === 'save one') await save(1);
          else if (kind === 'end') {
            const opId = running.shift();
            if (opId !== undefined) await world.complete(bot, opId, { actualCostMicros: cost });
          } else if (kind === 'forget') {
            const place = { orgId: 'acme', teamId: 'search', runId, agentId: runId === '' ? 'bot' : '' };
            // Nobody forgets a run with something under way.
            const runs = (world.gov.runs.find(place)?.underWay ?? 0) === 0 ? [place] : [];
            const forget = () => world.gov.journal.apply({ kind: 'runs_forgotten', runs });
            await world.settle(world.gov.journal.turn(ownWork, forget));
          } else if (kind === 'fail') {
            world.failure = new Error('the disk is full');
            const going = check(bot, members);
            await expect(Promise.all([going, save()])).rejects.toThrow();
            world.failure = undefined;
          } else {
            // A save at the same time holds nothing that is not durable.
            const going = checkAction(
              world.gov,
              checkOf(
                {
                  agentId: bot.id,
                  token: bot.token,
                  traceId: `t${++asked}`,
                  spanId: 's',
                  ...members,
                  action: useTool(kind),
                },
                1e9,
              ),
            );
            const saving =
              cost % 3 === 0 ? world.gov.journal.turn(ownWork, () => world.gov.runKeeper.save()) : undefined;
            const [{ decision, opId }] = await world.settle(Promise.all([going, saving]));
            if (decision === 'allow') running.push(opId);
          }
        }
        const before = picture(world.gov);
        const again = await world.crash();
        expect(picture(again.gov)).toEqual(before);
        const third = await again.crash();
        expect(picture(third.gov)).toEqual(before);
      }),
      { numRuns: 60 },
    );
  });

  test('facts that all rows have are not needed', async () => {
    await check(bot, { runId: 'r' });
    expect(world.gov.runKeeper.neededFrom).toBe(0);
    await save();
    expect(world.gov.runKeeper.neededFrom).toBe(world.gov.journal.head.seq);
    expect(await world.store.load()).toMatchObject({ runs: [{ checks: 1 }] });
  });
});

describe('a run is forgotten', () => {
  test('once its operations are over and nothing happened in it for long, with its row; its id is then a new run', async () => {
    const { opId } = await check(bot, { runId: 'open' });
    await check(bot, { runId: 'quiet' }, 'no');
    await save();
    world.clock.advance(29 * day);
    await check(bot, { runId: 'late' }, 'no');
    world.clock.advance(2 * day);
    await save();
    expect(picture(world.gov).map(({ name }) => name)).toEqual(['acme/search/#late', 'acme/search/#open']);
    expect((await world.store.load()).runs.map(({ place }) => place.runId).sort()).toEqual(['late', 'open']);
    await world.complete(bot, opId);
    world.clock.advance(29 * day);
    await save();
    expect(countsOf(bot.id, 'open').checks).toBe(1);
    await check(bot, { runId: 'quiet' });
    expect(countsOf(bot.id, 'quiet').checks).toBe(1);
    world = await world.crash();
    expect(countsOf(bot.id, 'quiet').checks).toBe(1);
  });

  test('by the check itself, if nobody has tidied up yet', async () => {
    world = await testGovernance({
      features: { compileCondition: () => (its) => its.run().checks >= 2 },
    });
    await world.policies('name: p\ndefault: allow\nrules: [{ name: few, effect: deny, when: any }]\n');
    bot = await world.register(agentId('acme/search/bot'));
    for (let at = 0; at < 2; at++) await check(bot, { runId: 'r', traceId: 'only' + at });
    for (const at of [0, 1]) await world.complete(bot, `only${at}:s`);
    expect((await check(bot, { runId: 'r' })).decision).toBe('deny');
    world.clock.advance(31 * day);
    expect((await check(bot, { runId: 'r' })).decision).toBe('allow');
    expect(countsOf(bot.id, 'r')).toMatchObject({ checks: 1, startedAt: world.clock.now() });
  });
});

describe('of two gateways', () => {
  const few = 'name: few\ndefault: allow\nrules: [{ name: few, effect: deny, when: any }]\n';
  const features = { compileCondition: () => (its: { run(): { readonly checks: number } }) => its.run().checks >= 5 };
  const pairOf = async () => {
    const pair = await twoGateways(few, { features });
    const agents: TestAgent[] = [];
    for (const name of ['a', 'b', 'c', 'd']) agents.push(await pair.register(`acme/search/${name}`));
    await pair.follow();
    const ask = ({ gov }: TestGovernance, nth: number, runId = 'r') => {
      const agent = agents[nth % agents.length];
      if (agent === undefined) throw new Error('there is no agent');
      const request = { agentId: agent.id, token: agent.token, traceId: `p${++asked}`, spanId: 's', runId };
      return checkAction(gov, checkOf({ ...request, action: useTool('x') }, 1e9));
    };
    const complete = ({ gov }: TestGovernance, nth: number, opId: string) => {
      const [id, token] = [agents[nth]?.id, agents[nth]?.token ?? ''];
      const members = { actualCostMicros: null, outcome: 'succeeded', detail: '' } as const;
      return completeAction(gov, { agentId: id, token, opId, ...members });
    };
    return { ...pair, ask, complete };
  };

  test('checks at once in one run never pass what a condition lets it have, whichever agents ask', async () => {
    const { one, two, ask, settled, follow } = await pairOf();
    const answers = await settled(
      Promise.all(Array.from({ length: 16 }, (_, at) => ask(at % 2 === 0 ? one : two, at >> 1))),
    );
    expect(answers.filter(({ decision }) => decision === 'allow')).toHaveLength(5);
    await follow();
    expect(picture(one.gov)).toEqual(picture(two.gov));
    expect(picture(one.gov)).toMatchObject([{ checks: 16, denied: 11, underWay: 5 }]);
  });

  test('one forgets what the other takes up at the same moment, and both know the same', async () => {
    const { one, two, ask, complete, settled, follow, clock } = await pairOf();
    const { opId } = await settled(ask(one, 0));
    await follow();
    await settled(complete(two, 0, opId));
    clock.advance(31 * day);
    for (const [first, second] of [
      [one, two],
      [two, one],
    ] as const) {
      const forgetting = first.gov.journal.turn(ownWork, () => first.gov.runKeeper.save());
      const asking = ask(second, 1);
      await settled(Promise.all([forgetting, asking]));
      await follow();
      expect(picture(one.gov)).toEqual(picture(two.gov));
    }
  });

  test('a save of one leaves the other nothing to do', async () => {
    const { one, two, ask, settled, follow } = await pairOf();
    await settled(Promise.all([ask(one, 0), ask(two, 1, 'q')]));
    await follow();
    await settled(one.gov.journal.turn(ownWork, () => one.gov.runKeeper.save()));
    await follow();
    expect([one.gov.runs.rows.hasChanged, two.gov.runs.rows.hasChanged]).toEqual([false, false]);
  });
});
