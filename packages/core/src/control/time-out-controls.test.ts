import { beforeEach, describe, expect, test } from 'vitest';
import { ack, control, finish, listen, opOf, permissive, run, storedReceipt } from '../testkit/controls.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { timeOutControls } from './receipts.ts';
import { resumeAgent, suspendAgent } from '../testkit/commands.ts';
import { alwaysListened } from '../testkit/manual-clock.ts';

const refusal = { decision: 'deny', reason: 'agent has not confirmed a stop', policyRule: 'identity', opId: '' };
let g: TestGovernance;
let bot: TestAgent;

beforeEach(async () => {
  g = await permissive();
  bot = await g.register(agentId('acme/search/bot'));
  await run(g, bot, 'a', 'b');
});

async function timeOut(test: TestGovernance, ms = 10_000): Promise<number> {
  test.clock.advance(ms);
  const count = timeOutControls(test.gov, 100, alwaysListened);
  await finish(test, test.gov.journal.committed());
  return count;
}

const alerts = () => g.events.filter((event) => event.type === 'audit_alert');

describe('a control that is not acknowledged in time', () => {
  test('becomes unconfirmed, with one entry and one alert, and stays to be heard', async () => {
    await control(g, bot, 'a:s', 'pause');
    expect(await timeOut(g, 9_999)).toBe(0);
    expect(await timeOut(g, 1)).toBe(1);
    expect(await timeOut(g)).toBe(0);
    expect(await storedReceipt(g, bot, 1)).toMatchObject({
      status: 'unconfirmed',
      detail: 'not acknowledged in time',
      blocks: false,
    });
    const entries = (await g.audit()).filter((entry) => entry.event_type === 'OpControlUnconfirmed');
    expect(entries).toMatchObject([
      { actor: { kind: 'system' }, op_id: 'a:s', payload: { action: 'pause', sequence: 1, blocked: false } },
    ]);
    expect(alerts()).toMatchObject([
      { alert: 'control_unconfirmed', agent: bot.id, details: { op_id: 'a:s', action: 'pause', blocked: false } },
    ]);
    expect((await listen(g, bot)).signals()).toEqual(['1 pause']);
    expect(await storedReceipt(g, bot, 1)).toMatchObject({ status: 'unconfirmed', deliveredAt: g.clock.now() });
  });

  test('is measured on the clock that never jumps', async () => {
    await control(g, bot, 'a:s', 'pause');
    g.clock.setWallClock(3_600_000);
    expect(await timeOut(g, 0)).toBe(0);
    g.clock.setWallClock(-7_200_000);
    expect(await timeOut(g)).toBe(1);
  });

  test('is none where the agent has said anything to it', async () => {
    for (const [index, outcome] of (['received', 'effective', 'failed'] as const).entries()) {
      await control(g, bot, 'a:s', index % 2 === 0 ? 'pause' : 'resume');
      await ack(g, bot, index + 1, outcome);
    }
    expect(await timeOut(g)).toBe(0);
  });

  test('is taken as what it is when the word comes late', async () => {
    await control(g, bot, 'a:s', 'pause');
    await timeOut(g);
    await ack(g, bot, 1, 'effective');
    expect(await storedReceipt(g, bot, 1)).toMatchObject({ status: 'effective' });
  });

  test('is tried again later where that could not be made durable', async () => {
    await listen(g, bot);
    await control(g, bot, 'a:s', 'pause');
    g.failure = new Error('full');
    await expect(timeOut(g)).rejects.toMatchObject({ code: 'store_unavailable' });
    g.failure = undefined;
    expect(await g.check(bot)).toMatchObject({ decision: 'allow' });
    expect(await timeOut(g)).toBe(1);
    expect(await g.check(bot)).toMatchObject(refusal);
  });

  test('gets no more time by an answer that could not be made durable', async () => {
    await control(g, bot, 'a:s', 'pause');
    g.clock.advance(9_999);
    g.failure = new Error('full');
    await expect(ack(g, bot, 1, 'received')).rejects.toMatchObject({ code: 'store_unavailable' });
    g.failure = undefined;
    expect(await timeOut(g, 0)).toBe(0);
    expect(await timeOut(g, 1)).toBe(1);
  });

  test('is one of many: they are marked a few at a time', async () => {
    for (const name of ['a:s', 'b:s']) await control(g, bot, name, 'pause');
    g.clock.advance(10_000);
    expect([
      timeOutControls(g.gov, 1, alwaysListened),
      timeOutControls(g.gov, 1, alwaysListened),
      timeOutControls(g.gov, 1, alwaysListened),
    ]).toEqual([1, 1, 0]);
  });
});

