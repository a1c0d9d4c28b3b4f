import * as fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Fact } from '../facts.ts';
import type { Governance } from '../governance.ts';
import { ownWork } from '../journal/warrant.ts';
import { approve } from '../testkit/approvals.ts';
import { delegateAgent } from '../testkit/commands.ts';
import { expectInverses } from '../testkit/expect-inverses.ts';
import { agentId, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { LabelBearer } from './label.ts';

const day = 86_400_000;
const policy = `
name: p
default: allow
rules:
  - { name: mail, effect: allow, tools: [mail], labels: [mail, inbox] }
  - { name: secret, effect: allow, tools: [secret], labels: [secret], labels_of: agent }
  - { name: web, effect: require_approval, tools: [web], labels: [web] }
  - { name: guarded, effect: deny, tools: [post], when: labelled }
`;
const features = {
  compileCondition: () => (its: { run(): { readonly labels: readonly string[] } }) => its.run().labels.length > 0,
};

let world: TestGovernance;
let bot: TestAgent;
let asked = 0;

beforeEach(async () => {
  world = await testGovernance({ features });
  await world.policies(policy);
  bot = await world.register(agentId('acme/search/bot'));
});

const check = (agent: TestAgent, tool: string, runId = '') =>
  world.check(agent, { traceId: `t${++asked}`, spanId: 's', action: useTool(tool), runId });

const inRun = (runId: string): LabelBearer => ({
  of: 'run',
  place: { orgId: 'acme', teamId: 'search', runId, agentId: runId === '' ? 'bot' : '' },
});
const ofAgent = (name: string): LabelBearer => ({
  of: 'agent',
  place: { orgId: 'acme', teamId: 'search', runId: '', agentId: name },
});
const bearers = [inRun(''), inRun('r'), inRun('q'), ofAgent('bot'), ofAgent('mate')];

function picture({ runs }: Pick<Governance, 'runs'>) {
  return {
    runs: [...runs.all()].map(({ name }) => name).sort(),
    labels: bearers.map((bearer) => runs.labels.of(bearer)),
    room: bearers.map((bearer) => runs.labels.mayLabel(bearer)),
    teams: runs.labels.hasTeam({ orgId: 'acme', teamId: 'search' }),
    isEmpty: runs.labels.isEmpty,
    forgotten: ['', 'r', 'q'].map((runId) => runs.forgotten({ agent: bot.id, runId, delegators: [] })),
  };
}

/** Labels that are given, cleared and forgotten. */
const facts: fc.Arbitrary<Fact[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .record({
          bearer: fc.constantFrom(...bearers),
          names: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'mail'), { minLength: 1 }),
          since: fc.nat(9),
        })
        .map(({ bearer, names, since }): Fact => {
          const labels = names.map((name) => ({ name, since, opId: 'o:s', policyRule: 'p/x' }));
          return { kind: 'labels_given', ...bearer, by: agentId('acme/search/bot'), labels };
        }),
    },
    {
      weight: 2,
      arbitrary: fc
        .record({ bearer: fc.constantFrom(...bearers), names: fc.subarray(['a', 'b', 'mail', 'inbox', 'secret']) })
        .map(({ bearer, names }): Fact => ({ kind: 'labels_cleared', ...bearer, names })),
    },
    {
      weight: 1,
      arbitrary: fc
        .record({
          runId: fc.constantFrom('', 'r', 'q'),
          at: fc.option(fc.nat(9), { nil: undefined }),
          drops: fc.boolean(),
        })
        .map(({ runId, at, drops }): Fact => {
          const { place } = inRun(runId);
          return {
            kind: 'runs_forgotten',
            runs: [place],
            ...(at === undefined ? {} : { at }),
            ...(drops ? { dropped: [inRun('q').place] } : {}),
          };
        }),
    },
  ),
  { maxLength: 20 },
);

describe('labels', () => {
  test('that are given, cleared or forgotten and taken back are as they were', async () => {
    await check(bot, 'mail', 'r');
    await check(bot, 'secret');
    await fc.assert(
      fc.asyncProperty(facts, async (list) => {
        expectInverses(world.gov, list, () => picture(world.gov));
        await Promise.resolve();
      }),
      { numRuns: 200 },
    );
  });

  test('are told in the same order after a restart', async () => {
    await check(bot, 'mail', 'r');
    const { approvalId } = await check(bot, 'web', 'r');
    await approve(world, approvalId);
    await check(bot, 'secret', 'r');
    const before = picture(world.gov);
    world = await world.crash();
    expect(picture(world.gov)).toEqual(before);
  });

  test('are told in the same order after a restart, also if clocks differ', async () => {
    const { approvalId } = await check(bot, 'web', 'r');
    await approve(world, approvalId);
    world.clock.setWallClock(-50);
    await check(bot, 'mail', 'r');
    const before = picture(world.gov);
    world = await world.crash();
    expect(picture(world.gov)).toEqual(before);
  });

  test('of a delegate’s call are told once, whoever it acts for', async () => {
    const granted = await world.settle(delegateAgent(world.gov, bot, 'helper'));
    const helper = { id: granted.agentId, token: granted.token };
    for (const tool of ['mail', 'secret', 'web']) await check(helper, tool, 'r');
    const told = (await world.audit()).flatMap(({ payload }) => {
      const { labels } = payload as { readonly labels?: readonly { readonly name: string }[] };
      return labels === undefined ? [] : [labels.map(({ name }) => name)];
    });
    expect(told).toEqual([['mail', 'inbox'], ['secret'], ['web']]);
  });
});

describe('a run that was forgotten', () => {
  const started = async () => (await world.audit()).filter(({ event_type: type }) => type === 'RunStarted');
  const end = async (opId: string) => {
    await world.complete(bot, opId);
    world.clock.advance(31 * day);
  };
  const tidy = () => world.settle(world.gov.journal.turn(ownWork, () => world.gov.runKeeper.save()));

  test('begins anew without its labels, which the log says once', async () => {
    const { opId } = await check(bot, 'mail', 'r');
    expect((await check(bot, 'post', 'r')).decision).toBe('deny');
    await end(opId);
    await tidy();
    expect((await world.store.load()).labels).toEqual([]);
    expect(await started()).toEqual([]);
    // Whoever starts in between knows that it was forgotten.
    world = await world.crash();
    expect((await check(bot, 'post', 'r')).decision).toBe('allow');
    expect((await check(bot, 'post', 'r')).decision).toBe('allow');
    expect(await started()).toMatchObject([{ payload: { run_id: 'r' } }]);
    expect((await world.store.load()).forgottenRuns).toEqual([]);
  });

  test('is forgotten by the check that takes it up, and labels of its agent stay', async () => {
    const { opId } = await check(bot, 'secret', 'r');
    await end(opId);
    expect((await check(bot, 'post', 'r')).decision).toBe('deny');
    expect(await started()).toHaveLength(1);
  });

  test('is not one of which nobody has heard', async () => {
    await check(bot, 'mail', 'new');
    expect(await started()).toEqual([]);
  });
});
