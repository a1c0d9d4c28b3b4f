import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ControlStream } from '../harness/control-stream.ts';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

const policies = { 'money.yaml': 'name: money\ndefault: allow\nbudget: { org_daily_limit_usd: 10 }\n' };

/** Stops the process, as a suspended host does, for this long. */
async function stopFor({ child }: TestGateway, ms: number): Promise<void> {
  child.kill('SIGSTOP');
  await sleep(ms);
  child.kill('SIGCONT');
}

const typesOf = (gateway: TestGateway) => gateway.audit().map(({ event_type }) => event_type);

test('a gateway that was stopped leaves the reservations of living agents alone, and releases those of vanished ones later', async () => {
  await using gateway = await TestGateway.start({ policies, env: { SVC_RESERVATION_LEASE_SECS: '4' } });
  const [alive, vanished] = [await gateway.register({ agentId: 'a' }), await gateway.register({ agentId: 'b' })];
  await gateway.check(alive, { traceId: 'alive', spanId: '1', estimatedCostMicros: 6_000_000 });
  await gateway.check(vanished, { traceId: 'vanished', spanId: '1', estimatedCostMicros: 3_000_000 });
  await stopFor(gateway, 5000);
  // It would have sent this earlier, but nobody could hear it.
  await gateway.heartbeat(alive);
  const denied = await gateway.check(alive, { traceId: 'more', spanId: '1', estimatedCostMicros: 5_000_000 });
  expect(denied.decision).not.toBe(1);
  expect(typesOf(gateway)).not.toContain('BudgetReservationReleased');
  await eventually(async () => {
    await gateway.heartbeat(alive);
    const released = gateway.audit().filter(({ event_type }) => event_type === 'BudgetReservationReleased');
    expect(released.map(({ op_id }) => op_id)).toEqual(['vanished:1']);
  }, 400);
}, 120_000);

test('a gateway that was stopped gives agents the whole time to acknowledge a control', async () => {
  await using gateway = await TestGateway.start({ policies, env: { SVC_CONTROL_ACK_SECS: '3' } });
  const agent = await gateway.register({ agentId: 'a' });
  await gateway.check(agent, { traceId: 't', spanId: '1' });
  const stream = new ControlStream(gateway.client, agent);
  await stream.accepted;
  expect((await gateway.api.post('/api/v1/ops/t:1/pause', bootstrapKey, {})).status).toBe(202);
  expect(await stream.heard(1)).toEqual(['1 pause t:1']);
  await stopFor(gateway, 4000);
  await gateway.heartbeat(agent);
  expect(typesOf(gateway)).not.toContain('OpControlUnconfirmed');
  await eventually(() => expect(typesOf(gateway)).toContain('OpControlUnconfirmed'), 400);
  stream.cancel();
}, 120_000);
