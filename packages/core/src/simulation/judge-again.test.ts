import { beforeEach, describe, expect, test } from 'vitest';
import { agentId, operator, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { agentKey } from '../kernel/ids.ts';
import { candidateSet } from './candidate.ts';
import type { CompileCondition } from '../policy/condition.ts';
import { agentsOf, judgeAgain } from './judge-again.ts';

/** `big` reads the arguments, and cannot be judged if they were not kept. */
const compileCondition: CompileCondition = () => (facts) => (facts.args() as { n: number }).n > 5;

let world: TestGovernance;
let bot: TestAgent;

beforeEach(async () => {
  world = await testGovernance({ features: { compileCondition } });
  await world.policies('name: p\ndefault: allow\nbudget: { daily_limit_usd: 1 }\n');
  bot = await world.register(agentId('acme/search/bot'));
});

const entries = () => world.store.after(0, Number.MAX_SAFE_INTEGER);
const judged = async (text: string) => {
  const set = candidateSet(world.gov, operator, { text, merge: false });
  return judgeAgain(set, await entries(), (id) => world.gov.directory.find(id)?.record);
};
const denying = 'name: c\ndefault: allow\nrules: [{ name: no, effect: deny, tools: [shell] }]\n';

describe('a decision that is judged again', () => {
  test('is told where it would be another: which, of whom, and by which rule', async () => {
    const { opId } = await world.check(bot, { action: useTool('shell', { n: 1 }) });
    await world.check(bot, { action: useTool('search') });
    const at = world.clock.now();
    expect(await judged(denying)).toEqual([
      {
        at,
        skipped: false,
        changed: {
          recorded: {
            seq: expect.any(Number),
            at,
            opId,
            agent: bot.id,
            resource: 'shell',
            policyRule: 'default',
            action: { type: 'tool_call' },
          },
          was: 'allow',
          wouldBe: 'deny',
          wouldBeRule: 'c/no',
        },
      },
      { at, skipped: false, changed: undefined },
    ]);
  });

  test('counts as allowed by policy where a budget has refused it', async () => {
    const { decision } = await world.check(bot, { action: useTool('shell'), estimatedCostMicros: 2_000_000 });
    expect(decision).toBe('deny');
    expect(await judged('default: allow')).toMatchObject([{ changed: undefined }]);
    expect(await judged(denying)).toMatchObject([{ changed: { was: 'allow', wouldBe: 'deny' } }]);
  });

  test('is passed over where that depends on arguments that were not kept', async () => {
    const long = { n: 9, text: 'x'.repeat(20_000) };
    await world.check(bot, { action: useTool('shell', long) });
    const big = (effect: string, more = '') =>
      `name: c\ndefault: allow\nrules: [{ name: big, effect: ${effect}, when: big }${more}]\n`;
    expect(await judged(big('deny'))).toMatchObject([{ skipped: true, changed: undefined }]);
    // A certain rule of the same strength decides, whatever the uncertain one would say.
    expect(await judged(big('deny', ', { name: no, effect: deny }'))).toMatchObject([
      { skipped: false, changed: { wouldBe: 'deny', wouldBeRule: 'c/no' } },
    ]);
    expect(await judged(big('allow', ', { name: no, effect: deny }'))).toMatchObject([
      { skipped: false, changed: { wouldBeRule: 'c/no' } },
    ]);
    expect(await judged(big('deny', ', { name: ask, effect: require_approval }'))).toMatchObject([{ skipped: true }]);
    expect(await judged(`${big('deny')}mode: observe\n`)).toMatchObject([{ skipped: false }]);
  });
});

test('whom decisions are about is told, each once, with and without an org', async () => {
  const loose = await world.register(agentId('//loose'));
  for (const agent of [bot, loose, bot]) await world.check(agent);
  const decisions = (await entries()).filter(({ canonical }) => canonical.includes('"event_type":"ActionAllowed"'));
  expect(agentsOf(decisions).map(agentKey)).toEqual(['acme/search/bot', '//loose']);
  expect(agentsOf([])).toEqual([]);
});
