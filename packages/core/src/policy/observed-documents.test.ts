import { expect, test } from 'vitest';
import { agentId, useTool } from '../testkit/requests.ts';
import { testGovernance } from '../testkit/test-governance.ts';

const bot = agentId('acme/search/bot');

const enforced = 'name: base\ndefault: deny\nrules:\n  - {name: find, effect: allow, tools: [search, find]}\n';

async function governed(...texts: string[]) {
  const test = await testGovernance();
  await test.policies(...texts);
  const agent = await test.register(bot);
  return {
    check: (tool: string) => test.check(agent, { action: useTool(tool) }),
    observed: async () => (await test.audit()).at(-1)?.payload['observed'],
  };
}

test('an observed document decides nothing, and what it would have done otherwise is recorded', async () => {
  const { check, observed } = await governed(
    enforced,
    'name: strict\nmode: observe\nrules:\n  - {name: no-find, effect: deny, tools: [find]}\n  - {name: rm, effect: allow, tools: [rm]}\n',
  );
  expect(await check('find')).toMatchObject({
    decision: 'allow',
    policyRule: 'base/find',
    observed: [{ document: 'strict', rule: 'strict/no-find', effect: 'deny' }],
  });
  expect(await observed()).toEqual([{ rule: 'strict/no-find', effect: 'deny' }]);
  expect(await check('rm')).toMatchObject({ decision: 'deny', policyRule: 'default' });
  expect(await observed()).toEqual([{ rule: 'strict/rm', effect: 'allow' }]);
});

test('what agrees with the decision, and what no observed rule matches, is not recorded', async () => {
  const rules = 'rules:\n  - {name: also, effect: allow, tools: [search]}\n';
  const { check, observed } = await governed(enforced, `name: same\nmode: observe\n${rules}`);
  expect((await check('search')).observed).toEqual([]);
  expect(await observed()).toBeUndefined();
  expect((await check('find')).observed).toEqual([]);
  expect(await observed()).toBeUndefined();
});

test('of an observed document the strongest rule counts, and each document of the agent’s scopes for itself', async () => {
  const rule = (name: string, effect: string) => `  - {name: ${name}, effect: ${effect}, tools: [search]}\n`;
  const { check } = await governed(
    enforced,
    `name: both\nmode: observe\nrules:\n${rule('b', 'allow')}${rule('c', 'require_approval')}${rule('a', 'deny')}`,
    `name: ask\nmode: observe\nscope: team:acme/search\nrules:\n${rule('people', 'require_approval')}`,
    `name: other\nmode: observe\nscope: org:umbrella\nrules:\n${rule('x', 'deny')}`,
  );
  expect((await check('search')).observed).toEqual([
    { document: 'both', rule: 'both/a', effect: 'deny' },
    { document: 'ask', rule: 'ask/people', effect: 'require_approval' },
  ]);
});

test('the default of an observed document is ignored, and alone it is no policy', async () => {
  const observedOnly = 'name: open\nmode: observe\ndefault: allow\nrules:\n  - {name: all, effect: allow}\n';
  const alone = await governed(observedOnly);
  expect(await alone.check('search')).toMatchObject({ decision: 'deny', reason: 'no policy loaded' });
  expect(await alone.observed()).toEqual([{ rule: 'open/all', effect: 'allow' }]);
  const { check } = await governed('name: closed\nrules: []', observedOnly);
  expect(await check('search')).toMatchObject({ decision: 'deny', policyRule: 'default' });
});
