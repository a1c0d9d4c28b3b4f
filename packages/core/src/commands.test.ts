import { describe, expect, test } from 'vitest';
import type { Command } from './commands.ts';
import { execute } from './commands.ts';
import { approve } from './testkit/approvals.ts';
import { finish, listen, permissive, run } from './testkit/controls.ts';
import { agentId, operator } from './testkit/requests.ts';
import type { TestGovernance } from './testkit/test-governance.ts';
import { testGovernance } from './testkit/test-governance.ts';

const bot = agentId('acme/search/bot');
const readOnly = { ...operator, scopes: ['read'] } as const;

const ofOperators: readonly Command[] = [
  { kind: 'control_op', by: operator, opId: 'a:s', action: 'pause', reason: '' },
  { kind: 'complete_op', by: operator, opId: 'a:s', completion: completion(), reason: '' },
  { kind: 'register_op', by: operator, agent: bot, traceId: 'b', spanId: 's', summary: '' },
  {
    kind: 'control_scope',
    by: operator,
    action: 'pause',
    scope: { agentId: 'bot' },
    reason: '',
    dryRun: false,
    idempotencyKey: null,
  },
  { kind: 'suspend_agent', by: operator, agent: bot, reason: '' },
  { kind: 'resume_agent', by: operator, agent: bot, reason: '' },
  { kind: 'approve', by: operator, approvalId: 'apr_1', reason: '', grant: null },
  { kind: 'reject', by: operator, approvalId: 'apr_1', reason: '' },
  { kind: 'revoke_grant', by: operator, grantId: 'grt_1', reason: '' },
];

function completion() {
  return { actualCostMicros: null, outcome: 'succeeded', detail: '' } as const;
}

async function withOp(): Promise<TestGovernance> {
  const test = await permissive();
  await run(test, await test.register(bot), 'a');
  return test;
}

describe('every command', () => {
  test.each(ofOperators.map((command) => [command.kind, command] as const))(
    '%s needs a credential that may write, and changes nothing without one',
    async (_kind, command) => {
      const world = await withOp();
      const { seq } = world.gov.journal.head;
      const refused = finish(world, execute(world.gov, { ...command, by: readOnly } as Command));
      await expect(refused).rejects.toMatchObject({ code: 'insufficient_scope' });
      world.turn();
      expect(world.gov.journal.head.seq).toBe(seq);
    },
  );

  test.each(ofOperators.filter((command) => 'reason' in command).map((command) => [command.kind, command] as const))(
    '%s is refused where its reason is too long',
    async (_kind, command) => {
      const world = await withOp();
      const refused = finish(world, execute(world.gov, { ...command, reason: 'x'.repeat(100_000) }));
      await expect(refused).rejects.toMatchObject({ code: 'invalid_argument' });
    },
  );
});

test('a command does the same when it has been sent as JSON', async () => {
  const [here, there] = [await withOp(), await withOp()];
  const command: Command<'control_op'> = {
    kind: 'control_op',
    by: { ...operator, requestId: 'req' },
    opId: 'acme/search/bot/a:s',
    action: 'pause',
    reason: 'look',
  };
  const sent = JSON.parse(JSON.stringify(command)) as typeof command;
  const answers = [await finish(here, execute(here.gov, command)), await finish(there, execute(there.gov, sent))];
  expect(JSON.parse(JSON.stringify(answers[0]))).toEqual(answers[1]);
  expect(await here.audit()).toEqual(await there.audit());
});

test('the answer of an approval can be sent, too', async () => {
  const world = await testGovernance();
  await world.policies('rules: [{name: ask, effect: require_approval}]');
  const agent = await world.register(bot);
  await world.check(agent, { traceId: 'a', spanId: 's' });
  const approval = await approve(world, world.gov.approvals.ofOp(bot, 'a:s')?.id ?? '');
  expect(JSON.parse(JSON.stringify(approval))).toEqual(approval);
});

test('agents hear of a command once it is durable, and never of one that is not', async () => {
  const world = await withOp();
  const agent = await world.register(bot);
  const listener = await listen(world, agent);
  world.failure = new Error('the disk is full');
  const command = { kind: 'control_op', by: operator, opId: 'a:s', action: 'pause', reason: '' } as const;
  await expect(finish(world, execute(world.gov, command))).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(listener.signals()).toEqual([]);
  world.failure = undefined;
  await finish(world, execute(world.gov, command));
  expect(listener.signals()).toEqual(['1 pause']);
});

test('a refusal waits for the state that it speaks of', async () => {
  const world = await withOp();
  const pause = { kind: 'control_op', by: operator, opId: 'a:s', action: 'pause', reason: '' } as const;
  world.failure = new Error('the disk is full');
  const both = Promise.allSettled([execute(world.gov, pause), execute(world.gov, pause)]);
  world.turn();
  expect((await both).map((outcome) => (outcome.status === 'rejected' ? outcome.reason : outcome))).toMatchObject([
    { code: 'store_unavailable' },
    { code: 'store_unavailable' },
  ]);
});
