import { beforeEach, describe, expect, test } from 'vitest';
import { approve, expire, person, reject } from '../testkit/approvals.ts';
import { control, listen } from '../testkit/controls.ts';
import { applyFact } from '../facts.ts';
import { sweepOps } from '../ops/checkpoint.ts';
import { elsewhere } from '../testkit/applying.ts';
import { agentId, operator, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { sampleApproval } from '../testkit/store-approval-conformance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { Approval } from './approval.ts';
import { noteNotified, owingNotices } from './settle-approval.ts';

let world: TestGovernance;
let bot: TestAgent;

const asking = 'name: p\ndefault: allow\nrules: [{ name: ask, effect: require_approval, tools: [shell] }]\n';
const askingTwo = asking.replace('tools: [shell]', 'tools: [shell], approvals: { count: 2 }');
const ask = async (members: object = {}) => {
  const action = useTool('shell', { cmd: 'ls' });
  return (await world.check(bot, { traceId: 't', spanId: 's', runId: 'r', action, ...members })).approvalId;
};
const last = async (type: string) => (await world.audit()).findLast((entry) => entry.event_type === type);
const lastEvent = () => world.events.findLast((event) => event.type === 'approval');

async function start(notifies: boolean): Promise<void> {
  world = await testGovernance({ approvals: { notifies } });
  await world.policies(asking);
  bot = await world.register(agentId('acme/search/bot'));
}

beforeEach(() => start(false));

describe('the log tells of an approval', () => {
  test('that it is asked for: what it would cost, by which rules, until when', async () => {
    const id = await ask({ estimatedCostMicros: 500 });
    const requested = await last('ApprovalRequested');
    expect(requested).toMatchObject({
      op_id: 't:s',
      policy_rule: 'p/ask',
      reason: 'approval required by rule p/ask',
      actor: { kind: 'system' },
    });
    expect(requested?.payload).toEqual({
      approval_id: id,
      cause: 'rule',
      cost_micros: 500,
      digest: world.gov.approvals.find(id)?.digest,
      expires_at: new Date(world.clock.now() + 300_000).toISOString(),
      grantable: true,
      required: 1,
      rules: ['p/ask'],
    });
    expect(lastEvent()).toMatchObject({ change: 'requested', at: world.clock.now(), approval: { id } });
  });

  test('that it is asked for by a budget alone, which no grant is given for', async () => {
    await world.policies(
      'name: p\ndefault: allow\nbudget: { daily_limit_usd: 1, action_on_exceed: require_approval }\n',
    );
    await ask({ estimatedCostMicros: 2_000_000 });
    expect((await last('ApprovalRequested'))?.payload).toMatchObject({
      cause: 'budget',
      grantable: false,
      required: 1,
      rules: [],
    });
  });

  test('that it was given: by whom, of how many, about which operation, in which request', async () => {
    const approvalId = await ask();
    await approve(world, approvalId, person('alice', { requestId: 'req_1' }), { reason: 'fine' });
    const granted = await last('ApprovalGranted');
    expect(granted).toMatchObject({
      op_id: 't:s',
      trace_id: 't',
      span_id: 's',
      policy_rule: 'p/ask',
      policy_version: world.gov.policies.version,
      reason: 'approved by alice@example.com: fine',
      lineage: { agent_id: 'bot' },
    });
    expect(granted?.payload).toEqual({
      approval_id: approvalId,
      approvers: ['alice'],
      request_id: 'req_1',
      required: 1,
    });
    expect((await last('OpStateChanged'))?.payload).toMatchObject({
      approval_id: approvalId,
      request_id: 'req_1',
      trigger: 'allow',
    });
  });

  test('no request where there was none', async () => {
    await approve(world, await ask());
    expect((await last('ApprovalGranted'))?.payload).not.toHaveProperty('request_id');
    expect((await last('OpStateChanged'))?.payload).not.toHaveProperty('request_id');
  });

  test('that one of two was given, with the reason where there is one', async () => {
    await world.policies(askingTwo);
    const first = await ask();
    await approve(world, first, person('alice', { requestId: 'req_1' }), { reason: 'fine' });
    const given = await last('ApprovalVerdictGiven');
    expect(given).toMatchObject({ actor: { id: 'alice' }, reason: 'fine', op_id: 't:s' });
    expect(given?.payload).toEqual({ approval_id: first, approvers: ['alice'], request_id: 'req_1', required: 2 });
    const second = await ask({ traceId: 'u' });
    await approve(world, second);
    const silent = await last('ApprovalVerdictGiven');
    expect(silent?.reason).toBeNull();
    expect(silent?.payload).toEqual({ approval_id: second, approvers: ['alice'], required: 2 });
  });

  test('that it was rejected: who approved before, and not who rejected', async () => {
    await world.policies(askingTwo);
    const approvalId = await ask();
    await approve(world, approvalId, person('alice'));
    await reject(world, approvalId, person('bob', { requestId: 'req_2' }));
    const rejected = await last('ApprovalRejected');
    expect(rejected).toMatchObject({ actor: { id: 'bob' }, reason: 'rejected by bob@example.com' });
    expect(rejected?.payload).toEqual({
      approval_id: approvalId,
      approvers: ['alice'],
      request_id: 'req_2',
      required: 2,
    });
  });

  test('that it expired, with the verdicts that were given', async () => {
    await world.policies(askingTwo);
    const approvalId = await ask();
    await approve(world, approvalId, person('alice'));
    world.clock.advance(300_000);
    await expire(world);
    expect((await last('ApprovalExpired'))?.payload).toEqual({
      approval_id: approvalId,
      approvers: ['alice'],
      required: 2,
    });
  });

  test('that it was cancelled, without a reason where none was given', async () => {
    const approvalId = await ask();
    await control(world, bot, 't:s', 'terminate');
    const cancelled = await last('ApprovalCancelled');
    expect(cancelled).toMatchObject({ reason: null, op_id: 't:s', actor: operator.actor });
    expect(cancelled?.payload).toEqual({ approval_id: approvalId });
  });

  test('which grant came with it', async () => {
    const until = world.clock.now() + 3_600_000;
    const { grantId } = await approve(world, await ask(), person('alice'), { grant: { reach: 'until', until } });
    expect((await last('ApprovalGranted'))?.payload['grant']).toEqual({
      expires_at: new Date(until).toISOString(),
      id: grantId,
      reach: 'until',
    });
  });

  test('for which run a grant is', async () => {
    const { grantId } = await approve(world, await ask(), person('alice'), { grant: { reach: 'run' } });
    expect((await last('ApprovalGranted'))?.payload['grant']).toEqual({
      expires_at: new Date(world.clock.now() + 86_400_000).toISOString(),
      id: grantId,
      reach: 'run',
      run_id: 'r',
    });
  });
});

describe('live views follow an approval', () => {
  test.each<[string, (id: string) => Promise<unknown>]>([
    ['approved', (id) => approve(world, id)],
    ['rejected', (id) => reject(world, id)],
    ['cancelled', () => control(world, bot, 't:s', 'terminate')],
  ])('that is %s', async (state, end) => {
    const id = await ask();
    world.clock.advance(1000);
    await end(id);
    expect(lastEvent()).toMatchObject({
      change: state,
      at: world.clock.now(),
      agent: bot.id,
      approval: { id, state, decidedAt: world.clock.now() },
    });
  });
});

describe('who is notified of approvals', () => {
  const owed = () => world.gov.approvals.owing().map(({ id, notices }) => [id, ...notices]);

  test('is told that one is asked for, and that it is decided, in this order', async () => {
    await start(true);
    const id = await ask();
    expect(owed()).toEqual([[id, 'requested']]);
    await approve(world, id);
    expect(owed()).toEqual([[id, 'requested', 'decided']]);
    noteNotified(world.gov, id, 'requested');
    expect(owed()).toEqual([[id, 'decided']]);
    noteNotified(world.gov, id, 'decided');
    expect(owed()).toEqual([]);
  });

  test('is told that one is cancelled', async () => {
    await start(true);
    const id = await ask();
    await control(world, bot, 't:s', 'terminate');
    expect(owed()).toEqual([[id, 'requested', 'decided']]);
  });

  test('is told nothing by a gateway that could not read all of the agent, and nothing is noted there', async () => {
    await start(true);
    const id = await ask();
    const { orgId, teamId, agentId } = bot.id;
    world.gov.directory.outOfService.add({ agents: [`${orgId}/${teamId}/${agentId}`], orgs: [], everything: false });
    expect([...owingNotices(world.gov)]).toEqual([]);
    noteNotified(world.gov, id, 'requested');
    expect(owed()).toEqual([[id, 'requested']]);
  });

  test('is told nothing where nobody is to be', async () => {
    await approve(world, await ask());
    expect(owed()).toEqual([]);
  });
});

test('an agent that listens to nothing is not told of ever more approvals', async () => {
  for (let number = 1; number <= 1000; number++) {
    const old = { id: `apr_${number}`, agent: bot.id, opId: `old:${number}`, signalSequence: number };
    const approval: Approval = { ...sampleApproval, ...old, state: 'approved' };
    applyFact(world.gov, { kind: 'approval_saved', approval }, elsewhere);
  }
  await approve(world, await ask());
  expect(world.gov.control.outbox(bot.id).size).toBe(1000);
  expect((await listen(world, bot)).signals().at(-1)).toBe('1001 allow');
});

test('that an operation was rejected is told also where a later one takes its id and ends', async () => {
  await reject(world, await ask());
  world.clock.advance(60_000);
  sweepOps(world.gov);
  await world.check(bot, { traceId: 't', spanId: 's', action: useTool('search') });
  await world.complete(bot, 't:s');
  expect((await listen(world, bot)).signals()).toEqual(['1 terminate']);
});
