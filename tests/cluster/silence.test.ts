import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { startPair } from './pair.ts';

const env = { SVC_OPS_STALE_SECS: '3', SVC_OPS_SWEEP_TICK_SECS: '1' };

async function isStale(gateway: TestGateway, opId: string): Promise<boolean> {
  return (await gateway.api.get<{ stale: boolean }>(`/api/v1/ops/${opId}`, bootstrapKey)).body.stale;
}

test('an agent that is silent everywhere is stale at every gateway; one that speaks to any of them is not', async () => {
  await using pair = await startPair(env);
  const { one, two } = pair;
  const [silent, alive] = [await one.register({ agentId: 'silent' }), await one.register({ agentId: 'alive' })];
  await one.check(silent, { traceId: 'silent', spanId: '1' });
  await one.check(alive, { traceId: 'alive', spanId: '1' });
  // It goes on at the other gateway. Whoever judges silence must have heard of that.
  const over = new AbortController();
  const beating = (async () => {
    for (; !over.signal.aborted; await sleep(500)) await two.heartbeat(alive);
  })();
  beating.catch(() => undefined);
  for (const gateway of [one, two])
    await eventually(async () => expect(await isStale(gateway, 'silent:1')).toBe(true), 600);
  for (const gateway of [one, two]) expect(await isStale(gateway, 'alive:1')).toBe(false);
  over.abort();
  await beating;
}, 120_000);