describe('an agent that has listened since it was registered and does not confirm a stop', () => {
  test('is refused by identity, with no operation and one entry, and may still report and hear', async () => {
    await listen(g, bot);
    await control(g, bot, 'a:s', 'pause');
    expect(await g.check(bot)).toMatchObject({ decision: 'allow' });
    await timeOut(g);
    const before = (await g.audit()).length;
    expect(await g.check(bot, { traceId: 'new', spanId: 's' })).toMatchObject(refusal);
    const [entry, ...more] = (await g.audit()).slice(before);
    expect(entry).toMatchObject({
      event_type: 'ActionDenied',
      actor: { kind: 'agent', id: 'acme/search/bot' },
      reason: 'agent has not confirmed a stop',
      policy_rule: 'identity',
      lineage: { org_id: 'acme' },
    });
    expect(more).toEqual([]);
    expect(g.opsOf(bot.id).has('new:s')).toBe(false);
    await g.complete(bot, 'b:s');
    expect((await listen(g, bot)).signals()).toEqual(['1 pause']);
  });

  test.each(['received', 'effective'] as const)('is answered again once it says %s', async (outcome) => {
    await listen(g, bot);
    await control(g, bot, 'a:s', 'terminate');
    await control(g, bot, 'b:s', 'pause');
    await timeOut(g);
    await ack(g, bot, 1, outcome);
    expect(await g.check(bot)).toMatchObject(refusal);
    await ack(g, bot, 2, outcome);
    expect(await g.check(bot)).toMatchObject({ decision: 'allow' });
  });

  test('stays blocked where it only says that it failed', async () => {
    await listen(g, bot);
    await control(g, bot, 'a:s', 'pause');
    await timeOut(g);
    await ack(g, bot, 1, 'failed');
    expect(await g.check(bot)).toMatchObject(refusal);
    expect(await storedReceipt(g, bot, 1)).toMatchObject({ status: 'failed', blocks: true });
    const next = await g.crash();
    expect(await next.check(bot)).toMatchObject(refusal);
    await ack(next, bot, 1, 'effective');
    expect(await next.check(bot)).toMatchObject({ decision: 'allow' });
  });

  test('is answered again when an operator resumes it, though it is not suspended; nothing else moves', async () => {
    await listen(g, bot);
    await control(g, bot, 'a:s', 'pause');
    await timeOut(g);
    const before = (await g.audit()).length;
    await g.settle(resumeAgent(g.gov, operator, bot.id, 'it is fine'));
    expect((await g.audit()).slice(before)).toMatchObject([{ event_type: 'AgentResumed', reason: 'it is fine' }]);
    expect(await g.check(bot)).toMatchObject({ decision: 'allow' });
    expect(opOf(g, bot, 'a:s').state).toBe('paused');
    expect(await storedReceipt(g, bot, 1)).toMatchObject({ status: 'unconfirmed', blocks: false, waiting: true });
    expect(await (await g.crash()).check(bot)).toMatchObject({ decision: 'allow' });
  });

  test('does not escape by a restart of the gateway, by registering again or by leaving first', async () => {
    await listen(g, bot);
    await control(g, bot, 'a:s', 'pause');
    await timeOut(g);
    const next = await g.crash();
    expect(await next.check(bot)).toMatchObject(refusal);
    const anew = await next.register(bot.id);
    expect(await next.check(anew)).toMatchObject(refusal);
    await next.deregister(anew);
    const last = await next.crash();
    const again = await last.register(bot.id);
    expect(await last.check(again)).toMatchObject(refusal);
    expect((await listen(last, again)).signals()).toEqual(['1 pause']);
    await ack(last, again, 1, 'received');
    expect(await last.check(again)).toMatchObject({ decision: 'allow' });
  });

  test('is not blocked for a resume, nor where it has not listened in this registration', async () => {
    const listener = await listen(g, bot);
    await control(g, bot, 'a:s', 'pause');
    await ack(g, bot, 1, 'effective');
    await control(g, bot, 'a:s', 'resume');
    await timeOut(g);
    expect(await g.check(bot)).toMatchObject({ decision: 'allow' });
    listener.subscription.close();
    const anew = await g.register(bot.id);
    await control(g, anew, 'a:s', 'pause');
    await timeOut(g);
    expect(await g.check(anew)).toMatchObject({ decision: 'allow' });
  });

  test('is not blocked for a stop that an operator took back in time', async () => {
    await listen(g, bot);
    await control(g, bot, 'a:s', 'pause');
    await control(g, bot, 'a:s', 'resume');
    await g.settle(suspendAgent(g.gov, operator, bot.id, ''));
    await g.settle(resumeAgent(g.gov, operator, bot.id, ''));
    await timeOut(g);
    expect(await g.check(bot)).toMatchObject({ decision: 'allow' });
    expect(await storedReceipt(g, bot, 1)).toMatchObject({ status: 'unconfirmed', blocks: false });
    await control(g, bot, 'a:s', 'pause');
    await timeOut(g);
    expect(await g.check(bot)).toMatchObject(refusal);
  });

  test('is told apart from a suspended one, which comes first', async () => {
    await listen(g, bot);
    await g.settle(suspendAgent(g.gov, operator, bot.id, ''));
    await timeOut(g);
    expect(await g.check(bot)).toMatchObject({ reason: 'agent is suspended' });
    await g.settle(resumeAgent(g.gov, operator, bot.id, ''));
    expect(await g.check(bot)).toMatchObject({ decision: 'allow' });
  });
});

