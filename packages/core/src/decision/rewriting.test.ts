import { expect, test } from 'vitest';
import type { PolicyFeatures } from '../policy/condition.ts';
import { decisionCost } from '../policy/condition.ts';
import { approve } from '../testkit/approvals.ts';
import { delegateAgent } from '../testkit/commands.ts';
import type { TestAgent } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { agentId, checkOf, useTool } from '../testkit/requests.ts';
import { twoGateways } from '../testkit/two-gateways.ts';
import { checkAction } from './check-action.ts';

/** A value appends its text to the member `x`, with who was judged. A condition compares `x` with its text. */
const features: PolicyFeatures = {
  compileValue: (source) => (facts) => `${(facts.args() as { x: string }).x}${facts.agent.id.agentId}${source} `,
  compileCondition: (source) => (facts, evaluation) => {
    if (source === 'costly') evaluation?.charge(decisionCost);
    return (facts.args() as { x: string }).x === source;
  },
};

const sent = { traceId: 't', spanId: 's', action: useTool('t', { x: '' }), canRewrite: true };

test('of a delegate, its own rules rewrite first, then those above it, and all judge what comes of it', async () => {
  const g = await testGovernance({ features });
  const boss = await g.register(agentId('acme/red/boss'));
  const rules = (who: string, more = '') =>
    `scope: agent:acme/red/${who}\nname: of-${who}\nrules: [{name: r, effect: allow, rewrite: {x: "!"}}${more}]`;
  const chain = [rules('boss'), 'name: all\nrules: [{name: r, effect: allow, rewrite: {x: "?"}}]', rules('leaf')];
  await g.policies(...chain);
  const below = async (by: TestAgent, name: string): Promise<TestAgent> => {
    const { agentId: id, token } = await g.settle(delegateAgent(g.gov, by, name, {}));
    return { id, token };
  };
  const leaf = await below(await below(boss, 'middle'), 'leaf');
  const after = 'leaf? leaf! middle? boss! boss? ';
  expect(await g.check(leaf, sent)).toMatchObject({ decision: 'allow', argsJson: JSON.stringify({ x: after }) });
  await g.policies(rules('boss', `, {name: no, effect: deny, when: "${after}"}`), ...chain.slice(1));
  const refused = await g.check(leaf, { ...sent, spanId: 's2' });
  expect(refused).toMatchObject({ decision: 'deny', policyRule: 'of-boss/no', argsJson: undefined });
});

test('what a rule above denies of the rewritten call is denied', async () => {
  const g = await testGovernance({ features });
  const boss = await g.register(agentId('acme/red/boss'));
  await g.policies(
    'name: all\nrules: [{name: r, effect: allow}]',
    'scope: agent:acme/red/leaf\nname: of-leaf\nrules: [{name: r, effect: allow, rewrite: {x: "!"}}]',
    'scope: agent:acme/red/boss\nname: of-boss\nrules: [{name: no, effect: deny, when: "leaf! "}]',
  );
  const { agentId: id, token } = await g.settle(delegateAgent(g.gov, boss, 'leaf', {}));
  const answer = await g.check({ id, token }, sent);
  expect(answer).toMatchObject({ decision: 'deny', policyRule: 'of-boss/no', argsJson: undefined });
  expect(answer.reason).toMatch(/^with its arguments rewritten: on behalf of "boss": denied by rule of-boss\/no/);
});

test('a rule that costs too much to try keeps the call from going on without its rewriting', async () => {
  const g = await testGovernance({ features });
  const bot = await g.register(agentId('acme/red/bot'));
  await g.policies(
    'name: p\nrules: [{name: a, effect: allow}, {name: b, effect: allow, when: costly, rewrite: {x: "!"}}]',
  );
  expect(await g.check(bot, sent)).toMatchObject({ decision: 'deny', argsJson: undefined });
});

test('another gateway gives a replay the same arguments, before and after people approve', async () => {
  const policy = 'name: p\nrules: [{effect: allow, rewrite: {x: "!"}}, {effect: require_approval, when: "one! "}]';
  const { one, two, settled, register, follow } = await twoGateways(policy, { features });
  const bot = await register('acme/red/one');
  const ask = async (at: typeof one, canRewrite = true) => {
    await follow();
    return await settled(checkAction(at.gov, checkOf({ agentId: bot.id, token: bot.token, ...sent, canRewrite })));
  };
  const first = await ask(one);
  const argsJson = '{"x":"one! "}';
  expect(first).toMatchObject({ decision: 'pending', argsJson });
  expect(await ask(two)).toMatchObject({ decision: 'pending', approvalId: first.approvalId, argsJson });
  expect(await ask(two, false)).toMatchObject({ decision: 'deny', argsJson: undefined, opState: 'pending' });
  await settled(approve(two, first.approvalId));
  for (const each of [one, two]) expect(await ask(each)).toMatchObject({ decision: 'allow', argsJson });
});

test('an approval of a rewritten call is known after a restart', async () => {
  const g = await testGovernance({ features });
  const bot = await g.register(agentId('acme/red/one'));
  await g.policies('name: p\nrules: [{effect: allow, rewrite: {x: "!"}}, {effect: require_approval, when: "one! "}]');
  const { approvalId } = await g.check(bot, sent);
  await g.settle(approve(g, approvalId));
  const next = await g.crash();
  expect(next.gov.approvals.find(approvalId)).toMatchObject({ state: 'approved', signalSequence: expect.any(Number) });
  expect(await next.check(bot, sent)).toMatchObject({ decision: 'allow', argsJson: '{"x":"one! "}' });
});
