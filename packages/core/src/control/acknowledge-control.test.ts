import { beforeEach, describe, expect, test } from 'vitest';
import { ask, approve } from '../testkit/approvals.ts';
import { ack, control, listen, opOf, permissive, run, storedReceipt } from '../testkit/controls.ts';
import { agentId } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import type { AckOutcome, ReceiptStatus } from '../ops/receipt.ts';

let g: TestGovernance;
let bot: TestAgent;

beforeEach(async () => {
  g = await permissive();
  bot = await g.register(agentId('acme/search/bot'));
  await run(g, bot, 'a', 'b');
  await control(g, bot, 'a:s', 'pause');
});

const acknowledgements = async () =>
  (await g.audit())
    .filter((entry) => entry.event_type === 'OpControlAcknowledged')
    .map((entry) => entry.payload['outcome']);

describe('an acknowledgement', () => {
  test.each<[AckOutcome, ReceiptStatus]>([
    ['received', 'acked'],
    ['effective', 'effective'],
    ['failed', 'failed'],
  ])(
    '%s makes the receipt %s, durably, on the operation too, and the message is not sent again',
    async (outcome, status) => {
      g.clock.advance(7);
      await ack(g, bot, 1, outcome, 'as you say');
      const receipt = await storedReceipt(g, bot, 1);
      expect(receipt).toMatchObject({ status, ackedAt: g.clock.now(), detail: 'as you say' });
      expect(receipt.effectiveAt).toBe(outcome === 'effective' ? g.clock.now() : null);
      expect(opOf(g, bot, 'a:s')).toMatchObject({ state: 'paused', control: receipt });
      expect((await listen(g, bot)).heard).toEqual([]);
    },
  );

  test('is on record as the agent’s, once, however often it comes', async () => {
    for (let times = 0; times < 3; times++) await ack(g, bot, 1, 'received', 'token=abcdefghijklmnop1234');
    const entries = (await g.audit()).filter((entry) => entry.event_type === 'OpControlAcknowledged');
    expect(entries).toMatchObject([
      {
        actor: { kind: 'agent', id: 'acme/search/bot' },
        op_id: 'a:s',
        lineage: { org_id: 'acme' },
        payload: { action: 'pause', outcome: 'received', sequence: 1, control_id: opOf(g, bot, 'a:s').control?.id },
      },
    ]);
    expect(JSON.stringify(entries)).not.toContain('abcdefghijklmnop1234');
  });

  test('that something took effect wins over whatever comes later', async () => {
    for (const outcome of ['received', 'effective', 'failed', 'received'] as const) await ack(g, bot, 1, outcome);
    expect((await storedReceipt(g, bot, 1)).status).toBe('effective');
    expect(await acknowledgements()).toEqual(['received', 'effective']);
    expect(g.events.filter((event) => event.type === 'audit_alert')).toEqual([]);
  });

  test('of a failure is an alert, once; what then works after all is taken', async () => {
    for (const outcome of ['failed', 'failed', 'received'] as const) await ack(g, bot, 1, outcome, 'no handle');
    expect((await storedReceipt(g, bot, 1)).status).toBe('failed');
    expect(g.events.filter((event) => event.type === 'audit_alert')).toMatchObject([
      { alert: 'control_failed', agent: bot.id, details: { op_id: 'a:s', action: 'pause', detail: 'no handle' } },
    ]);
    await ack(g, bot, 1, 'effective');
    expect((await storedReceipt(g, bot, 1)).status).toBe('effective');
  });

  test('may come in any order', async () => {
    await control(g, bot, 'b:s', 'pause');
    await control(g, bot, 'a:s', 'resume');
    await ack(g, bot, 3, 'effective');
    expect((await listen(g, bot)).signals()).toEqual(['1 pause', '2 pause']);
    await ack(g, bot, 1, 'received');
    expect((await listen(g, bot)).signals()).toEqual(['2 pause']);
    // The operation still shows its last control.
    expect(opOf(g, bot, 'a:s').control).toMatchObject({ action: 'resume', status: 'effective' });
  });

  test('of a message that was never sent to this agent is an error, and touches nobody else', async () => {
    const other = await g.register(agentId('umbrella//bot'));
    for (const sequence of [0, 1, 2]) {
      await expect(ack(g, other, sequence, 'effective')).rejects.toMatchObject({ code: 'control_not_found' });
    }
    await expect(ack(g, bot, 2, 'effective')).rejects.toMatchObject({ code: 'control_not_found' });
    expect((await storedReceipt(g, bot, 1)).status).toBe('requested');
  });

  test('needs the agent’s token', async () => {
    for (const token of ['', 'x'.repeat(40)]) {
      await expect(ack(g, { ...bot, token }, 1, 'effective')).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    await expect(ack(g, bot, 1, 'effective', 'x'.repeat(8193))).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  test('that cannot be made durable is not taken', async () => {
    g.failure = new Error('full');
    await expect(ack(g, bot, 1, 'effective')).rejects.toMatchObject({ code: 'store_unavailable' });
    g.failure = undefined;
    expect(opOf(g, bot, 'a:s').control?.status).toBe('requested');
    expect((await listen(g, bot)).signals()).toEqual(['1 pause']);
  });

  test('of an earlier run of the gateway is found in the store, also twice at once', async () => {
    await ack(g, bot, 1, 'received');
    const next = await g.crash();
    await Promise.all([ack(next, bot, 1, 'effective'), ack(next, bot, 1, 'effective'), ack(next, bot, 1, 'failed')]);
    expect((await storedReceipt(next, bot, 1)).status).toBe('effective');
    expect(opOf(next, bot, 'a:s').control?.status).toBe('effective');
    const entries = (await next.audit()).filter((entry) => entry.event_type === 'OpControlAcknowledged');
    expect(entries.map((entry) => entry.payload['outcome'])).toEqual(['received', 'effective']);
  });

  test('of a message without a receipt is taken, twice too, and nothing is on record', async () => {
    const { signalSequence } = await approve(g, await ask(g, bot, 'c'));
    const sequence = signalSequence ?? 0;
    const before = (await g.audit()).length;
    await ack(g, bot, sequence, 'received');
    await ack(g, bot, sequence, 'effective');
    expect(await g.audit()).toHaveLength(before);
    expect(g.gov.control.outbox(bot.id).size).toBe(1);
  });
});
