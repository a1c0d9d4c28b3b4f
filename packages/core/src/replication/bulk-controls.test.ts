import { expect, test } from 'vitest';
import { controlScope } from '../testkit/commands.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { ticks, twoGateways } from '../testkit/two-gateways.ts';

const bot = agentId('acme/red/bot');
const request = {
  action: 'terminate',
  scope: { orgId: 'acme' },
  reason: 'enough',
  dryRun: false,
  idempotencyKey: 'deploy-17',
} as const;

async function aStopCutShort() {
  const world = await twoGateways('name: all\ndefault: allow\n');
  const { one, two, log, clock, register, settled, settle, follow } = world;
  const agent = await register('acme/red/bot');
  for (let nth = 0; nth < 20; nth++) await settled(one.check(agent, { traceId: `n${nth}`, spanId: 's' }));
  await follow();
  const asked = controlScope(one.gov, operator, request);
  const cut = expect(asked).rejects.toMatchObject({ code: 'store_unavailable' });
  const leftAt = ({ opsOf }: TestGovernance) =>
    [...opsOf(bot).values()].filter(({ state }) => state === 'running').length;
  // The first steps become durable, and the others never do.
  while (leftAt(two) === 20) {
    one.turn();
    if (log.waiting > 0) log.work();
    await ticks();
    two.gov.journal.followReady();
  }
  one.failure = new Error('the disk is gone');
  await settle();
  await cut;
  await follow();
  return { clock, leftAt: () => leftAt(two), again: () => settled(controlScope(two.gov, operator, request), [two]) };
}

test('a stop that a gateway did not finish is finished by the same request at another one', async () => {
  const { clock, leftAt, again } = await aStopCutShort();
  const left = leftAt();
  expect(left).toBeGreaterThan(0);
  // The first gateway may still be about it.
  expect(await again()).toMatchObject({ matched: 20, changed: 20 });
  expect(leftAt()).toBe(left);
  clock.advance(30_001);
  expect(await again()).toMatchObject({ matched: left, changed: left });
  expect(leftAt()).toBe(0);
});
