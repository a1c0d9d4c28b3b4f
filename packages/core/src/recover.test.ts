import { describe, expect, test } from 'vitest';
import { MemoryStore } from './memory/memory-store.ts';
import { OpsCheckpoint, sweepOps } from './ops/checkpoint.ts';
import type { Op } from './ops/op.ts';
import type { PolicyFeatures } from './policy/condition.ts';
import { factsNeededFrom } from './recover.ts';
import type { KeptFacts } from './store.ts';
import { approve } from './testkit/approvals.ts';
import { controlOp, delegateAgent } from './testkit/commands.ts';
import { agentId, operator, useTool } from './testkit/requests.ts';
import { askAbout } from './testkit/results.ts';
import type { TestAgent, TestGovernance } from './testkit/test-governance.ts';
import { testGovernance } from './testkit/test-governance.ts';
import { ticks } from './testkit/two-gateways.ts';

const policy = 'rules:\n  - { name: fine, effect: allow, tools: [search] }\n';

/** A store in which some texts of commits are damaged. */
class Damaged extends MemoryStore {
  damage: (text: string) => string = (text) => text;

  override async factsAfter(position: number, seq: number): Promise<readonly KeptFacts[]> {
    return (await super.factsAfter(position, seq)).map((kept) => ({ ...kept, facts: this.damage(kept.facts) }));
  }
}

function isOut({ gov }: TestGovernance, { id }: TestAgent): boolean {
  try {
    gov.directory.outOfService.refuse(id);
    return false;
  } catch {
    return true;
  }
}

async function scene() {
  const store = new Damaged();
  const test = await testGovernance({ store });
  await test.policies(policy);
  const bot = await test.register(agentId('acme/search/bot'));
  const other = await test.register(agentId('umbrella/search/bot'));
  await test.check(bot, { traceId: 't', spanId: 's', estimatedCostMicros: 500 });
  return { store, test, bot, other };
}

const agent = { orgId: 'acme', teamId: 'search', agentId: 'bot' };
const damages: readonly (readonly [string, unknown])[] = [
  ['an operation that is none', { event: { type: 'ops_change', agent, op: null } }],
  ['a list that is cut off', ['op', 0, 1, 't:s', 'running']],
  ['a state that no operation has', ['op', 0, 1, 't:s', 'flying', 1, 1, null, '', '', '', '', 0, 0, '', '', null]],
  ['a change of nobody', { change: { kind: 'agent_removed' } }],
  ['no amount', ['op', 0, 1, 't:s', 'completing', 1, 1, null, '', '', '', '', null, null, '', '', '2026-01-01']],
];

const touched = { agents: ['acme/search/bot'], orgs: [], everything: false };

test.each(damages)('for %s in a commit, a start reads what its entries say', async (_, step) => {
  const { store, test: before, bot, other } = await scene();
  store.damage = (text) => (text.includes('t:s') ? JSON.stringify({ steps: [step], touched }) : text);
  const after = await before.crash();
  expect([isOut(after, bot), isOut(after, other)]).toEqual([false, false]);
  expect(after.opsOf(bot.id).get('t:s')).toMatchObject({ state: 'running', reservedMicros: 500 });
});

test('an operation shows the control that a damaged commit tells of', async () => {
  const { store, test: before, bot } = await scene();
  const op = before.opsOf(bot.id).get('t:s');
  if (op === undefined) throw new Error('there is no operation');
  await before.settle(controlOp(before.gov, operator, op, 'pause', ''));
  await before.settle(controlOp(before.gov, operator, op, 'resume', 'go on'));
  store.damage = (text) => (text.includes('go on') ? '{' : text);
  const after = await before.crash();
  expect(after.opsOf(bot.id).get('t:s')).toMatchObject({ state: 'running', control: { action: 'resume' } });
});

test('an operation on behalf of another agent is restored as such from its entries', async () => {
  const { store, test: before, bot } = await scene();
  const child = await before.settle(delegateAgent(before.gov, bot, 'child', { ttlSecs: 100 }));
  const delegate = { id: child.agentId, token: child.token };
  await before.check(delegate, { traceId: 'd', spanId: 's', estimatedCostMicros: 300 });
  store.damage = (text) => (text.includes('d:s') ? '{' : text);
  const after = await before.crash();
  expect(after.opsOf(delegate.id).get('d:s')).toMatchObject({ reservedMicros: 300, delegators: ['bot'] });
  const reserved = (name: string) => [...after.gov.ledger.all()].find(({ of }) => of.agentId === name)?.reserved;
  expect([reserved('child'), reserved('bot')]).toEqual([300, 800]);
});

