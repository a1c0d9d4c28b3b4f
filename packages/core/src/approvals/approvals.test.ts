import { beforeEach, describe, expect, test } from 'vitest';
import { tiersOf } from '../budget/tier.ts';
import { approve, expire, person, reject } from '../testkit/approvals.ts';
import { checkAction } from '../decision/check-action.ts';
import { ack, control, finish, listen, opOf } from '../testkit/controls.ts';
import { agentId, checkOf, operator, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { Approval } from './approval.ts';
import { findApproval, listApprovals } from './list-approvals.ts';
import { mostOpenApprovals } from './request-approval.ts';
import { controlOp, resumeAgent, suspendAgent } from '../testkit/commands.ts';

let world: TestGovernance;
let bot: TestAgent;

const asking = 'name: p\ndefault: allow\nrules: [{ name: ask, effect: require_approval, tools: [shell] }]\n';
const shell = (agent = bot, members: object = {}) =>
  world.check(agent, { traceId: 't', spanId: 's', action: useTool('shell', { cmd: 'ls' }), ...members });
const reserved = () => {
  const [of] = tiersOf(bot.id);
  return of === undefined ? 0 : world.gov.ledger.read(of).reserved;
};
const entries = async (...types: readonly string[]) =>
  (await world.audit()).filter(({ event_type: type }) => types.includes(type));
const stored = async (id: string): Promise<Approval> => {
  world.turn();
  const approval = await world.store.approvals.approval(id);
  if (approval === undefined) throw new Error('the store has no such approval');
  return approval;
};

beforeEach(async () => {
  world = await testGovernance();
  await world.policies(asking);
  bot = await world.register(agentId('acme/search/bot'));
});

describe('an action that a rule has people asked about', () => {
  test('is held, with an id, its cost held back, and one entry for the decision and one for the question', async () => {
    const before = (await world.audit()).length;
    world.events.length = 0;
    const answer = await shell(bot, { estimatedCostMicros: 500, summary: 'list files', runId: 'r' });
    expect(answer).toMatchObject({
      decision: 'pending',
      opState: 'pending',
      policyRule: 'p/ask',
      reason: 'approval required by rule p/ask',
    });
    expect(answer.approvalId).toMatch(/^apr_[0-9a-f]{24}$/);
    expect(reserved()).toBe(500);
    const added = (await world.audit()).slice(before);
    expect(added.map((entry) => [entry.event_type, entry.decision, entry.payload['approval_id']])).toEqual([
      ['ActionPending', 'pending', answer.approvalId],
      ['ApprovalRequested', null, answer.approvalId],
    ]);
    expect(world.events.map((event) => event.type)).toEqual(['ops_change', 'decision', 'approval']);
    expect(await stored(answer.approvalId)).toMatchObject({
      state: 'open',
      opId: 't:s',
      resource: 'shell',
      summary: 'list files',
      runId: 'r',
      costMicros: 500,
      required: 1,
      requestedAt: world.clock.now(),
      expiresAt: world.clock.now() + 300_000,
    });
  });

  test('answers the same again when it is asked about again, and asks nobody twice', async () => {
    const { approvalId } = await shell(bot, { estimatedCostMicros: 500 });
    expect(await shell(bot, { estimatedCostMicros: 500 })).toMatchObject({ decision: 'pending', approvalId });
    expect(await entries('ApprovalRequested')).toHaveLength(1);
    expect(reserved()).toBe(500);
  });

  test('is bound to the exact request: another one under the same id is denied', async () => {
    const { approvalId } = await shell();
    const other = await shell(bot, { action: useTool('shell', { cmd: 'rm' }) });
    expect(other).toMatchObject({
      decision: 'deny',
      approvalId: '',
      reason: 'operation id was used for another request',
    });
    expect((await stored(approvalId)).state).toBe('open');
  });

  test('runs once it is approved; who approved is the reason, and its agent is told', async () => {
    const { approvalId } = await shell(bot, { estimatedCostMicros: 500 });
    const listener = await listen(world, bot);
    const before = (await world.audit()).length;
    world.events.length = 0;
    const approval = await approve(world, approvalId, person('alice'), { reason: 'fine' });
    expect(approval).toMatchObject({ state: 'approved', decidedAt: world.clock.now() });
    expect(listener.signals()).toEqual(['1 allow']);
    expect(listener.heard[0]).toMatchObject({
      opId: 't:s',
      reason: 'approved by alice@example.com: fine',
      controlId: '',
    });
    const added = (await world.audit()).slice(before);
    expect(added.map(({ event_type: type, actor }) => [type, actor.id])).toEqual([
      ['OpStateChanged', 'alice'],
      ['ApprovalGranted', 'alice'],
    ]);
    expect(world.events.map((event) => event.type)).toEqual(['ops_change', 'approval']);
    expect(await shell()).toMatchObject({
      decision: 'allow',
      opState: 'running',
      reason: 'approved by alice@example.com: fine',
    });
    await world.complete(bot, 't:s', { actualCostMicros: 300 });
    expect(reserved()).toBe(0);
    expect(await shell()).toMatchObject({ decision: 'deny', reason: 'operation is completing' });
  });

  test('is over once it is rejected: what was held back is free, and its agent is told', async () => {
    const { approvalId } = await shell(bot, { estimatedCostMicros: 500 });
    const listener = await listen(world, bot);
    await reject(world, approvalId, person('bob'), 'not today, password=hunter2hunter2');
    expect(reserved()).toBe(0);
    expect(listener.signals()).toEqual(['1 terminate']);
    const { verdicts } = await stored(approvalId);
    expect(verdicts[0]).toMatchObject({ verdict: 'reject', actor: { id: 'bob' } });
    expect(verdicts[0]?.reason).not.toContain('hunter2');
    expect(await shell()).toMatchObject({ decision: 'deny', opState: 'terminated' });
    expect((await shell()).reason).toMatch(/^rejected by bob@example\.com: not today/);
    expect(await entries('ApprovalRejected')).toHaveLength(1);
  });

  test('is over once nobody has decided in time', async () => {
    const { approvalId } = await shell(bot, { estimatedCostMicros: 500 });
    const listener = await listen(world, bot);
    world.clock.advance(299_999);
    expect(await expire(world)).toBe(0);
    world.clock.advance(1);
    expect(await expire(world)).toBe(1);
    expect(await stored(approvalId)).toMatchObject({ state: 'expired', verdicts: [] });
    expect(reserved()).toBe(0);
    expect(listener.signals()).toEqual(['1 terminate']);
    expect(await shell()).toMatchObject({ decision: 'deny', reason: 'approval expired' });
    expect((await entries('ApprovalExpired')).map(({ actor }) => actor.kind)).toEqual(['system']);
  });

  test('expires at the verdict that comes too late, which is refused', async () => {
    const { approvalId } = await shell();
    world.clock.advance(300_000);
    await expect(approve(world, approvalId)).rejects.toMatchObject({
      code: 'already_decided',
      facts: { state: 'expired' },
    });
    expect((await stored(approvalId)).state).toBe('expired');
    expect(opOf(world, bot, 't:s').state).toBe('terminated');
  });

  test('a clock that is set back does not keep it alive, and a restart does not extend it', async () => {
    const { approvalId } = await shell();
    world.clock.advance(200_000);
    world.clock.setWallClock(-86_400_000);
    world = await world.crash();
    world.clock.advance(299_999);
    expect(await expire(world)).toBe(0);
    world.clock.advance(1);
    expect(await expire(world)).toBe(1);
    expect((await stored(approvalId)).state).toBe('expired');
  });

  test('has the number of people and the time that its rule says', async () => {
    await world.policies(asking.replace('tools: [shell]', 'tools: [shell], approvals: { count: 2, ttl_secs: 60 }'));
    const { approvalId } = await shell();
    expect(await stored(approvalId)).toMatchObject({ required: 2, expiresAt: world.clock.now() + 60_000 });
  });

  test('shows arguments up to 16 KiB to whoever decides, in events as well, and longer ones by their digest', async () => {
    const shown = async (cmd: string) => {
      const { approvalId } = await shell(bot, { traceId: `t${cmd.length}`, action: useTool('shell', { cmd }) });
      const event = world.events.findLast((each) => each.type === 'approval');
      return [(await stored(approvalId)).action, event?.approval.action];
    };
    const long = 'x'.repeat(16_000);
    for (const action of await shown(long)) expect(action).toContain(long);
    for (const action of await shown('x'.repeat(20_000))) {
      expect(action).toMatch(/^\{"args":\{"omitted_bytes":20010,"sha256":"[0-9a-f]{64}"\},/);
    }
  });

  test('is denied where very many of its agent wait already', async () => {
    for (let index = 0; index < mostOpenApprovals; index++) await shell(bot, { traceId: `t${index}` });
    const other = await world.register(agentId('acme/search/other'));
    expect(await shell(bot)).toMatchObject({ decision: 'deny', approvalId: '', policyRule: 'p/ask' });
    expect(await shell(other)).toMatchObject({ decision: 'pending' });
    expect(world.gov.approvals.openCount).toBe(mostOpenApprovals + 1);
  });

  test('is held where the turn can be committed, and leaves nothing behind where it cannot', async () => {
    world.failure = new Error('the disk is full');
    await expect(shell(bot, { estimatedCostMicros: 500 })).rejects.toMatchObject({ code: 'store_unavailable' });
    world.failure = undefined;
    expect(world.gov.approvals.openCount).toBe(0);
    expect(reserved()).toBe(0);
    expect(await shell()).toMatchObject({ decision: 'pending' });
  });

  test('a verdict that cannot be made durable did not happen, and can be given again', async () => {
    const { approvalId } = await shell(bot, { estimatedCostMicros: 500 });
    const listener = await listen(world, bot);
    world.failure = new Error('the disk is full');
    await expect(approve(world, approvalId)).rejects.toMatchObject({ code: 'store_unavailable' });
    world.failure = undefined;
    expect(opOf(world, bot, 't:s').state).toBe('pending');
    expect(listener.heard).toEqual([]);
    expect((await approve(world, approvalId)).state).toBe('approved');
    expect(listener.signals()).toEqual(['1 allow']);
  });
});

describe('a verdict', () => {
  test('is given once: a second one, whatever it is, is refused', async () => {
    const { approvalId } = await shell();
    await approve(world, approvalId);
    for (const again of [approve(world, approvalId, person('bob')), reject(world, approvalId, person('bob'))]) {
      await expect(again).rejects.toMatchObject({ code: 'already_decided', facts: { state: 'approved' } });
    }
    expect(opOf(world, bot, 't:s').state).toBe('running');
  });

  test('given twice at the same time counts once', async () => {
    const { approvalId } = await shell();
    const both = [approve(world, approvalId, person('alice')), reject(world, approvalId, person('bob'))];
    const results = await Promise.allSettled(both);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await entries('ApprovalGranted', 'ApprovalRejected')).toHaveLength(1);
  });

  test('needs as many different people as the rule says; one who approves twice is one', async () => {
    await world.policies(asking.replace('tools: [shell]', 'tools: [shell], approvals: { count: 2 }'));
    const { approvalId } = await shell();
    world.events.length = 0;
    const first = await approve(world, approvalId, person('alice'));
    expect(first).toMatchObject({ state: 'open', decidedAt: null });
    expect(world.events).toMatchObject([{ type: 'approval', change: 'verdict' }]);
    expect(opOf(world, bot, 't:s').state).toBe('pending');
    await expect(approve(world, approvalId, person('alice'))).rejects.toMatchObject({ code: 'already_decided' });
    expect((await approve(world, approvalId, person('bob'))).state).toBe('approved');
    expect(opOf(world, bot, 't:s').reason).toBe('approved by alice@example.com and bob@example.com');
    expect(await entries('ApprovalGranted')).toHaveLength(1);
    expect(await entries('ApprovalVerdictGiven')).toHaveLength(1);
  });

  test('of one who rejects is enough, however many must approve', async () => {
    await world.policies(asking.replace('tools: [shell]', 'tools: [shell], approvals: { count: 3 }'));
    const { approvalId } = await shell();
    await approve(world, approvalId, person('alice'));
    expect((await reject(world, approvalId, person('bob'))).state).toBe('rejected');
  });

  test('does not come from the credential that the agent was registered with, unless it is unbound and may administer', async () => {
    const deployer = person('deployer');
    const mine = await world.register(agentId('acme/search/mine'), {}, deployer);
    const { approvalId } = await shell(mine);
    await expect(approve(world, approvalId, deployer)).rejects.toMatchObject({ code: 'own_approval' });
    await expect(reject(world, approvalId, deployer)).rejects.toMatchObject({ code: 'own_approval' });
    expect((await stored(approvalId)).verdicts).toEqual([]);
    const bound = person('deployer', { scopes: ['admin'], orgId: 'acme' });
    await expect(approve(world, approvalId, bound)).rejects.toMatchObject({ code: 'own_approval' });
    const admin = person('deployer', { scopes: ['admin'] });
    expect((await approve(world, approvalId, admin)).state).toBe('approved');
  });

  test('needs the scope and the tenant; elsewhere the approval does not exist', async () => {
    const { approvalId } = await shell();
    await expect(approve(world, approvalId, person('r', { scopes: ['read'] }))).rejects.toMatchObject({
      code: 'insufficient_scope',
    });
    for (const elsewhere of [person('x', { orgId: 'umbrella' }), person('y', { orgId: 'acme', teamId: 'other' })]) {
      await expect(approve(world, approvalId, elsewhere)).rejects.toMatchObject({ code: 'approval_not_found' });
      await expect(findApproval(world.gov, elsewhere, approvalId)).rejects.toMatchObject({
        code: 'approval_not_found',
      });
      const filter = { state: 'open' } as const;
      expect(await listApprovals(world.gov, elsewhere, filter, { limit: 10 })).toMatchObject({ items: [], total: 0 });
    }
    await expect(approve(world, 'apr_unknown')).rejects.toMatchObject({ code: 'approval_not_found' });
    expect((await approve(world, approvalId, person('z', { orgId: 'acme' }))).state).toBe('approved');
  });
});

describe('an operation that ends while it is asked about', () => {
  test('has its approval cancelled when an operator terminates it', async () => {
    const { approvalId } = await shell(bot, { estimatedCostMicros: 500 });
    await control(world, bot, 't:s', 'terminate', 'enough');
    expect(await stored(approvalId)).toMatchObject({ state: 'cancelled' });
    expect(reserved()).toBe(0);
    expect((await entries('ApprovalCancelled'))[0]).toMatchObject({ reason: 'enough', actor: operator.actor });
    await expect(approve(world, approvalId)).rejects.toMatchObject({
      code: 'already_decided',
      facts: { state: 'cancelled' },
    });
  });

  test('has its approval cancelled when its agent leaves', async () => {
    const { approvalId } = await shell(bot, { estimatedCostMicros: 500 });
    await world.deregister(bot);
    expect((await stored(approvalId)).state).toBe('cancelled');
    expect(reserved()).toBe(0);
    await expect(approve(world, approvalId)).rejects.toMatchObject({ code: 'already_decided' });
  });

  test('is answered as over where it is terminated while the answer is on its way', async () => {
    const answer = checkAction(
      world.gov,
      checkOf({ agentId: bot.id, token: bot.token, traceId: 't', spanId: 's', action: useTool('shell') }),
    );
    const op = opOf(world, bot, 't:s');
    const terminating = controlOp(world.gov, operator, op, 'terminate', 'stop');
    world.turn();
    await terminating;
    expect(await answer).toMatchObject({ decision: 'deny', approvalId: '', reason: 'operation is terminated' });
  });
});

describe('an agent that is suspended', () => {
  test('runs nothing by an approval until it is resumed', async () => {
    const { approvalId } = await shell();
    await finish(world, suspendAgent(world.gov, operator, bot.id, 'look at it'));
    await approve(world, approvalId);
    expect(opOf(world, bot, 't:s').state).toBe('paused');
    await finish(world, resumeAgent(world.gov, operator, bot.id, ''));
    expect(opOf(world, bot, 't:s').state).toBe('running');
  });
});

describe('the message that an approval was decided', () => {
  test('waits for an agent that listens later, and goes when it is acknowledged', async () => {
    const { approvalId } = await shell();
    await approve(world, approvalId);
    expect((await stored(approvalId)).signalSequence).toBe(1);
    expect((await listen(world, bot)).signals()).toEqual(['1 allow']);
    await ack(world, bot, 1, 'received');
    expect((await stored(approvalId)).signalSequence).toBeNull();
    expect((await listen(world, bot)).signals()).toEqual([]);
  });

  test('outlives a restart, under the same number, until it is acknowledged', async () => {
    const { approvalId } = await shell();
    await approve(world, approvalId, person('alice'), { reason: 'fine' });
    world = await world.crash();
    const listener = await listen(world, bot);
    expect(listener.signals()).toEqual(['1 allow']);
    expect(listener.heard[0]?.reason).toBe('approved by alice@example.com: fine');
    await ack(world, bot, 1, 'received');
    world = await world.crash();
    expect((await listen(world, bot)).signals()).toEqual([]);
    expect(world.gov.approvals.find(approvalId)).toBeUndefined();
  });

  test('of a rejection outlives a restart as well', async () => {
    const { approvalId } = await shell();
    await reject(world, approvalId, person('bob'), 'no');
    world = await world.crash();
    expect((await listen(world, bot)).signals()).toEqual(['1 terminate']);
  });

  test('that it may run is not sent any more when it has ended', async () => {
    const { approvalId } = await shell();
    await approve(world, approvalId);
    await world.complete(bot, 't:s');
    expect((await listen(world, bot)).signals()).toEqual([]);
    expect((await stored(approvalId)).signalSequence).toBeNull();
  });
});

describe('a restart', () => {
  test('leaves an open approval as it was, to be approved', async () => {
    const { approvalId } = await shell(bot, { estimatedCostMicros: 500 });
    world = await world.crash();
    expect(reserved()).toBe(500);
    expect(await shell(bot, { estimatedCostMicros: 500 })).toMatchObject({ decision: 'pending', approvalId });
    await approve(world, approvalId);
    expect(await shell()).toMatchObject({ decision: 'allow' });
    world = await world.crash();
    expect(await shell()).toMatchObject({ decision: 'allow', reason: 'approved by alice@example.com' });
    expect(reserved()).toBe(500);
  });

  test('keeps the verdicts that were given so far', async () => {
    await world.policies(asking.replace('tools: [shell]', 'tools: [shell], approvals: { count: 2 }'));
    const { approvalId } = await shell();
    await approve(world, approvalId, person('alice'));
    world = await world.crash();
    await expect(approve(world, approvalId, person('alice'))).rejects.toMatchObject({ code: 'already_decided' });
    expect((await approve(world, approvalId, person('bob'))).state).toBe('approved');
  });

  test('cancels what its operation did not outlive', async () => {
    const { approvalId } = await shell(bot, { estimatedCostMicros: 500 });
    world.gov.journal.apply({ kind: 'ops_forgotten' });
    world.turn();
    world = await world.crash();
    expect((await stored(approvalId)).state).toBe('cancelled');
    expect(reserved()).toBe(0);
  });
});

describe('after a restart', () => {
  const heard = async () => (await listen(world, bot)).heard;

  test('the agent of a paused operation is still told that it may run', async () => {
    const { approvalId } = await shell();
    await finish(world, suspendAgent(world.gov, operator, bot.id, 'look at it'));
    await approve(world, approvalId);
    world = await world.crash();
    expect(opOf(world, bot, 't:s').state).toBe('paused');
    expect((await heard()).map(({ signal }) => signal)).toEqual(['allow', 'pause']);
  });

  test('nobody is told that an operation may run which is not known any more', async () => {
    const { approvalId } = await shell();
    await approve(world, approvalId);
    world.gov.journal.apply({ kind: 'ops_forgotten' });
    world.turn();
    world = await world.crash();
    expect(await heard()).toEqual([]);
    expect((await stored(approvalId)).signalSequence).toBeNull();
  });

  test('an agent is told for a day that an operation is over', async () => {
    const { approvalId } = await shell();
    world.clock.advance(1000);
    const decidedAt = world.clock.now();
    await reject(world, approvalId, person('bob'), 'no');
    world.clock.advance(86_399_999);
    world = await world.crash();
    expect(await heard()).toMatchObject([
      { opId: 't:s', signal: 'terminate', sequence: 1, reason: 'rejected by bob@example.com: no', issuedAt: decidedAt },
    ]);
    world.clock.advance(1);
    world = await world.crash();
    expect(await heard()).toEqual([]);
    expect((await stored(approvalId)).signalSequence).toBeNull();
  });

  /** Restarts with what the store may hold after a crash. */
  const restartWith = async (...approvals: readonly Approval[]) => {
    const changes = approvals.map((approval) => ({ kind: 'approval_saved', approval }) as const);
    await world.store.commit({ entries: [], changes });
    world = await world.crash();
  };

  test('an agent is told that an operation is over also where that is not known any more', async () => {
    const { approvalId } = await shell();
    await reject(world, approvalId);
    world.gov.journal.apply({ kind: 'ops_forgotten' });
    world.turn();
    world = await world.crash();
    expect(await heard()).toMatchObject([
      { opId: 't:s', signal: 'terminate', reason: 'rejected by alice@example.com' },
    ]);
  });

  test('an agent that is not known is told nothing', async () => {
    const { approvalId } = await shell();
    const rejected = await reject(world, approvalId);
    const stray = { ...rejected, id: 'apr_stray', agent: agentId('acme/search/gone') };
    await restartWith(stray);
    expect((await stored('apr_stray')).signalSequence).toBeNull();
    expect((await stored(approvalId)).signalSequence).toBe(1);
  });

  test('nobody is told that another request may run, or what has ended', async () => {
    const { approvalId } = await shell();
    const approved = await approve(world, approvalId);
    await restartWith({ ...approved, digest: 'of another request' });
    expect([await heard(), (await stored(approvalId)).signalSequence]).toEqual([[], null]);
    await world.complete(bot, 't:s');
    await restartWith(approved);
    expect([await heard(), (await stored(approvalId)).signalSequence]).toEqual([[], null]);
  });

  test('what is still to be notified of comes back, the oldest first, and its agent is told nothing more', async () => {
    const { clock, store } = world;
    const { approvalId } = await shell();
    const rejected = await reject(world, approvalId);
    const owed = { ...rejected, signalSequence: null, notices: ['decided'] } as const;
    const approvals = [
      { ...owed, id: 'apr_newer', requestedAt: 2 },
      { ...owed, id: 'apr_older', requestedAt: 1 },
      { ...owed, notices: [] },
    ];
    await store.commit({ entries: [], changes: approvals.map((approval) => ({ kind: 'approval_saved', approval })) });
    world = await testGovernance({ clock, store, approvals: { notifies: true } });
    expect(world.gov.approvals.owing().map(({ id }) => id)).toEqual(['apr_older', 'apr_newer']);
    expect(await heard()).toEqual([]);
  });

  test('nobody is notified any more where that was switched off', async () => {
    const { clock, store } = world;
    const start = (notifies: boolean) => testGovernance({ clock, store, approvals: { notifies } });
    const before = world.gov.policies;
    world = await start(true);
    world.gov.policies = before;
    const { approvalId } = await shell();
    world = await start(true);
    expect((await stored(approvalId)).notices).toEqual(['requested']);
    world = await start(false);
    expect(await stored(approvalId)).toMatchObject({ state: 'open', notices: [] });
    expect(world.gov.approvals.owing()).toEqual([]);
  });
});

describe('a budget that is used up', () => {
  const capped = (action: string, rules = '') =>
    world.policies(
      `name: p\ndefault: allow\nbudget: { org_daily_limit_usd: 1, action_on_exceed: ${action} }\n${rules}`,
    );
  const spend = (micros: number, members: object = {}) =>
    world.check(bot, { estimatedCostMicros: micros, action: useTool('search'), ...members });

  test('has people asked where policy says so; what they approve may pass the cap, and is booked', async () => {
    await capped('require_approval');
    await spend(900_000);
    const answer = await spend(200_000);
    expect(answer).toMatchObject({
      decision: 'pending',
      policyRule: 'budget/org.day',
      tier: 'budget',
      limit: undefined,
    });
    expect(reserved()).toBe(1_100_000);
    await approve(world, answer.approvalId);
    await world.complete(bot, answer.opId);
    const [, of] = tiersOf(bot.id);
    expect(of && world.gov.ledger.read(of).spent.day).toBe(200_000);
    expect(await entries('BudgetLimitExceeded')).toEqual([]);
  });

  test('frees what it held back past the cap when that is rejected', async () => {
    await capped('require_approval');
    await spend(900_000);
    const { approvalId } = await spend(200_000);
    await reject(world, approvalId);
    expect(reserved()).toBe(900_000);
  });

  test('beats a rule that has people asked, where it denies', async () => {
    await capped('deny', 'rules: [{ name: ask, effect: require_approval, tools: [shell] }]');
    const answer = await spend(2_000_000, { action: useTool('shell') });
    expect(answer).toMatchObject({ decision: 'deny', policyRule: 'budget/org.day', approvalId: '' });
    expect(world.gov.approvals.openCount).toBe(0);
  });

  test('asks once for both where a rule asks as well, on the rule’s terms, and grants nothing beyond', async () => {
    await capped('require_approval', 'rules: [{ name: ask, effect: require_approval, approvals: { count: 2 } }]');
    const answer = await spend(2_000_000, { runId: 'r' });
    expect(answer).toMatchObject({ decision: 'pending', policyRule: 'budget/org.day' });
    expect(answer.reason).toMatch(/cap of 1\.00 USD a day.*; and approval required by rule p\/ask$/);
    expect(await stored(answer.approvalId)).toMatchObject({ required: 2, cause: 'budget' });
    await expect(approve(world, answer.approvalId, person('a'), { grant: { reach: 'run' } })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });
});
