import { beforeEach, describe, expect, test } from 'vitest';
import { action } from '../action/action.ts';
import { forgetEndedDelegations } from '../control/forget-delegations.ts';
import { timestamp } from '../kernel/index.ts';
import type { CompileCondition } from '../policy/condition.ts';
import { decisionCost } from '../policy/condition.ts';
import { loadPolicies } from '../policy/load-policies.ts';
import { mostNewDelegates } from '../tenancy/delegate-agent.ts';
import type { DelegateRequest } from '../tenancy/delegate-agent.ts';
import { endLapsedDelegations } from '../tenancy/end-delegation.ts';
import { ownWork } from '../journal/warrant.ts';
import { approve, person, reject } from '../testkit/approvals.ts';
import { approveAction, delegateAgent, resumeAgent, revokeDelegation, suspendAgent } from '../testkit/commands.ts';
import { agentId, operator, useTool } from '../testkit/requests.ts';
import { runAsked } from './check-facts.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';

const bossId = agentId('acme/search/boss');
const childId = agentId('acme/search/child');

let g: TestGovernance;
let boss: TestAgent;

beforeEach(async () => {
  g = await testGovernance();
  await g.policies('default: allow');
  boss = await g.register(bossId);
});

async function delegate(by: TestAgent, child: string, members: Partial<DelegateRequest> = {}): Promise<TestAgent> {
  const { agentId: id, token } = await g.settle(delegateAgent(g.gov, by, child, members));
  return { id, token };
}

const dollars = (usd: number) => usd * 1_000_000;
const delegationOf = (id = childId) => g.gov.directory.delegations.of(g.known(id));

test('an operation of a delegate ends nowhere where not all of a delegator could be read: its cost counts for what is not known', async () => {
  const middle = await delegate(boss, 'middle');
  const child = await delegate(middle, 'child');
  const { opId } = await g.check(child, { estimatedCostMicros: 5 });
  const [own, above] = [delegationOf(), delegationOf(middle.id)];
  g.gov.directory.outOfService.add({ agents: ['acme/search/middle'], orgs: [], everything: false });
  await expect(g.complete(child, opId)).rejects.toMatchObject({ code: 'store_unavailable' });
  expect([delegationOf(), delegationOf(middle.id)]).toEqual([own, above]);
  expect(g.gov.ops.withId(opId)).toMatchObject([{ state: 'running', reservedMicros: 5 }]);
});

