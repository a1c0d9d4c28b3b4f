import { ingest } from '../testkit/registered-ops.ts';
import { describe, expect, test } from 'vitest';
import { system } from '../audit/entry.ts';
import { moveOp } from '../ops/move-op.ts';
import { agentId, checkOf, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { checkAction } from './check-action.ts';
import type { Op } from '../ops/op.ts';
import { recordOf } from '../ops/op.ts';

const policy = `
name: starter
rules:
  - { name: reading, effect: allow, tools: [search, fetch] }
  - { name: no-deletes, effect: deny, tools: [delete] }
`;
const same = { traceId: 't', spanId: 's', action: useTool('search', { q: 'x' }), estimatedCostMicros: 5 };

async function governed(): Promise<{ test: TestGovernance; bot: TestAgent; op: () => Op }> {
  const test = await testGovernance();
  await test.policies(policy);
  const bot = await test.register(agentId('acme/search/bot'));
  return { test, bot, op: () => test.gov.ops.get(test.known(bot.id), 't:s') };
}

function control(test: TestGovernance, op: Op, trigger: 'pause' | 'resume' | 'terminate', reason = 'as told'): void {
  moveOp(test.gov, op, trigger, { actor: system, reason });
  test.turn();
}

/** Contract, section 4: the answer to a replay of one's own operation, by its state. */
describe('replaying a check of an operation that is', () => {
  test('pending and undecided: its first check decides it', async () => {
    const { test, bot } = await governed();
    ingest(test.gov, test.known(bot.id), 't:s');
    const answer = await test.check(bot, same);
    expect(answer).toMatchObject({ decision: 'allow', policyRule: 'starter/reading', opState: 'running' });
    expect((await test.audit()).at(-1)?.payload).not.toHaveProperty('replay');
    const moves = test.events.flatMap((event) => (event.type === 'ops_change' ? [event.op.state] : []));
    expect(moves).toEqual(['running']);
  });

  test('pending and awaiting a verdict: PENDING again', async () => {
    const { test, bot } = await governed();
    const { op } = ingest(test.gov, test.known(bot.id), 't:s');
    await test.check(bot, same);
    const asked = { state: 'pending', reason: 'approval required by rule a/b', policyRule: 'a/b' } as const;
    const put = { movedAt: op.movedAt, seq: undefined, isDurable: true };
    test.gov.ops.put(op.owner, op, { ...recordOf(op), ...asked }, put);
    expect(await test.check(bot, same)).toMatchObject({
      decision: 'pending',
      reason: 'approval required by rule a/b',
      policyRule: 'a/b',
      opState: 'pending',
    });
  });

  test('running: ALLOW again, without a second charge', async () => {
    const { test, bot, op } = await governed();
    const first = await test.check(bot, same);
    const again = await test.check(bot, { ...same, estimatedCostMicros: 500 });
    expect(again).toMatchObject({ reason: first.reason, policyRule: first.policyRule, opId: first.opId });
    expect(again).toMatchObject({ decision: 'allow', reason: 'allowed by rule starter/reading', opState: 'running' });
    expect(op().costMicros).toBe(5);
  });

  test('paused: PENDING, "operation is paused"', async () => {
    const { test, bot, op } = await governed();
    await test.check(bot, same);
    control(test, op(), 'pause');
    expect(await test.check(bot, same)).toMatchObject({
      decision: 'pending',
      reason: 'operation is paused',
      opState: 'paused',
    });
  });

  test('paused and resumed: ALLOW', async () => {
    const { test, bot, op } = await governed();
    await test.check(bot, same);
    control(test, op(), 'pause');
    control(test, op(), 'resume');
    expect(await test.check(bot, same)).toMatchObject({ decision: 'allow', opState: 'running' });
  });

  test('completing: DENY', async () => {
    const { test, bot } = await governed();
    await test.check(bot, same);
    await test.complete(bot, 't:s');
    expect(await test.check(bot, same)).toMatchObject({ decision: 'deny', opState: 'completing' });
  });

  test('terminated by policy: DENY, for the reason it was', async () => {
    const { test, bot } = await governed();
    const denied = { ...same, action: useTool('delete') };
    const first = await test.check(bot, denied);
    const again = await test.check(bot, denied);
    expect(again).toMatchObject({ reason: first.reason, policyRule: first.policyRule, opId: first.opId });
    expect(again).toMatchObject({
      decision: 'deny',
      reason: 'denied by rule starter/no-deletes; allowed here unless denied: tool_call of search, fetch',
      opState: 'terminated',
    });
  });

  test('terminated by an operator: DENY, for the reason that was given', async () => {
    const { test, bot, op } = await governed();
    await test.check(bot, same);
    control(test, op(), 'terminate', 'runs too long');
    expect(await test.check(bot, same)).toMatchObject({
      decision: 'deny',
      reason: 'runs too long',
      opState: 'terminated',
    });
  });

  test('terminated before its first check: DENY', async () => {
    const { test, bot } = await governed();
    const { op } = ingest(test.gov, test.known(bot.id), 't:s');
    control(test, op, 'terminate', '');
    expect(await test.check(bot, same)).toMatchObject({ decision: 'deny', reason: 'operation is terminated' });
  });

  test.each(['running', 'paused', 'completing', 'terminated'])('%s, with another request: DENY', async (state) => {
    const { test, bot, op } = await governed();
    await test.check(bot, same);
    if (state === 'paused') control(test, op(), 'pause');
    if (state === 'completing') await test.complete(bot, 't:s');
    if (state === 'terminated') control(test, op(), 'terminate');
    const before = { ...op() };
    const answer = await test.check(bot, { ...same, action: useTool('search', { q: 'other' }) });
    expect(answer).toMatchObject({
      decision: 'deny',
      reason: 'operation id was used for another request',
      opState: state,
    });
    expect(op()).toEqual(before);
  });
});

test.each([
  ['the tool', useTool('fetch', { q: 'x' })],
  ['the arguments', useTool('search', { q: 'y' })],
  ['no arguments', useTool('search')],
  ['the source', { ...useTool('search', { q: 'x' }), source: 'mcp' }],
  ['the URL', { ...useTool('search', { q: 'x' }), url: 'https://evil.com' }],
  ['the kind of action', { ...useTool('search', { q: 'x' }), type: 'tool_result' as const }],
])('a replay that differs in %s is another request', async (_, action) => {
  const { test, bot } = await governed();
  await test.check(bot, same);
  expect(await test.check(bot, { ...same, action })).toMatchObject({
    decision: 'deny',
    reason: 'operation id was used for another request',
  });
});

test('what only describes a request does not make it another one', async () => {
  const { test, bot } = await governed();
  await test.check(bot, same);
  const again = { ...same, summary: 'again', runId: 'run-2', caller: agentId('acme/search/boss') };
  expect(await test.check(bot, again)).toMatchObject({ decision: 'allow' });
});

test('a replay changes nothing, publishes the decision alone, and writes one entry that says what it is', async () => {
  const { test, bot, op } = await governed();
  await test.check(bot, same);
  const before = { ...op() };
  const published = test.events.length;
  const entries = (await test.audit()).length;
  test.clock.advance(1000);
  await test.check(bot, { ...same, summary: 'other', runId: 'other' });
  expect(op()).toEqual(before);
  expect(test.events.slice(published)).toMatchObject([{ type: 'decision', decision: 'allow', opId: 't:s' }]);
  const added = (await test.audit()).slice(entries);
  expect(added).toMatchObject([
    { event_type: 'ActionAllowed', op_id: 't:s', payload: { replay: true, op_state: 'running' } },
  ]);
});

test('a policy that changed meanwhile does not change the answer to a replay', async () => {
  const { test, bot } = await governed();
  await test.check(bot, same);
  await test.policies('default: deny');
  expect(await test.check(bot, same)).toMatchObject({ decision: 'allow', policyRule: 'starter/reading' });
});

test('an operation that was swept can be asked anew', async () => {
  const { test, bot } = await governed();
  await test.check(bot, same);
  await test.complete(bot, 't:s');
  test.clock.advance(60_000);
  test.gov.ops.sweep();
  expect(await test.check(bot, same)).toMatchObject({ decision: 'allow', opState: 'running' });
});

test('two checks of the same operation in one turn: the second is a replay of the first', async () => {
  const { test, bot } = await governed();
  const requests = [
    checkOf({ agentId: bot.id, token: bot.token, ...same }),
    checkOf({ agentId: bot.id, token: bot.token, ...same }),
  ];
  const answers = requests.map((request) => checkAction(test.gov, request));
  test.turn();
  expect((await Promise.all(answers)).map((answer) => answer.decision)).toEqual(['allow', 'allow']);
  expect(test.events.filter((event) => event.type === 'ops_change')).toHaveLength(2);
});
