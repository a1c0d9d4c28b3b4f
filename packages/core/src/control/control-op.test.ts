import { beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { ask, person } from '../testkit/approvals.ts';
import { control, finish, listen, opOf, permissive, run, storedReceipt } from '../testkit/controls.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { ticks } from '../testkit/two-gateways.ts';
import { agentKey } from '../kernel/ids.ts';
import type { ControlMessage } from './outbox.ts';
import { subscribeControl } from './messages.ts';
import { approveAction, controlOp, suspendAgent } from '../testkit/commands.ts';

let g: TestGovernance;
let bot: TestAgent;

beforeEach(async () => {
  g = await permissive();
  bot = await g.register(agentId('acme/search/bot'));
  await run(g, bot, 'a', 'b');
});

describe('a control of one operation', () => {
  test('moves it, answers with the receipt, and shows the receipt on the operation', async () => {
    const { op, control: receipt } = await control(g, bot, 'a:s', 'pause', 'looks odd');
    expect(op).toMatchObject({ opId: 'a:s', state: 'paused', control: receipt });
    expect(receipt).toMatchObject({
      id: expect.stringMatching(/^ctl_[0-9a-f]{24}$/),
      bulkId: null,
      agent: bot.id,
      opId: 'a:s',
      action: 'pause',
      actor: operator.actor,
      reason: 'looks odd',
      cause: 'operator',
      sequence: 1,
      requestedAt: g.clock.now(),
      deliveredAt: null,
      status: 'requested',
    });
  });

  test('is one OpControlRequested and one OpStateChanged with the same control, and one event that shows it', async () => {
    const before = (await g.audit()).length;
    const published = g.events.length;
    const { control: receipt } = await control(g, bot, 'a:s', 'pause', 'looks odd', { ...operator, requestId: 'r1' });
    const added = (await g.audit()).slice(before);
    expect(added).toMatchObject([
      {
        event_type: 'OpControlRequested',
        actor: operator.actor,
        op_id: 'a:s',
        trace_id: 'a',
        span_id: 's',
        reason: 'looks odd',
        lineage: { org_id: 'acme', agent_id: 'bot' },
        payload: { action: 'pause', control_id: receipt?.id, request_id: 'r1' },
      },
      {
        event_type: 'OpStateChanged',
        actor: operator.actor,
        op_id: 'a:s',
        reason: 'looks odd',
        payload: { from: 'running', to: 'paused', trigger: 'pause', control_id: receipt?.id, request_id: 'r1' },
      },
    ]);
    expect(added).toHaveLength(2);
    expect(g.events.slice(published)).toMatchObject([
      { type: 'ops_change', op: { state: 'paused', control: receipt } },
    ]);
  });

  test('keeps no secret of its reason', async () => {
    const { control: receipt } = await control(g, bot, 'a:s', 'pause', 'password=hunter2hunter2');
    expect(JSON.stringify([receipt, await g.audit()])).not.toContain('hunter2');
  });

  test('that terminates what is terminated does nothing, and says so by having no receipt', async () => {
    await control(g, bot, 'a:s', 'terminate', 'enough');
    const before = (await g.audit()).length;
    const published = g.events.length;
    const again = await control(g, bot, 'a:s', 'terminate', 'again');
    expect(again.control).toBeNull();
    expect(again.op).toMatchObject({ state: 'terminated', reason: 'enough', control: { reason: 'enough' } });
    expect(await g.audit()).toHaveLength(before);
    expect(g.events).toHaveLength(published);
    expect(await g.store.receiptOf(bot.id, 2)).toBeUndefined();
  });

  test.each([
    ['resume', 'running', ['pause', 'complete', 'terminate']],
    ['pause', 'completing', []],
    ['terminate', 'completing', []],
  ] as const)('refuses to %s what is %s, and leaves no trace', async (action, state, allowed) => {
    const listener = await listen(g, bot);
    if (state === 'completing') await g.complete(bot, 'a:s');
    const before = (await g.audit()).length;
    const published = g.events.length;
    await expect(control(g, bot, 'a:s', action)).rejects.toMatchObject({
      code: 'invalid_transition',
      facts: { state, allowed },
    });
    g.turn();
    expect(await g.audit()).toHaveLength(before);
    expect(g.events).toHaveLength(published);
    expect(listener.heard).toEqual([]);
    expect(opOf(g, bot, 'a:s').control).toBeNull();
    expect((await control(g, bot, 'b:s', 'pause')).control?.sequence).toBe(1);
  });

  test('needs the write scope, and is blind to what another tenant has', async () => {
    const reader: Principal = { ...operator, scopes: ['read'] };
    await expect(control(g, bot, 'a:s', 'pause', '', reader)).rejects.toMatchObject({ code: 'insufficient_scope' });
    const stranger: Principal = { ...operator, orgId: 'umbrella' };
    await expect(control(g, bot, 'a:s', 'pause', '', stranger)).rejects.toMatchObject({ code: 'op_not_found' });
    await expect(control(g, bot, 'a:s', 'pause', 'x'.repeat(8193))).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  test('that cannot be made durable is not done, not told, and its number is used again', async () => {
    const listener = await listen(g, bot);
    g.failure = new Error('full');
    await expect(control(g, bot, 'a:s', 'pause')).rejects.toMatchObject({ code: 'store_unavailable' });
    g.failure = undefined;
    expect(opOf(g, bot, 'a:s')).toMatchObject({ state: 'running', control: null });
    expect(listener.heard).toEqual([]);
    await control(g, bot, 'b:s', 'pause');
    expect(listener.signals()).toEqual(['1 pause']);
    expect(listener.heard[0]?.opId).toBe('b:s');
  });
});

describe('an agent that listens', () => {
  test('hears what it has not acknowledged, in order, and then what comes', async () => {
    await control(g, bot, 'a:s', 'pause', 'why');
    await control(g, bot, 'b:s', 'terminate');
    const listener = await listen(g, bot);
    await control(g, bot, 'a:s', 'resume');
    expect(listener.signals()).toEqual(['1 pause', '2 terminate', '3 resume']);
    const { control: receipt } = opOf(g, bot, 'a:s');
    expect(listener.heard[2]).toMatchObject({ opId: 'a:s', issuedAt: g.clock.now(), controlId: receipt?.id });
    expect(listener.heard[0]).toMatchObject({ opId: 'a:s', reason: 'why' });
  });

  test('hears nothing before it is durable', async () => {
    const listener = await listen(g, bot);
    const controlling = controlOp(g.gov, operator, opOf(g, bot, 'a:s'), 'pause', '');
    await Promise.resolve();
    expect(listener.heard).toEqual([]);
    // A stream that opens now hears nothing either, nor does one whose reader catches up.
    const comer: ControlMessage[] = [];
    const request = { agentId: bot.id, token: bot.token, afterSequence: 0 };
    await subscribeControl(g.gov, request, {
      isOpen: () => true,
      send: (message) => comer.push(message) > 0,
      fail: () => undefined,
    });
    listener.subscription.drained();
    expect([listener.heard, comer]).toEqual([[], []]);
    await g.settle(controlling);
    expect(listener.signals()).toEqual(['1 pause']);
    expect(comer).toEqual(listener.heard);
  });

  test('hears it on each of its streams, and the receipt is delivered once', async () => {
    const [one, two] = [await listen(g, bot), await listen(g, bot)];
    await control(g, bot, 'a:s', 'pause');
    expect([one.signals(), two.signals()]).toEqual([['1 pause'], ['1 pause']]);
    const receipt = await storedReceipt(g, bot, 1);
    expect(receipt).toMatchObject({ status: 'delivered', deliveredAt: g.clock.now() });
    expect(opOf(g, bot, 'a:s').control).toEqual(receipt);
    g.clock.advance(50);
    await listen(g, bot);
    expect((await storedReceipt(g, bot, 1)).deliveredAt).toBe(receipt.deliveredAt);
  });

  test('goes on where it says that it stopped, and a number never reached hides nothing', async () => {
    for (const name of ['a:s', 'b:s']) await control(g, bot, name, 'pause');
    expect((await listen(g, bot, 1)).signals()).toEqual(['2 pause']);
    const ahead = await listen(g, bot, 1_000_000);
    expect(ahead.signals()).toEqual([]);
    await control(g, bot, 'a:s', 'resume');
    expect(ahead.signals()).toEqual(['3 resume']);
  });

  test('hears nothing of what another agent is told', async () => {
    const other = await g.register(agentId('acme/search/other'));
    await run(g, other, 'a');
    const listener = await listen(g, other);
    await control(g, bot, 'a:s', 'pause');
    await control(g, other, 'a:s', 'pause');
    expect(listener.signals()).toEqual(['1 pause']);
    expect(opOf(g, bot, 'a:s').control?.status).toBe('requested');
  });

  test('and does not keep up is sent no more until it does, and misses nothing', async () => {
    await run(g, bot, 'c', 'd');
    const slow = await listen(g, bot);
    const fast = await listen(g, bot);
    slow.room = 2;
    for (const name of ['a:s', 'b:s', 'c:s', 'd:s']) await control(g, bot, name, 'pause');
    expect(slow.signals()).toEqual(['1 pause', '2 pause']);
    expect(fast.signals()).toHaveLength(4);
    slow.room = 10;
    slow.subscription.drained();
    expect(slow.signals()).toEqual(['1 pause', '2 pause', '3 pause', '4 pause']);
  });

  test('and whose stream has ended without a word counts as not told', async () => {
    const listener = await listen(g, bot);
    listener.subscription.close();
    await control(g, bot, 'a:s', 'pause');
    expect(listener.heard).toEqual([]);
    expect((await storedReceipt(g, bot, 1)).status).toBe('requested');
  });

  test('with a bad token is refused; one that is suspended may listen', async () => {
    await expect(listen(g, { ...bot, token: 'x'.repeat(40) })).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(g.known(bot.id).record.controlled).toBe(false);
    await g.settle(suspendAgent(g.gov, operator, bot.id, ''));
    expect((await listen(g, bot)).signals()).toEqual(['1 pause', '2 pause']);
  });

  test('is ended when its token is replaced or it leaves, and not when it registers with the same token', async () => {
    const first = await listen(g, bot);
    const same = await g.register(bot.id, { token: bot.token });
    expect(first.failure).toBeUndefined();
    expect(g.known(bot.id).record.controlled).toBe(true);
    const anew = await g.register(bot.id);
    expect(first.failure).toMatchObject({ code: 'unauthenticated' });
    expect(g.known(bot.id).record.controlled).toBe(false);
    await control(g, bot, 'a:s', 'pause');
    expect(first.heard).toEqual([]);
    await expect(listen(g, same)).rejects.toMatchObject({ code: 'unauthenticated' });
    const second = await listen(g, anew);
    expect(second.signals()).toEqual(['1 pause']);
    await g.deregister(anew);
    expect(second.failure).toMatchObject({ code: 'unauthenticated' });
    expect(g.gov.control.streamCount).toBe(0);
  });
});

test('numbers go on after the agent has left and come back, and what it was told about the past is given up', async () => {
  await control(g, bot, 'a:s', 'pause');
  await control(g, bot, 'b:s', 'pause');
  const other = await g.register(agentId('acme/search/other'));
  await listen(g, other);
  const [entries, events] = [(await g.audit()).length, g.events.length];
  await g.deregister(bot);
  const unconfirmed = (await g.audit()).slice(entries).filter((entry) => entry.event_type === 'OpControlUnconfirmed');
  expect(unconfirmed.map(({ op_id, reason }) => [op_id, reason])).toEqual([
    ['a:s', 'agent deregistered'],
    ['b:s', 'agent deregistered'],
  ]);
  expect(g.events.slice(events).filter((event) => event.type === 'audit_alert')).toHaveLength(2);
  expect(await storedReceipt(g, bot, 2)).toMatchObject({
    status: 'unconfirmed',
    detail: 'agent deregistered',
    waiting: false,
  });
  expect(g.gov.control.find(g.known(other.id).key)).toBeDefined();
  expect(g.gov.control.find(agentKey(bot.id))).toBeUndefined();
  const back = await g.register(bot.id);
  await run(g, back, 'later');
  const listener = await listen(g, back);
  await control(g, back, 'later:s', 'pause');
  expect(listener.signals()).toEqual(['3 pause']);
});

test('a message may go without a receipt, in the same order', async () => {
  const listener = await listen(g, bot);
  await control(g, bot, 'a:s', 'pause');
  const approving = approveAction(g.gov, person('alice'), await ask(g, bot, 'c'), { reason: '', grant: null });
  await ticks();
  expect(listener.signals()).toEqual(['1 pause']);
  await finish(g, approving);
  expect(listener.signals()).toEqual(['1 pause', '2 allow']);
  expect(listener.heard[1]).toMatchObject({ opId: 'c:s', reason: 'approved by alice@example.com', controlId: '' });
});

describe('an agent that never listens', () => {
  test('has at most 1,000 messages waiting, or as many as it has operations; what was overtaken goes first', async () => {
    await control(g, bot, 'b:s', 'pause');
    for (let i = 0; i < 500; i++) {
      await control(g, bot, 'a:s', 'pause');
      await control(g, bot, 'a:s', 'resume');
    }
    const outbox = g.gov.control.outbox(bot.id);
    expect(outbox.size).toBe(1000);
    expect(await storedReceipt(g, bot, 1)).toMatchObject({ status: 'requested', waiting: true });
    expect(await storedReceipt(g, bot, 2)).toMatchObject({
      status: 'unconfirmed',
      detail: 'overtaken',
      waiting: false,
      blocks: false,
    });
    expect(await storedReceipt(g, bot, 3)).toMatchObject({ status: 'requested', waiting: true });
    expect((await g.audit()).filter((entry) => entry.event_type === 'OpControlUnconfirmed')).toHaveLength(1);
    const alerts = g.events.filter((event) => event.type === 'audit_alert');
    expect(alerts).toMatchObject([{ alert: 'control_unconfirmed', agent: bot.id, details: { op_id: 'a:s' } }]);
  });

  test('with more operations than that is told of each', async () => {
    const names = Array.from({ length: 1100 }, (_, index) => `n${index}`);
    for (const name of names) await run(g, bot, name);
    for (const name of names) await control(g, bot, `${name}:s`, 'pause');
    expect(g.gov.control.outbox(bot.id).size).toBe(1100);
    expect((await listen(g, bot)).heard).toHaveLength(1100);
  });
});