describe('what a delegate may do', () => {
  test('is what policy allows to itself and to every delegator, each by its own name', async () => {
    const [middle, leaf] = [agentId('acme/search/middle'), agentId('acme/search/leaf')];
    await g.policies(
      'default: allow',
      'scope: agent:acme/search/boss\nname: of-boss\nrules: [{name: no, effect: deny, tools: [a]}]',
      'scope: agent:acme/search/middle\nname: of-middle\nrules: [{name: no, effect: deny, tools: [b]}]',
      'scope: agent:acme/search/leaf\nname: of-leaf\nrules: [{name: no, effect: deny, tools: [c]}]',
    );
    const below = await delegate(boss, middle.agentId);
    const agent = await delegate(below, leaf.agentId);
    expect(await g.check(agent, { action: useTool('a') })).toMatchObject({
      decision: 'deny',
      policyRule: 'of-boss/no',
      reason: expect.stringMatching(/^on behalf of "boss": /),
    });
    expect(await g.check(agent, { action: useTool('b') })).toMatchObject({
      decision: 'deny',
      policyRule: 'of-middle/no',
    });
    expect(await g.check(agent, { action: useTool('c') })).toMatchObject({
      decision: 'deny',
      policyRule: 'of-leaf/no',
    });
    expect(await g.check(agent, { action: useTool('d') })).toMatchObject({ decision: 'allow' });
    // Nobody below speaks for those above.
    expect(await g.check(boss, { action: useTool('b') })).toMatchObject({ decision: 'allow' });
  });

  test('counts for the run of its delegator, whatever its name', async () => {
    for (const name of ['one', 'two']) {
      const child = await delegate(boss, name);
      for (let nth = 0; nth < 3; nth++) await g.check(child, { runId: 'r', estimatedCostMicros: 10 });
    }
    expect(g.gov.runs.of(runAsked(bossId, 'r'))).toMatchObject({ checks: 6, spentMicros: 60 });
  });

  test('is not what was granted to somebody else who had its id', async () => {
    await g.policies('default: allow\nrules: [{name: ask, effect: require_approval}]');
    const before = await g.register(childId);
    const { approvalId } = await g.check(before);
    const wish = { reach: 'until', until: g.clock.now() + 86_400_000 } as const;
    await approve(g, approvalId, person('dev'), { grant: wish });
    expect((await g.check(before)).decision).toBe('allow');
    await g.deregister(before);
    const child = await delegate(boss, 'child');
    expect((await g.check(child)).decision).toBe('pending');
  });

  test('waits for people on the strictest terms of all who are asked about', async () => {
    await g.policies(
      'default: allow\nname: all\nrules: [{name: ask, effect: require_approval, approvals: {ttl_secs: 600}}]',
      'scope: agent:acme/search/boss\nname: of-boss\nrules: [{name: ask, effect: require_approval, approvals: {count: 2, ttl_secs: 60, grants: false}}]',
    );
    const child = await delegate(boss, 'child');
    const { decision, approvalId } = await g.check(child);
    expect(decision).toBe('pending');
    const approval = g.gov.approvals.find(approvalId);
    expect(approval).toMatchObject({ required: 2, rules: ['all/ask', 'of-boss/ask'], isGrantable: false });
    expect((approval?.expiresAt ?? 0) - g.clock.now()).toBe(60_000);
  });

  test('is bounded by the lists of every delegation above it', async () => {
    const middle = await delegate(boss, 'middle', { actions: ['tool_call', 'llm_call'], tools: ['read_*', 'x'] });
    const leaf = await delegate(middle, 'leaf', { tools: ['read_mail', 'write_mail'] });
    const checkOf = (tool: string) => g.check(leaf, { action: useTool(tool) });
    expect(await checkOf('read_mail')).toMatchObject({ decision: 'allow' });
    expect(await checkOf('read_all')).toMatchObject({ decision: 'deny', policyRule: 'delegation' });
    // It has given more than it has.
    expect(await checkOf('write_mail')).toMatchObject({ decision: 'deny', policyRule: 'delegation' });
    const file = action('file_operation', { operation: 'read', path: '/tmp/x' });
    expect(await g.check(leaf, { action: file })).toMatchObject({
      decision: 'deny',
      policyRule: 'delegation',
      reason: 'the delegation of "middle" by "boss" does not cover file_operation',
    });
    // Tools are looked at for calls of tools alone.
    expect(await g.check(leaf, { action: action('llm_call', { model: 'm' }) })).toMatchObject({ decision: 'allow' });
  });

  test('is bounded by the number of checks of every delegation above it; denied ones count, repeated ones do not', async () => {
    await g.policies('default: allow\nname: p\nrules: [{name: no, effect: deny, tools: [no]}]');
    const middle = await delegate(boss, 'middle', { maxChecks: 3 });
    const [one, two] = [await delegate(middle, 'one'), await delegate(middle, 'two', { maxChecks: 1 })];
    const again = { traceId: 't', spanId: 's' };
    expect(await g.check(one, again)).toMatchObject({ decision: 'allow' });
    for (let time = 0; time < 3; time++) expect(await g.check(one, again)).toMatchObject({ decision: 'allow' });
    expect(await g.check(two, { action: useTool('no') })).toMatchObject({ decision: 'deny', policyRule: 'p/no' });
    // What does not fit counts nowhere: it takes nothing from those beside it.
    for (let time = 0; time < 3; time++) {
      expect(await g.check(two)).toMatchObject({ decision: 'deny', policyRule: 'delegation' });
    }
    expect(await g.check(middle)).toMatchObject({ decision: 'allow' });
    expect(await g.check(one)).toMatchObject({
      decision: 'deny',
      policyRule: 'delegation',
      reason: 'the delegation of "middle" by "boss" allows 3 checks, and they are used up',
    });
    expect(await g.check(one, again)).toMatchObject({ decision: 'allow' });
    expect(delegationOf(middle.id)).toMatchObject({ checks: 3 });
  });

  test('is nothing to delegate once no checks are left, by its own delegation or by one above', async () => {
    const child = await delegate(boss, 'child', { maxChecks: 1 });
    const lower = await delegate(child, 'lower');
    const none = await delegate(boss, 'none', { maxChecks: 0 });
    const reason = 'the delegation of "none" by "boss" allows 0 checks, and they are used up';
    await expect(delegate(none, 'more')).rejects.toMatchObject({ code: 'delegation_used_up', message: reason });
    await g.check(lower);
    for (const [by, id] of [
      [child, 'lower'],
      [child, 'more'],
      [lower, 'more'],
    ] as const) {
      await expect(delegate(by, id)).rejects.toMatchObject({ code: 'delegation_used_up' });
    }
    // What was delegated can still be ended.
    await g.settle(revokeDelegation(g.gov, child, 'lower'));
    expect(g.gov.directory.find(agentId('acme/search/more'))).toBeUndefined();
    await delegate(boss, 'child', { maxChecks: 2 }).then((again) => delegate(again, 'more'));
  });

  test('is used up by checks that are refused before policy, once the delegate has proven who it is', async () => {
    const child = await delegate(boss, 'child', { maxChecks: 3 });
    const lower = await delegate(child, 'lower');
    expect(await g.check({ ...lower, token: 'x'.repeat(40) })).toMatchObject({ policyRule: 'identity' });
    expect(delegationOf()?.checks).toBe(0);
    expect(await g.check(lower, { subjectToken: 'x' })).toMatchObject({ policyRule: 'identity' });
    expect(delegationOf()?.checks).toBe(1);
    await g.settle(suspendAgent(g.gov, operator, childId, ''));
    expect(await g.check(child)).toMatchObject({ reason: 'agent is suspended' });
    expect(await g.check(lower)).toMatchObject({ reason: 'delegator is suspended' });
    expect(await g.check(lower)).toMatchObject({ reason: 'delegator is suspended' });
    expect([delegationOf()?.checks, delegationOf(lower.id)?.checks]).toEqual([3, 2]);
    await g.settle(resumeAgent(g.gov, operator, childId, ''));
    expect(await g.check(lower)).toMatchObject({
      policyRule: 'delegation',
      reason: expect.stringContaining('used up'),
    });
    const next = await g.crash();
    expect(next.gov.directory.delegations.of(next.known(childId))?.checks).toBe(3);
  });

  test('is not decided by whoever has registered a delegator, then or since', async () => {
    await g.policies('default: allow\nrules: [{name: ask, effect: require_approval}]');
    const child = await delegate(await delegate(boss, 'middle'), 'child');
    const { approvalId } = await g.check(child);
    const later = person('later', { teamId: 'search', orgId: 'acme' });
    boss = await g.register(bossId, {}, later);
    for (const verdict of [approve, reject]) {
      await expect(verdict(g, approvalId, later)).rejects.toMatchObject({ code: 'own_approval' });
    }
    const { opId } = await g.check(child, { action: useTool('x') });
    expect(opId).not.toBe('');
    await g.settle(suspendAgent(g.gov, person('other'), childId, ''));
    await expect(g.settle(resumeAgent(g.gov, later, childId, ''))).rejects.toMatchObject({ code: 'own_agent' });
  });

  test('costs what is enforced first: observed documents take nothing from those of a delegator', async () => {
    const compileCondition: CompileCondition = (source) => (_facts, evaluation) => {
      evaluation?.charge(source === 'dear' ? decisionCost - 10 : 5);
      return false;
    };
    const text = [
      'name: all\ndefault: allow',
      'name: seen\nmode: observe\nscope: agent:acme/search/child\nrules: [{name: r, effect: deny, when: dear}]',
      'name: of-boss\nscope: agent:acme/search/boss\nrules: [{name: no, effect: deny, when: cheap}, {name: never, effect: deny, when: cheap}]',
    ];
    const sources = text.map((each, nth) => ({ file: `${nth}.yaml`, text: each }));
    expect(await g.settle(loadPolicies(g.gov, sources, { compileCondition }))).toEqual([]);
    const child = await delegate(boss, 'child');
    expect(await g.check(child)).toMatchObject({ decision: 'allow' });
  });

  test('is bounded by what every delegation above it may cost: reserved, settled and released like caps', async () => {
    const middle = await delegate(boss, 'middle', { maxCostMicros: dollars(3) });
    const leaf = await delegate(middle, 'leaf', { maxCostMicros: dollars(2) });
    const cost = (agent: TestAgent, usd: number) => g.check(agent, { estimatedCostMicros: dollars(usd) });
    const first = await cost(leaf, 2);
    expect(first).toMatchObject({ decision: 'allow' });
    expect(await cost(leaf, 1)).toMatchObject({ decision: 'deny', policyRule: 'delegation', limit: undefined });
    expect(await cost(middle, 1)).toMatchObject({ decision: 'allow' });
    expect(await cost(middle, 0.000001)).toMatchObject({ decision: 'deny', policyRule: 'delegation' });
    await g.complete(leaf, first.opId, { actualCostMicros: dollars(0.5) });
    expect(delegationOf(leaf.id)).toMatchObject({ settledMicros: dollars(0.5) });
    expect(delegationOf(middle.id)).toMatchObject({ settledMicros: dollars(0.5) });
    expect(await cost(leaf, 1.6)).toMatchObject({ decision: 'deny' });
    expect(await cost(leaf, 1.5)).toMatchObject({ decision: 'allow' });
    expect(await g.check(leaf)).toMatchObject({ decision: 'allow' });
  });

  test('is charged to its own agent tier and to that of each delegator, once to everybody else', async () => {
    await g.policies(
      'default: allow\nname: p\nbudget: {agent_daily_limit_usd: 100}',
      'scope: agent:acme/search/boss\nname: of-boss\nbudget: {daily_limit_usd: 3}',
    );
    const middle = await delegate(boss, 'middle');
    const leaf = await delegate(middle, 'leaf');
    const { opId } = await g.check(leaf, { estimatedCostMicros: dollars(2) });
    await g.check(leaf, { estimatedCostMicros: dollars(1) });
    await g.complete(leaf, opId);
    const read = (tier: 'global' | 'team' | 'agent', agent = '') => {
      const [orgId, teamId] = tier === 'global' ? ['', ''] : ['acme', 'search'];
      const { spent, reserved } = g.gov.ledger.read({ tier, orgId, teamId, agentId: agent });
      return [spent.day, reserved];
    };
    const both = [dollars(2), dollars(1)];
    expect(['leaf', 'middle', 'boss'].map((each) => read('agent', each))).toEqual([both, both, both]);
    expect([read('team'), read('global')]).toEqual([both, both]);
    expect(await g.check(leaf, { estimatedCostMicros: 1 })).toMatchObject({
      decision: 'deny',
      policyRule: 'budget/agent.day',
      reason: expect.stringContaining('cap of the agent "boss"'),
    });
    expect(await g.check(boss, { estimatedCostMicros: 1 })).toMatchObject({ decision: 'deny' });
    // The log alone says the same.
    g = await g.crash();
    expect(['leaf', 'middle', 'boss'].map((each) => read('agent', each))).toEqual([both, both, both]);
    expect(delegationOf(leaf.id)).toMatchObject({ checks: 3, settledMicros: dollars(2) });
  });

  test('is nothing while a delegator is suspended or has not confirmed a stop, repeated checks included', async () => {
    const middle = await delegate(boss, 'middle');
    const leaf = await delegate(middle, 'leaf');
    const again = { traceId: 't', spanId: 's' };
    await g.check(leaf, again);
    await g.settle(suspendAgent(g.gov, operator, bossId, ''));
    for (const members of [{}, again]) {
      expect(await g.check(leaf, members)).toMatchObject({ decision: 'deny', reason: 'delegator is suspended' });
    }
    await expect(delegate(leaf, 'lower')).rejects.toMatchObject({ code: 'suspended' });
    await g.settle(resumeAgent(g.gov, operator, bossId, ''));
    expect(await g.check(leaf, again)).toMatchObject({ decision: 'allow' });
    g.known(middle.id).blocked = true;
    expect(await g.check(leaf)).toMatchObject({ decision: 'deny', reason: 'delegator is suspended' });
  });
});

