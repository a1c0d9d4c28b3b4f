import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, checkRequest, TestGateway } from '../harness/gateway.ts';
import { verifyChain } from '../harness/verify-chain.ts';

const inFlight = 30_000;
const perBatch = 500;
const stops = 4;

async function fill(gateway: TestGateway, agent: Registered): Promise<void> {
  for (let from = 0; from < inFlight; from += perBatch) {
    const requests = Array.from({ length: perBatch }, (_, i) =>
      checkRequest(agent, { traceId: 'many', spanId: `${from + i}` }),
    );
    await gateway.batch(requests);
  }
}

test('SIGTERM while housekeeping walks tens of thousands of operations ends the process with 0', async () => {
  const env = { SVC_OPS_SWEEP_TICK_SECS: '1', SVC_OPS_STALE_SECS: '3' };
  let gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
  try {
    const agent = await gateway.register({ agentId: 'a' });
    await fill(gateway, agent);
    for (let round = 0; round < stops; round++) {
      // Somewhere within the sweep of the second tick, when operations are due for their rows.
      await sleep(1000 + Math.random() * 1500);
      expect(await gateway.kill('SIGTERM')).toBe(0);
      const { stderr } = gateway.output();
      expect(stderr).not.toContain('not open');
      expect(stderr).not.toContain('hung');
      expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });
      gateway = await TestGateway.start({ folder: gateway.folder, env });
      await gateway.check(agent, { traceId: 'again', spanId: `${round}` });
    }
  } finally {
    await gateway[Symbol.asyncDispose]();
  }
}, 180_000);