test('one that only waited for decisions hears all, owes nothing, and keeps what it owes already', async () => {
  const waiting = await listen(g, bot, 0, true);
  await control(g, bot, 'a:s', 'terminate');
  expect(waiting.signals()).toEqual(['1 terminate']);
  expect(await storedReceipt(g, bot, 1)).toMatchObject({ status: 'requested', deliveredAt: null, owed: false });
  // An agent that registers again while it waits has not begun to carry out controls by that.
  await g.register(bot.id, { token: bot.token });
  expect(g.known(bot.id).record.controlled).toBe(false);
  await timeOut(g);
  expect(await storedReceipt(g, bot, 1)).toMatchObject({ status: 'unconfirmed', blocks: false });
  expect(await g.check(bot)).toMatchObject({ decision: 'allow' });

  const listening = await listen(g, bot);
  await listen(g, bot, 0, true);
  await g.register(bot.id, { token: bot.token });
  expect(g.known(bot.id).record.controlled).toBe(true);
  listening.subscription.close();
  await control(g, bot, 'b:s', 'terminate');
  // What it owes, it owes, whatever it is afterwards.
  await g.register(bot.id, { token: bot.token });
  expect(g.known(bot.id).record.controlled).toBe(false);
  await timeOut(g);
  expect(await g.check(bot)).toMatchObject(refusal);
});

test('where all must confirm, one that never listened is blocked, too', async () => {
  const strict = await permissive({ control: { strict: true, ackMs: 500 } });
  const agent = await strict.register(agentId('acme//bot'));
  await run(strict, agent, 'a');
  await control(strict, agent, 'a:s', 'pause');
  await timeOut(strict, 500);
  expect(await strict.check(agent)).toMatchObject(refusal);
});

describe('after a restart', () => {
  test('what waits is heard in the same order, and the time to acknowledge starts anew', async () => {
    await listen(g, bot);
    await control(g, bot, 'a:s', 'pause', 'one');
    await control(g, bot, 'b:s', 'terminate', 'two');
    await control(g, bot, 'a:s', 'resume', 'three');
    await ack(g, bot, 2, 'effective');
    g.clock.advance(9_000);
    const next = await g.crash();
    expect(await timeOut(next, 9_999)).toBe(0);
    const listener = await listen(next, bot);
    expect(listener.signals()).toEqual(['1 pause', '3 resume']);
    expect(opOf(next, bot, 'a:s').control).toMatchObject({ action: 'resume', status: 'delivered' });
    expect(opOf(next, bot, 'b:s').control).toMatchObject({ action: 'terminate', status: 'effective' });
    await control(next, bot, 'a:s', 'pause');
    expect(listener.signals()).toEqual(['1 pause', '3 resume', '4 pause']);
    expect(await timeOut(next, 1)).toBe(2);
    expect(await next.check(bot)).toMatchObject(refusal);
  });
});
