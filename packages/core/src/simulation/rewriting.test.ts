import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RawCheckRequest } from '../action/check-request.ts';
import type { PolicyFeatures } from '../policy/condition.ts';
import { agentId, checkOf, operator, useTool } from '../testkit/requests.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { candidateSet } from './candidate.ts';
import type { ConsiderAgain } from './explain-decision.ts';
import { considerAgain, explainDecision } from './explain-decision.ts';
import { judgeAgain } from './judge-again.ts';
import { simulate } from './simulate.ts';

/** A value appends its text to the member `x`. A condition compares `x` with its text. */
const features: PolicyFeatures = {
  compileValue: (source) => (facts) => `${(facts.args() as { x: string }).x}${source}`,
  compileCondition: (source) => (facts) => (facts.args() as { x: string }).x === source,
};

const policy = `
name: p
rules:
  - { name: a, effect: allow, tools: ["*"], rewrite: { x: "a" } }
  - { name: b, effect: allow, when: "1", rewrite: { x: "b" } }
  - { name: no, effect: deny, when: "0a" }
  - { name: ask, effect: require_approval, when: "1ab" }
  - { name: sent, effect: deny, when: "2" }
  - { name: through, effect: allow, tools: [broken], rewrite: { x.y: "c" } }
`;

async function governed(text = policy, store = new MemoryStore()) {
  const g = await testGovernance({ store, features });
  await g.policies(text);
  return { g, bot: await g.register(agentId('acme/search/bot')) };
}

const asked = (x: string, canRewrite = true, tool = 't'): Partial<RawCheckRequest> => ({
  action: useTool(tool, { x }),
  canRewrite,
});

test('a simulation says of rewritten calls what a check is then answered', async () => {
  const tools = fc.constantFrom('t', 'broken');
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('0', '1', '2', '3'), fc.boolean(), tools, async (x, canRewrite, tool) => {
      const { g, bot } = await governed();
      const members = asked(x, canRewrite, tool);
      const told = simulate(g.gov, operator, checkOf({ agentId: bot.id, ...members }), undefined);
      const answer = await g.check(bot, members);
      const { decision, reason, policyRule } = answer;
      expect(told).toMatchObject({ decision, reason, policyRule });
      const payload = (await g.audit()).find((entry) => entry.op_id === answer.opId)?.payload;
      expect(told.rewrittenArgs).toEqual(payload?.['rewritten_args']);
    }),
  );
});

test('it tells what the arguments become, which rules then match, and no secrets', async () => {
  const { g, bot } = await governed();
  const simulated = (args: object) =>
    simulate(g.gov, operator, checkOf({ agentId: bot.id, action: useTool('t', args), canRewrite: true }), undefined);
  const told = simulated({ x: '0' });
  expect(told).toMatchObject({ decision: 'deny', policyRule: 'p/no', rewrittenArgs: { x: '0a' } });
  expect(told.rules.filter(({ matched }) => matched).map(({ rule, why }) => [rule, why])).toEqual([
    ['a', 'the tool "t" matches *'],
    ['no', 'with its arguments rewritten: its condition holds: 0a'],
  ]);
  expect(simulated({ x: '3', password: 'hunter2' }).rewrittenArgs).toEqual({ x: '3a', password: '[redacted]' });
  expect(simulated({ x: '3', long: 'x'.repeat(20_000) }).rewrittenArgs).toMatchObject({
    sha256: expect.any(String) as string,
  });
});

test('decisions that are judged again by the same policies stay what they were, whatever these rewrite', async () => {
  const { g, bot } = await governed();
  for (const x of ['0', '1', '2', '3']) for (const can of [true, false]) await g.check(bot, asked(x, can));
  const judged = async (text: string) => {
    const set = candidateSet(g.gov, operator, { text, merge: false });
    const entries = await g.store.after(0, Number.MAX_SAFE_INTEGER);
    return judgeAgain(set, entries, (id) => g.gov.directory.find(id)?.record);
  };
  const same = await judged(policy);
  expect(same).toHaveLength(8);
  expect(same.every(({ skipped, changed }) => !skipped && changed === undefined)).toBe(true);
  const changed = (await judged(policy.replace('"0a"', '"3a"'))).flatMap((each) => each.changed ?? []);
  expect(changed.map(({ was, wouldBe, wouldBeRule }) => [was, wouldBe, wouldBeRule])).toEqual([
    ['deny', 'allow', 'p/a'],
    ['allow', 'deny', 'p/no'],
  ]);
});

test('a decision is passed over if the arguments that would be rewritten were not kept', async () => {
  const { g, bot } = await governed('name: p\ndefault: allow');
  await g.check(bot, { action: useTool('t', { x: '3', long: 'x'.repeat(20_000) }) });
  const text = 'name: p\nrules: [{ name: a, effect: allow, rewrite: { x: "a" } }]';
  const set = candidateSet(g.gov, operator, { text, merge: false });
  const entries = await g.store.after(0, Number.MAX_SAFE_INTEGER);
  expect(judgeAgain(set, entries, () => undefined)).toMatchObject([{ skipped: true, changed: undefined }]);
});

test('an explanation tells what the arguments became, and why a rule denied that', async () => {
  const store = new MemoryStore();
  const { g, bot } = await governed(policy, store);
  const { opId } = await g.check(bot, asked('0'));
  const consider: ConsiderAgain = async (...given) => Promise.resolve(considerAgain(g.gov.policies, ...given));
  const told = await explainDecision({ gov: g.gov, log: store, consider }, operator, opId);
  expect(told).toMatchObject({ decision: 'deny', policyRule: 'p/no', rewrittenArgs: { x: '0a' } });
  expect(told.rules.find(({ rule }) => rule === 'no')).toMatchObject({
    matched: true,
    why: 'it decided: with its arguments rewritten: its condition holds: 0a',
  });
});