describe('delegating', () => {
  test('makes an agent of the same org and team with the delegator as parent, and is on record', async () => {
    const child = await delegate(boss, 'child', { name: 'helper', tools: ['x'], maxChecks: 5, ttlSecs: 60 });
    expect(child.id).toEqual(childId);
    expect(g.known(childId)).toMatchObject({
      record: { name: 'helper', parent: bossId, registeredWith: [operator.credentialId] },
      lineage: { depth: 1, root_agent_id: 'boss' },
    });
    expect((await g.audit()).at(-1)).toMatchObject({
      event_type: 'AgentDelegated',
      actor: { id: 'acme/search/boss', kind: 'agent' },
      lineage: { agent_id: 'child', parent_agent_id: 'boss' },
      payload: { by: 'acme/search/boss', tools: ['x'], max_checks: 5, max_cost_usd: null, again: false },
    });
    expect(JSON.stringify(await g.audit())).not.toContain(child.token);
  });

  test('again replaces the limits and the token; what was used counts on', async () => {
    const child = await delegate(boss, 'child', { maxChecks: 2, tools: ['search'] });
    await g.check(child);
    const again = await delegate(boss, 'child', { maxChecks: 2 });
    expect(await g.check(child)).toMatchObject({ decision: 'deny', reason: 'credential token mismatch' });
    expect(await g.check(again, { action: useTool('other') })).toMatchObject({ decision: 'allow' });
    expect(await g.check(again)).toMatchObject({ decision: 'deny', policyRule: 'delegation' });
  });

  test.each([
    ['an agent of somebody else', 'other'],
    ['itself', 'boss'],
  ])('to %s is refused', async (_, id) => {
    await g.register(agentId('acme/search/other'));
    await expect(delegate(boss, id)).rejects.toMatchObject({ code: 'agent_exists' });
  });

  test('to a delegate of another, or to whoever stands above, is refused', async () => {
    const other = await g.register(agentId('acme/search/other'));
    const child = await delegate(boss, 'child');
    await expect(delegate(other, 'child')).rejects.toMatchObject({ code: 'agent_exists' });
    await expect(delegate(child, 'boss')).rejects.toMatchObject({ code: 'agent_exists' });
    await expect(delegate(child, 'child')).rejects.toMatchObject({ code: 'agent_exists' });
  });

  test('goes 8 deep, and no deeper', async () => {
    let last = boss;
    for (let depth = 1; depth <= 8; depth++) last = await delegate(last, `at-${depth}`);
    expect(await g.check(last)).toMatchObject({ decision: 'allow' });
    await expect(delegate(last, 'at-9')).rejects.toMatchObject({ code: 'delegation_too_deep' });
  });

  test('ends no later than the delegation that it is made by', async () => {
    const child = await delegate(boss, 'child', { ttlSecs: 60 });
    const { expiresAt } = await g.settle(delegateAgent(g.gov, child, 'lower', { ttlSecs: 86_400 }));
    expect(expiresAt).toBe(g.clock.now() + 60_000);
  });

  test.each([
    ['ttl_secs', { ttlSecs: 0 }],
    ['ttl_secs', { ttlSecs: 86_401 }],
    ['child_id', { childId: 'a/b' }],
    ['child_id', { childId: '' }],
    ['tools', { tools: ['['] }],
    ['tools', { tools: [''] }],
    ['tools', { tools: Array.from({ length: 101 }, () => 'x') }],
    ['tools', { tools: Array.from({ length: 100 }, () => 'x'.repeat(100)) }],
    ['max_checks', { maxChecks: -1 }],
    ['max_cost_micros', { maxCostMicros: -1 }],
    ['max_delegates', { maxDelegates: -1 }],
  ] satisfies [string, Partial<DelegateRequest>][])('refuses a %s out of bounds', async (field, members) => {
    await expect(delegate(boss, 'child', members)).rejects.toMatchObject({
      code: 'invalid_argument',
      facts: { field },
    });
  });

  test('an agent has a bounded number of delegates, at all depths together', async () => {
    const child = await delegate(boss, 'child');
    for (let nth = 1; nth < 256; nth++) await delegate(nth % 2 === 0 ? boss : child, `child-${nth}`);
    await expect(delegate(child, 'one-more')).rejects.toMatchObject({ code: 'too_many_agents' });
    await delegate(boss, 'child-1').catch(() => undefined);
    await g.settle(revokeDelegation(g.gov, child, 'child-1'));
    await delegate(child, 'one-more');
  });

  test('what a delegation says of further delegates holds for all below it, and leaves the rest to the others', async () => {
    const inside = await delegate(boss, 'inside', { maxDelegates: 3 });
    const below = await delegate(inside, 'below', { maxDelegates: 100 });
    await delegate(below, 'below-1');
    await delegate(inside, 'inside-1');
    const refusal = { code: 'too_many_agents', message: expect.stringContaining('acme/search/inside') as string };
    for (const by of [inside, below]) await expect(delegate(by, 'one-more')).rejects.toMatchObject(refusal);
    // To delegate again makes none more, and whoever stands above is not concerned.
    await delegate(inside, 'inside-1');
    await delegate(boss, 'of-boss');
    await g.settle(revokeDelegation(g.gov, below, 'below-1'));
    await delegate(inside, 'one-more');
  });

  test('a delegation without further delegates has none', async () => {
    const child = await delegate(boss, 'child', { maxDelegates: 0 });
    await expect(delegate(child, 'below')).rejects.toMatchObject({ code: 'too_many_agents' });
    expect((await g.audit()).at(-1)).toMatchObject({ event_type: 'AgentDelegated', payload: { max_delegates: 0 } });
  });

  test('ever new agents below a bounded delegation leave room for those of its delegator', async () => {
    const inside = await delegate(boss, 'inside', { maxDelegates: 4 });
    for (let nth = 1; nth <= 8; nth++) {
      await delegate(inside, `c-${nth}`);
      await g.settle(revokeDelegation(g.gov, inside, `c-${nth}`));
    }
    const refusal = { code: 'too_many_agents', message: expect.stringContaining(timestamp(g.clock.now() + 60_000)) };
    await expect(delegate(inside, 'one-more')).rejects.toMatchObject(refusal);
    await delegate(boss, 'of-boss');
    g.clock.advance(60_000);
    await delegate(inside, 'one-more');
  });

  test('to one new agent after the other is bounded, and the refusal says when it goes on', async () => {
    const child = await delegate(boss, 'child');
    const churn = async (by: TestAgent, name: string) => {
      await delegate(by, name);
      await g.settle(revokeDelegation(g.gov, by, name));
      await g.settle(g.gov.journal.turn(ownWork, () => forgetEndedDelegations(g.gov, 10)));
    };
    for (let nth = 1; nth < mostNewDelegates; nth++) await churn(nth % 2 === 0 ? boss : child, `c-${nth}`);
    const refusal = { code: 'too_many_agents', message: expect.stringContaining(timestamp(g.clock.now() + 60_000)) };
    for (const by of [boss, child]) await expect(delegate(by, 'one-more')).rejects.toMatchObject(refusal);
    // Others are not concerned, nor is who acts for it already.
    await delegate(await g.register(agentId('acme/search/other')), 'of-other');
    await delegate(boss, 'child');
    g.clock.advance(60_000);
    await g.settle(g.gov.journal.turn(ownWork, () => forgetEndedDelegations(g.gov, 1000)));
    expect([...g.gov.directory.delegations.ended()]).toEqual([]);
    await delegate(boss, 'one-more');
  });

  test('the bound on new agents holds also if those that delegated to them have ended long after they began', async () => {
    const child = await delegate(boss, 'child');
    g.clock.advance(60_001);
    for (let nth = 1; nth <= mostNewDelegates; nth++) {
      await delegate(child, `c-${nth}`);
      await g.settle(revokeDelegation(g.gov, child, `c-${nth}`));
    }
    await g.settle(revokeDelegation(g.gov, boss, 'child'));
    const forget = () => g.settle(g.gov.journal.turn(ownWork, () => forgetEndedDelegations(g.gov, 1000)));
    await forget();
    await expect(delegate(boss, 'one-more')).rejects.toMatchObject({ code: 'too_many_agents' });
    g.clock.advance(60_000);
    await forget();
    expect([...g.gov.directory.delegations.ended()]).toEqual([]);
    await delegate(boss, 'one-more');
  });

  test('outlives the token and the key that it was made with, as the delegator does', async () => {
    const child = await delegate(boss, 'child');
    boss = await g.register(bossId, {}, person('deployer'));
    expect(await g.check(child)).toMatchObject({ decision: 'allow' });
    // What ends it is to let the delegator leave.
    await g.deregister(boss);
    expect(await g.check(child)).toMatchObject({ decision: 'deny', policyRule: 'identity' });
  });

  test('takes the token of whoever delegates', async () => {
    await expect(delegate({ id: bossId, token: 'x'.repeat(40) }, 'child')).rejects.toMatchObject({
      code: 'unauthenticated',
    });
    const child = await delegate(boss, 'child');
    await expect(delegate({ id: bossId, token: child.token }, 'other')).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  });

  test('keeps nobody from registering an agent of its own once it is over', async () => {
    await delegate(boss, 'child', { ttlSecs: 10 });
    await expect(g.register(childId)).rejects.toMatchObject({ code: 'agent_exists' });
    g.clock.advance(10_000);
    const own = await g.register(childId);
    expect(delegationOf()).toBeUndefined();
    expect(await g.check(own)).toMatchObject({ decision: 'allow' });
    await expect(delegate(boss, 'child')).rejects.toMatchObject({ code: 'agent_exists' });
  });

  test('lifts no suspension of the delegate', async () => {
    const child = await delegate(boss, 'child');
    await g.settle(suspendAgent(g.gov, operator, childId, ''));
    expect(await g.check(child)).toMatchObject({ decision: 'deny', reason: 'agent is suspended' });
    await g.settle(revokeDelegation(g.gov, boss, 'child'));
    const again = await delegate(boss, 'child');
    expect(await g.check(again)).toMatchObject({ decision: 'deny', reason: 'agent is suspended' });
  });
});

