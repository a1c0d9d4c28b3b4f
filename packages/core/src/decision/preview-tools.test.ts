import { expect, test } from 'vitest';
import { decisionCost } from '../policy/condition.ts';
import { agentId } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { previewTools } from './preview-tools.ts';

const bot = agentId('acme/search/bot');

function preview({ gov }: TestGovernance, { id, token }: TestAgent, tools: readonly string[], source = '') {
  return previewTools(gov, { agentId: id, token, source, tools });
}

test('tools that no rule lets through are denied, each once and in order', async () => {
  const test = await testGovernance();
  const agent = await test.register(bot);
  expect(await preview(test, agent, ['b', 'a', 'b'])).toEqual(['b', 'a']);
  await test.policies(`
    name: p
    rules:
      - { name: reading, effect: allow, tools: ["read_*"] }
      - { name: asking, effect: require_approval, tools: [delete] }
      - { name: not-secrets, effect: deny, tools: [read_secret] }
  `);
  const tools = ['read_web', 'delete', 'read_secret', 'other'];
  expect(await preview(test, agent, tools)).toEqual(['read_secret', 'other']);
});

test('only documents that hold for the agent count, and observed ones do not', async () => {
  const test = await testGovernance();
  const agent = await test.register(bot);
  await test.policies(
    'name: all\ndefault: allow',
    'name: mine\nscope: team:acme/search\nrules: [{ name: r, effect: deny, tools: [a] }]',
    'name: theirs\nscope: org:umbrella\nrules: [{ name: r, effect: deny, tools: [b] }]',
    'name: watched\nmode: observe\nrules: [{ name: r, effect: deny, tools: [c] }]',
  );
  expect(await preview(test, agent, ['a', 'b', 'c'])).toEqual(['a']);
});

test('a suspended agent is told what policy says, and nothing is written', async () => {
  const test = await testGovernance();
  const agent = await test.register(bot);
  await test.policies('name: all\ndefault: allow\nrules: [{ name: r, effect: deny, tools: [a] }]');
  test.gov.directory.put({ ...test.known(bot).record, suspension: { at: 0, reason: '', width: 'unbound' } }, 0);
  const commits = test.commits.length;
  expect(await preview(test, agent, ['a', 'b'])).toEqual(['a']);
  test.turn();
  expect(test.commits.length).toBe(commits);
  expect(test.opsOf(bot).size).toBe(0);
});

test('a wrong token, too many names and names too long are refused', async () => {
  const test = await testGovernance();
  const agent = await test.register(bot);
  const many = Array.from({ length: 1001 }, (_, at) => `t${at}`);
  await expect(preview(test, { id: bot, token: 'x' }, ['a'])).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(preview(test, agent, many)).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(preview(test, agent, ['a'.repeat(513)])).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(preview(test, agent, ['a'], 'a'.repeat(513))).rejects.toMatchObject({ code: 'invalid_argument' });
});

test('a long list lets others run in between', async () => {
  const test = await testGovernance();
  const agent = await test.register(bot);
  const { clock } = test;
  // Every look at the clock takes a millisecond.
  const slow = { ...test.gov, clock: { now: () => clock.now(), elapsed: ticking() } };
  const progress = { isDone: false };
  const tools = Array.from({ length: 10 }, (_, at) => `t${at}`);
  const asked = previewTools(slow, { agentId: bot, token: agent.token, source: '', tools }).then((denied) => {
    progress.isDone = true;
    return denied;
  });
  let turns = 0;
  while (!progress.isDone) {
    test.turn();
    turns++;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  expect(await asked).toEqual(tools);
  expect(turns).toBeGreaterThan(3);
});

function ticking(): () => number {
  let at = 0;
  return () => at++;
}

test('tools are looked at until that has cost too much, and the rest is not named', async () => {
  const test = await testGovernance();
  const agent = await test.register(bot);
  const { gov } = test;
  let looked = 0;
  const dear: Pick<typeof gov.policies, 'deniesEveryCall'> = {
    deniesEveryCall: (_agent, _facts, evaluation) => {
      looked++;
      evaluation?.take(decisionCost - 1);
      return true;
    },
  };
  const policies = Object.assign(Object.create(gov.policies) as typeof gov.policies, dear);
  const tools = Array.from({ length: 1000 }, (_, at) => `t${at}`);
  const denied = await previewTools({ ...gov, policies }, { agentId: bot, token: agent.token, source: '', tools });
  expect(denied).toEqual(tools.slice(0, 101));
  expect(looked).toBe(101);
});
