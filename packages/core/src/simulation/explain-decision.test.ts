import { describe, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { agentId, operator, useTool } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { CompileCondition } from '../policy/condition.ts';
import type { ConsiderAgain } from './explain-decision.ts';
import { considerAgain, explainDecision } from './explain-decision.ts';
import { loadPolicies } from '../policy/load-policies.ts';
import { parseSource } from '../policy/parse-source.ts';
import { PastPolicies } from './candidate.ts';
import type { PolicyHistory } from '../policy/store/policy-version.ts';

const bot = agentId('acme/search/bot');

/** `dear` reads the spend, `big` the arguments, `named` the agent. */
const compileCondition: CompileCondition = (source) => (facts) => {
  if (source === 'dear') return facts.spend().agent.day_usd > 1;
  if (source === 'named') return facts.agent.name === 'bot';
  return (facts.args() as { n: number }).n > 5;
};

const features = { compileCondition };

interface Explaining {
  readonly test: TestGovernance;
  readonly explain: (id: string, by?: Principal) => ReturnType<typeof explainDecision>;
}

async function explaining(policy: string, history?: PolicyHistory): Promise<Explaining> {
  const store = new MemoryStore();
  const test = await testGovernance({ store, features });
  await load(test, policy);
  const past = new PastPolicies(history ?? store.policies, (source) => parseSource(source, features));
  const consider: ConsiderAgain = async (by, recorded, agent) => {
    const { policies } = test.gov;
    const { policyVersion } = recorded;
    const set = policyVersion === policies.version ? policies : await past.find(policyVersion);
    return set === undefined ? undefined : considerAgain(set, by, recorded, agent);
  };
  return { test, explain: (id, by = operator) => explainDecision({ gov: test.gov, log: store, consider }, by, id) };
}

async function load(test: TestGovernance, text: string): Promise<void> {
  expect(await test.settle(loadPolicies(test.gov, [{ file: 'p.yaml', text }], features))).toEqual([]);
}

const nobody: PolicyHistory = { find: () => Promise.resolve(undefined) };

describe('an explanation', () => {
  const allowing = 'rules: [{name: all, effect: allow}, {name: big, effect: deny, when: big}]';

  test('judges again by the policies of the time', async () => {
    const { test, explain } = await explaining(allowing);
    const agent = await test.register(bot);
    const { opId } = await test.check(agent, { action: useTool('x', { n: 9 }) });
    await load(test, 'rules: [{name: other, effect: allow}]');
    const found = await explain(opId);
    expect(found).toMatchObject({ decision: 'deny', policyRule: 'p/big', notes: [] });
    expect(found.rules.map(({ rule, matched, why }) => [rule, matched, why])).toEqual([
      ['all', true, 'it is about every action'],
      ['big', true, 'it decided: its condition holds: big'],
    ]);
  });

  test('has no rules where the policies of the time are not known any more, and says so', async () => {
    const { test, explain } = await explaining(allowing, nobody);
    const agent = await test.register(bot);
    const { opId } = await test.check(agent, { action: useTool('x', { n: 1 }) });
    const version = test.gov.policies.version;
    await load(test, 'default: allow');
    const found = await explain(opId);
    expect(found).toMatchObject({ decision: 'allow', policyRule: 'p/all', policyVersion: version, rules: [] });
    expect(found.notes).toEqual([
      `the policies of version ${version} are not known any more, so their rules cannot be told`,
    ]);
  });

  test('does not judge by present spend what was decided by that of the time', async () => {
    const { test, explain } = await explaining(
      'rules: [{name: all, effect: allow}, {name: dear, effect: deny, when: dear}]',
    );
    const agent = await test.register(bot);
    const { opId } = await test.check(agent, { estimatedCostMicros: 5_000_000 });
    expect((await test.check(agent)).policyRule).toBe('p/dear');
    const found = await explain(opId);
    expect(found.decision).toBe('allow');
    expect(found.rules[1]).toMatchObject({ matched: false, why: 'its condition does not hold: dear' });
  });

  test('of an agent that nobody knows any more does not make up its name', async () => {
    const { test, explain } = await explaining(
      'default: deny\nrules: [{name: named, effect: allow, when: named}, {name: two, effect: deny, when: named}]',
    );
    const agent = await test.register(bot, { name: 'other' });
    const { opId } = await test.check(agent);
    test.gov.directory.remove(test.known(bot));
    const found = await explain(opId);
    expect(found.notes).toEqual([
      'the agent is not registered any more, so its name, framework and metadata are not known',
    ]);
    expect(found.rules.map(({ matched }) => matched)).toEqual([false, false]);
    expect(found.rules[0]?.why).toBe(
      'could not be judged again: the agent is not registered any more; it did not match then, or it would have decided',
    );
  });

  test('says where the agent was registered anew since', async () => {
    const { test, explain } = await explaining('default: allow');
    const agent = await test.register(bot);
    const { opId } = await test.check(agent);
    test.clock.advance(5);
    await test.register(bot, { name: 'new' });
    expect((await explain(opId)).notes).toEqual([
      'the agent was registered again since; its name, framework and metadata are the present ones',
    ]);
  });

  test('lets a rule that could not be judged again count only where it cannot have decided', async () => {
    const { test, explain } = await explaining(
      'rules: [{name: named, effect: deny, when: named}, {name: no, effect: deny}, {name: later, effect: deny, when: named}]',
    );
    const agent = await test.register(bot, { name: 'other' });
    const { opId } = await test.check(agent);
    test.gov.directory.remove(test.known(bot));
    const { rules, policyRule } = await explain(opId);
    expect(policyRule).toBe('p/no');
    expect(rules.map(({ rule, matched, why }) => [rule, matched, why.includes('did not match then')])).toEqual([
      ['named', false, true],
      ['no', true, false],
      ['later', false, false],
    ]);
  });
});

describe('the decision that an id means', () => {
  test('is found among many replays', async () => {
    const { test, explain } = await explaining('default: allow');
    const agent = await test.register(bot);
    const check = { traceId: 't', spanId: 's' };
    await test.check(agent, check);
    for (let time = 0; time < 1100; time++) await test.check(agent, check);
    expect((await explain('t:s')).decision).toBe('allow');
    expect((await explain('acme/search/bot/t:s')).decision).toBe('allow');
  });

  test('is the newest, where an id was used again', async () => {
    const { test, explain } = await explaining('rules: [{name: a, effect: allow, tools: [a]}]');
    const agent = await test.register(bot);
    const check = { traceId: 't', spanId: 's' };
    await test.check(agent, { ...check, action: useTool('b') });
    test.clock.advance(120_000);
    test.gov.ops.sweep();
    await test.check(agent, { ...check, action: useTool('a') });
    expect((await explain('t:s')).decision).toBe('allow');
  });

  test('is addressed with "-" where there is no org or team', async () => {
    const { test, explain } = await explaining('default: allow');
    const agent = await test.register(agentId('//lone'));
    const { opId } = await test.check(agent);
    expect((await explain(`-/-/lone/${opId}`)).decision).toBe('allow');
    await expect(explain(`acme/-/lone/${opId}`)).rejects.toMatchObject({ code: 'decision_not_found' });
  });

  test('needs the scope to read, and does not exist for another tenant', async () => {
    const { test, explain } = await explaining('default: allow');
    const { opId } = await test.check(await test.register(bot));
    await expect(explain(opId, { ...operator, scopes: [] })).rejects.toMatchObject({ code: 'insufficient_scope' });
    const elsewhere = { ...operator, orgId: 'acme', teamId: 'red' };
    await expect(explain(opId, elsewhere)).rejects.toMatchObject({ code: 'decision_not_found' });
  });
});
