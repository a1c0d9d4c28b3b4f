import { beforeEach, describe, expect, test } from 'vitest';
import { evidenceOf } from '../ops/receipt.ts';
import { acknowledgeControl, controlOp, delegateAgent } from '../testkit/commands.ts';
import { ack, control, opOf, permissive, storedReceipt } from '../testkit/controls.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { twoGateways } from '../testkit/two-gateways.ts';

let g: TestGovernance;
let bot: TestAgent;

beforeEach(async () => {
  g = await permissive();
  bot = await g.register(agentId('acme/search/bot'));
});

const held = (traceId: string) => ({ traceId, spanId: 's', floor: true });
const refused = { code: 'not_on_a_floor' };

/** What the store has of the first message to an agent. */
async function stored(of: TestGovernance): Promise<readonly [evidence: string, processes: number | null]> {
  const receipt = await storedReceipt(of, bot, 1);
  return [evidenceOf(receipt), receipt.processes];
}

describe("the kernel's word", () => {
  test('counts for an operation on a floor, with the number of processes, in the log and after a crash', async () => {
    await g.check(bot, held('a'));
    expect(opOf(g, bot, 'a:s').floor).toBe(true);
    await control(g, bot, 'a:s', 'pause');
    expect(await stored(g)).toEqual(['none', null]);
    await ack(g, bot, 1, 'received');
    expect(await stored(g)).toEqual(['agent', null]);
    await ack(g, bot, 1, 'effective', 'frozen', 12);
    expect(await stored(g)).toEqual(['kernel', 12]);
    const words = (await g.audit()).filter(({ event_type: type }) => type === 'OpControlAcknowledged');
    expect(words.map(({ payload }) => [payload['evidence'], payload['processes']])).toEqual([
      ['agent', undefined],
      ['kernel', 12],
    ]);
    const checked = (await g.audit()).find(({ event_type: type }) => type === 'ActionAllowed');
    expect(checked?.payload).toMatchObject({ floor: true });
    const again = await g.crash();
    expect(opOf(again, bot, 'a:s')).toMatchObject({ floor: true, control: { processes: 12 } });
    expect(await stored(again)).toEqual(['kernel', 12]);
  });

  test("takes over from the agent's, and never the other way round", async () => {
    await g.check(bot, held('a'));
    await control(g, bot, 'a:s', 'pause');
    await ack(g, bot, 1, 'effective');
    await ack(g, bot, 1, 'effective', '', 3);
    await ack(g, bot, 1, 'effective');
    expect(await stored(g)).toEqual(['kernel', 3]);
  });

  test.each(['received', 'effective', 'failed'] as const)(
    'that a control is %s is refused for any other operation, and changes nothing',
    async (outcome) => {
      await g.check(bot, { traceId: 'a', spanId: 's' });
      // The same id again does not put it on a floor.
      await g.check(bot, held('a'));
      await control(g, bot, 'a:s', 'pause');
      const before = await g.audit();
      await expect(ack(g, bot, 1, outcome, '', 1)).rejects.toMatchObject(refused);
      expect(await g.audit()).toEqual(before);
      expect(await stored(g)).toEqual(['none', null]);
      await ack(g, bot, 1, outcome);
      expect(await stored(g)).toEqual(['agent', null]);
    },
  );

  test('is refused for a message that holds nothing, and for one that was never sent', async () => {
    await expect(ack(g, bot, 1, 'effective', '', 1)).rejects.toMatchObject(refused);
  });

  test('is not for delegates: what a floor holds may act as one', async () => {
    const { agentId: id, token } = await g.settle(delegateAgent(g.gov, bot, 'inner', {}));
    const inner = { id, token };
    expect(await g.check(inner, held('a'))).toMatchObject({
      decision: 'deny',
      policyRule: 'delegation',
      reason: expect.stringContaining('does not cover a floor') as string,
    });
    expect(opOf(g, inner, 'a:s').floor).toBe(false);
    await g.check(inner, { traceId: 'b', spanId: 's' });
    await control(g, inner, 'b:s', 'pause');
    await expect(ack(g, inner, 1, 'effective', '', 1)).rejects.toMatchObject(refused);
    // Nor does it reach the messages of its delegator.
    await g.check(bot, held('c'));
    await control(g, bot, 'c:s', 'pause');
    await expect(ack(g, { id: bot.id, token }, 1, 'effective', '', 1)).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  });

  test('counts at whichever gateway it arrives, and is known at the other', async () => {
    const { one, two, settled, register, follow } = await twoGateways('default: allow');
    bot = await register('acme/search/bot');
    await settled(one.check(bot, held('a')));
    await follow();
    await settled(controlOp(two.gov, operator, opOf(two, bot, 'a:s'), 'pause', ''));
    await follow();
    const word = { agentId: bot.id, token: bot.token, sequence: 1, outcome: 'effective', detail: '' } as const;
    await settled(acknowledgeControl(one.gov, { ...word, processes: 7 }));
    await follow();
    for (const each of [one, two]) {
      expect(opOf(each, bot, 'a:s')).toMatchObject({ floor: true, control: { floor: true, processes: 7 } });
    }
  });
});