describe('what an operation owes for its result, and how it was rewritten,', () => {
  const features: PolicyFeatures = { compileValue: () => () => 'b' };
  const rules = `
rules:
  - { name: fine, effect: allow, tools: [search], rewrite: { a: x } }
  - { name: ask, effect: require_approval, tools: [search] }
  - { name: read, on: result, effect: allow, tools: [search], labels: [outside], labels_of: agent }
`;
  const call = { traceId: 't', spanId: 's', action: useTool('search', {}), canRewrite: true };

  async function rewritten() {
    const store = new Damaged();
    const before = await testGovernance({ store, features });
    await before.policies(rules);
    const bot = await before.register(agentId('acme/search/bot'));
    const asked = await before.check(bot, call);
    expect(asked).toMatchObject({ decision: 'pending', argsJson: '{"a":"b"}', judgeResult: true });
    return { store, before, bot, approvalId: asked.approvalId };
  }

  test('is restored from a commit of which something else cannot be read', async () => {
    const { store, before, bot, approvalId } = await rewritten();
    store.damage = (text) => {
      if (!text.includes('t:s')) return text;
      const commit = JSON.parse(text) as unknown[];
      (commit[6] as unknown[]).push(['thing_of_later_release', 'x']);
      return JSON.stringify(commit);
    };
    const after = await before.crash();
    expect(after.opsOf(bot.id).get('t:s')).toEqual(
      expect.objectContaining({ ...membersIn(before.opsOf(bot.id).get('t:s')) }),
    );
    await after.policies(rules);
    await approve(after, approvalId);
    expect(await after.check(bot, call)).toMatchObject({ decision: 'allow', argsJson: '{"a":"b"}', judgeResult: true });
  });

  test('is not lost with the text of its commit: nothing runs as it was sent, and all labels count', async () => {
    const { store, before, bot, approvalId } = await rewritten();
    store.damage = (text) => (text.includes('t:s') ? '{' : text);
    const after = await before.crash();
    await after.policies(rules);
    await approve(after, approvalId);
    const again = await after.check(bot, call);
    expect(again).toMatchObject({ decision: 'deny', argsJson: undefined });
    expect(again.reason).toContain('not known here');
    await after.complete(bot, 't:s');
    const place = { ...bot.id, runId: '' };
    expect(after.gov.runs.labels.of({ of: 'agent', place })).toMatchObject([{ name: 'outside' }]);
  });

  test('is judged once, also if the text of that commit is damaged', async () => {
    const { store, before, bot, approvalId } = await rewritten();
    await approve(before, approvalId);
    const asking = askAbout(before, bot, 't:s', '1');
    for (let turn = 0; turn < 10; turn++) {
      await ticks();
      before.turn();
    }
    await asking;
    store.damage = (text) => (text.includes('op_result_judged') ? '{' : text);
    const after = await before.crash();
    expect(after.opsOf(bot.id).get('t:s')?.resultDuty).toMatchObject({ judged: true });
  });
});

function membersIn(op: Op | undefined): Pick<Op, 'resultDuty' | 'rewrite' | 'owedLabels'> {
  if (op === undefined) throw new Error('there is no operation');
  const { resultDuty, rewrite, owedLabels } = op;
  return { resultDuty, rewrite, owedLabels };
}

test('of a fact that cannot be applied, its agent alone is out of service, and the gateway starts', async () => {
  const { store, test: before, bot, other } = await scene();
  const step = { event: { type: 'audit_alert', at: 1, agent, alert: 'op_stale' } };
  store.damage = (text) => (text.includes('t:s') ? JSON.stringify({ steps: [step], touched }) : text);
  const after = await before.crash();
  expect([isOut(after, bot), isOut(after, other)]).toEqual([true, false]);
});

test('a commit whose text is damaged is restored from its entries, whatever becomes of it later', async () => {
  const { store, test: before, bot, other } = await scene();
  await before.complete(bot, 't:s', { actualCostMicros: 700 });
  store.damage = (text) => (text.includes('t:s') ? '{' : text);
  let after = await before.crash();
  const spent = () => after.gov.ledger.balances.total?.spent.day;
  expect([isOut(after, bot), isOut(after, other), spent()]).toEqual([false, false, 700]);
  expect(after.opsOf(bot.id).get('t:s')).toMatchObject({ state: 'completing', reservedMicros: 0 });
  const checkpoint = new OpsCheckpoint(after.gov, 10_000, 60_000);
  for (let tick = 0; tick < 40; tick++) {
    after.clock.advance(10_000);
    while (checkpoint.step(100)) after.turn();
    after.turn();
    while (after.gov.balances.save(100)) after.turn();
    after.turn();
    void after.store.forgetFacts(factsNeededFrom(after.gov, checkpoint.replayFrom), 1000);
  }
  after = await after.crash();
  expect(spent()).toBe(700);
});

test('the row of an operation goes with the sweep, if the end of its agent is known from entries alone', async () => {
  const { store, test: before, bot } = await scene();
  const checkpoint = new OpsCheckpoint(before.gov, 10_000, 60_000);
  for (let tick = 0; tick < 3; tick++) {
    before.clock.advance(10_000);
    while (checkpoint.step(100)) before.turn();
    before.turn();
  }
  await before.deregister(bot);
  store.damage = (text) => (text.includes('deregistered') ? '{' : text);
  const after = await before.crash();
  const rows = async () => Array.from((await store.load()).ops, ({ opId, state }) => [opId, state]);
  expect(after.opsOf(bot.id).get('t:s')).toMatchObject({ state: 'terminated', reservedMicros: 0 });
  expect(await rows()).toEqual([['t:s', 'running']]);
  after.clock.advance(70_000);
  sweepOps(after.gov);
  after.turn();
  await after.settle(Promise.resolve());
  expect(await rows()).toEqual([]);
});
