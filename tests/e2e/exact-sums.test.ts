import { BinaryReader } from '@bufbuild/protobuf/wire';
import { CheckActionRequest, CheckActionResponse, paths } from '@reeve/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { bootstrapKey, checkRequest } from '../harness/gateway.ts';
import type { Codec } from '../harness/grpc-client.ts';
import type { TestStore } from '../harness/stores.ts';
import { durableStores } from '../harness/stores.ts';

/** Sums beyond 2^53 are exact wherever they are shown, and after a kill. */

const policies = { 'p.yaml': 'name: p\ndefault: allow\nbudget: { agent_daily_limit_usd: 1 }\n' };
const env = { SVC_MAX_ACTION_COST_USD: '9007199254' };
const most = 9_007_199_254_000_000;
/** Three times the maximum, plus one micro-dollar. A JavaScript number would lose that one. */
const exactly = { micros: 27_021_597_762_000_001n, usd: '27021597762.000001' };

const numbers: Codec<bigint[]> = {
  encode: () => {
    throw new Error('answers are only read');
  },
  decode: readNumbers,
};

/** The 64-bit numbers in an answer. */
function readNumbers(bytes: Uint8Array): bigint[] {
  const found: bigint[] = [];
  class Reader extends BinaryReader {
    override int64(): string | bigint {
      found.push(BigInt(super.int64()));
      return 0n;
    }
  }
  CheckActionResponse.decode(new Reader(bytes));
  return found;
}

describe.each(durableStores)('sums on $name', ({ open }) => {
  let store: TestStore;
  let gateway: TestGateway;
  let bot: Registered;
  beforeAll(async () => {
    store = await open();
    gateway = await store.start({ policies, env });
    bot = await gateway.register({ agentId: 'bot' });
  });
  afterAll(() => store[Symbol.asyncDispose]());

  const get = async <Body>(path: string) => (await gateway.api.get<Body>(path, bootstrapKey)).body;
  const shown = async () => {
    const { items } = await get<{ items: { spent_usd: string }[] }>('/api/v1/budgets?org_id=acme');
    const history = await get<{ items: { spent_usd: string }[] }>('/api/v1/budgets/history?org_id=acme');
    const overview = await get<{ agents: { spent_today_usd: string }[] }>('/api/v1/topology/overview');
    return new Set([
      ...[...items, ...history.items].map((item) => item.spent_usd),
      ...overview.agents.map((agent) => agent.spent_today_usd),
    ]);
  };
  const refused = () =>
    gateway.client.call(paths.checkAction, CheckActionRequest, numbers, checkRequest(bot, { estimatedCostMicros: 1 }));

  test('are exact in answers, budgets, history and topology, and after a kill', { timeout: 120_000 }, async () => {
    const checks = await Promise.all([0, 1, 2, 3].map(() => gateway.check(bot)));
    const costs = [most, most, most, 1];
    for (const [at, { opId }] of checks.entries()) {
      await gateway.complete(bot, opId, { actualCostMicros: costs[at] ?? 0 });
    }
    for (const isKilled of [false, true]) {
      if (isKilled) {
        await gateway.kill('SIGKILL');
        gateway = await store.start({ policies, env });
      }
      expect(await shown()).toEqual(new Set([exactly.usd]));
      expect(await get('/api/v1/budgets/verify')).toMatchObject({ consistent: true, differences: [] });
      expect(await refused()).toContain(exactly.micros);
    }
    const { items } = await get<{ items: { payload: { limit: { spent_micros: unknown } } }[] }>(
      '/api/v1/logs?event_type=BudgetLimitExceeded',
    );
    expect(items[0]?.payload.limit.spent_micros).toBe(String(exactly.micros));
  });
});