describe('a delegation ends', () => {
  const running = { traceId: 't', spanId: 's' };

  async function busy(): Promise<{ readonly child: TestAgent; readonly lower: TestAgent }> {
    const child = await delegate(boss, 'child', { ttlSecs: 100 });
    const lower = await delegate(child, 'lower');
    await g.check(child, running);
    await g.check(lower, { ...running, estimatedCostMicros: 5 });
    return { child, lower };
  }

  const ends: readonly (readonly [string, string, (all: { child: TestAgent }) => Promise<unknown>])[] = [
    ['by revocation', 'revoked', () => g.settle(revokeDelegation(g.gov, boss, 'child'))],
    [
      'by time',
      'expired',
      () => {
        g.clock.advance(100_000);
        return g.settle(g.gov.journal.turn(ownWork, () => endLapsedDelegations(g.gov, 10)));
      },
    ],
    ['with its delegator', 'delegator_ended', () => g.deregister(boss)],
    ['when the delegate leaves', 'deregistered', ({ child }) => g.deregister(child)],
  ];

  test.each(ends)('%s: tokens stop, and what is in flight is terminated', async (_, cause, end) => {
    const both = await busy();
    await end(both);
    for (const agent of [both.child, both.lower]) {
      expect(await g.check(agent)).toMatchObject({ decision: 'deny', policyRule: 'identity' });
      expect(g.opsOf(agent.id).get('t:s')).toMatchObject({ state: 'terminated', reservedMicros: 0 });
      await expect(g.complete(agent, 't:s')).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    const ended = (await g.audit()).filter((entry) => entry.event_type === 'DelegationEnded');
    expect(ended).toMatchObject([
      { lineage: { agent_id: 'lower' }, payload: { cause: 'delegator_ended', checks: 1, by: 'acme/search/child' } },
      { lineage: { agent_id: 'child' }, payload: { cause, checks: 2, by: 'acme/search/boss' } },
    ]);
    expect(g.gov.ledger.read({ tier: 'global', orgId: '', teamId: '', agentId: '' }).reserved).toBe(0);
  });

  test('never later than it says, even if nobody has looked', async () => {
    const { child, lower } = await busy();
    g.clock.advance(99_999);
    expect(await g.check(child)).toMatchObject({ decision: 'allow' });
    g.clock.advance(1);
    for (const agent of [child, lower]) {
      expect(await g.check(agent)).toMatchObject({
        decision: 'deny',
        policyRule: 'identity',
        reason: 'token has expired',
      });
      await expect(g.complete(agent, 't:s')).rejects.toMatchObject({ code: 'unauthenticated' });
    }
  });

  test('before anything begins that waited for people', async () => {
    await g.policies('default: allow\nname: p\nrules: [{name: ask, effect: require_approval}]');
    const child = await delegate(boss, 'child', { ttlSecs: 100 });
    const { approvalId } = await g.check(child, running);
    await g.settle(suspendAgent(g.gov, operator, bossId, ''));
    await expect(
      g.settle(approveAction(g.gov, operator, approvalId, { reason: '', grant: null })),
    ).rejects.toMatchObject({ code: 'suspended' });
    await g.settle(resumeAgent(g.gov, operator, bossId, ''));
    g.clock.advance(100_000);
    await expect(
      g.settle(approveAction(g.gov, operator, approvalId, { reason: '', grant: null })),
    ).rejects.toMatchObject({ code: 'already_decided' });
    await g.settle(g.gov.journal.turn(ownWork, () => endLapsedDelegations(g.gov, 10)));
    expect(g.opsOf(child.id).get('t:s')).toMatchObject({ state: 'terminated' });
    expect(g.gov.approvals.find(approvalId)?.state ?? 'gone').not.toBe('pending');
  });

  test('only by whoever had delegated', async () => {
    const { child, lower } = await busy();
    await expect(g.settle(revokeDelegation(g.gov, boss, 'lower'))).rejects.toMatchObject({
      code: 'delegation_not_found',
    });
    await expect(g.settle(revokeDelegation(g.gov, lower, 'child'))).rejects.toMatchObject({
      code: 'delegation_not_found',
    });
    expect(await g.check(child)).toMatchObject({ decision: 'allow' });
  });

  test('over a restart as well', async () => {
    const { child } = await busy();
    await g.settle(revokeDelegation(g.gov, boss, 'child'));
    g = await g.crash();
    expect(await g.check(child)).toMatchObject({ decision: 'deny' });
    expect(g.opsOf(child.id).get('t:s')).toMatchObject({ state: 'terminated' });
    expect([...g.gov.directory.delegations.ended()]).toHaveLength(2);
  });
});

describe('a token that the delegator chooses', () => {
  const childToken = 'chosen-by-the-delegator-'.repeat(2);

  test('is the token of the delegate; to delegate again with it extends the delegation', async () => {
    const child = await delegate(boss, 'child', { childToken, ttlSecs: 100 });
    expect(child.token).toBe(childToken);
    g.clock.advance(90_000);
    await delegate(boss, 'child', { childToken, ttlSecs: 100 });
    g.clock.advance(90_000);
    expect(await g.check(child, { action: useTool('a') })).toMatchObject({ decision: 'allow' });
    g.clock.advance(20_000);
    expect(await g.check(child, { action: useTool('a') })).toMatchObject({ decision: 'deny', policyRule: 'identity' });
    await delegate(boss, 'child', { childToken, ttlSecs: 100 });
    expect(await g.check(child, { action: useTool('a') })).toMatchObject({ decision: 'allow' });
  });

  test("must be nobody else's, and hard to guess", async () => {
    await delegate(boss, 'child', { childToken });
    await expect(delegate(boss, 'other', { childToken })).rejects.toMatchObject({ code: 'token_in_use' });
    await expect(delegate(boss, 'other', { childToken: boss.token })).rejects.toMatchObject({ code: 'token_in_use' });
    await expect(delegate(boss, 'other', { childToken: 'short' })).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});
