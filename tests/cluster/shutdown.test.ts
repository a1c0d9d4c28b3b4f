import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { startPair } from './pair.ts';

/** What a client gets that tries one address and, if nobody serves there, the other. */
async function either<Result>(gateways: readonly TestGateway[], call: (gateway: TestGateway) => Promise<Result>) {
  let last: unknown;
  for (const gateway of gateways) {
    try {
      return await call(gateway);
    } catch (error) {
      last = error;
      if (!/UNAVAILABLE|CANCELLED|fetch failed|terminated|not there/.test(String(error))) break;
    }
  }
  throw last;
}

test('an orderly shutdown costs no client anything that can go to the other address', async () => {
  await using pair = await startPair();
  const { one, two } = pair;
  const agents = await Promise.all(Array.from({ length: 8 }, (_, nth) => one.register({ agentId: `agent-${nth}` })));
  const over = new AbortController();
  let answered = 0;
  const work = async (agent: Registered) => {
    for (let nth = 0; !over.signal.aborted; nth++) {
      const op = { traceId: agent.id.agentId, spanId: `${nth}` };
      const { decision, opId } = await either([one, two], (gateway) => gateway.check(agent, op));
      expect(decision).toBe(1);
      const listed = await either([one, two], async (gateway) => {
        const { status } = await gateway.api.get(`/api/v1/ops/${opId}`, bootstrapKey);
        if (status === 503) throw new Error('not there');
        return status;
      });
      expect(listed).toBe(200);
      await either([one, two], (gateway) => gateway.complete(agent, opId)).catch((error: unknown) => {
        // The first attempt was heard, and its answer was lost.
        if (!String(error).includes('operation that is completing')) throw error;
      });
      answered++;
    }
  };
  const working = Promise.all(agents.map(work));
  working.catch(() => undefined);
  const wait = (count: number) => eventually(() => expect(answered).toBeGreaterThan(count), 600);
  await Promise.race([wait(50), working]);
  one.child.kill('SIGTERM');
  expect(await one.exited()).toBe(0);
  await Promise.race([wait(answered + 50), working]);
  over.abort();
  await working;
  const decided = two.audit().filter(({ decision, payload }) => decision !== null && payload['replay'] !== true);
  expect(new Set(decided.map(({ op_id }) => op_id)).size).toBe(decided.length);
});
