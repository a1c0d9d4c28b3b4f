import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Registered, TestGateway } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import type { TestStore } from '../harness/stores.ts';
import { durableStores } from '../harness/stores.ts';

/** A gateway whose clock runs ahead and is then corrected grants no budget twice, and its log adds up. */

const dayMs = 86_400_000;
const policies = { 'p.yaml': 'name: p\ndefault: allow\nbudget: { org_daily_limit_usd: 1 }\n' };
const shiftedBy = (ms: number) => ({
  NODE_OPTIONS: `--import=${resolve('tests/harness/shifted-clock.mjs')}`,
  TEST_CLOCK_SHIFT_MS: String(ms),
});

interface Row {
  readonly spent_usd: string;
  readonly resets_at: string;
}

describe.each(durableStores)('on $name', ({ open }) => {
  let store: TestStore;
  let gateway: TestGateway;
  let bot: Registered;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store[Symbol.asyncDispose]());

  const startAt = async (ms: number) => {
    await gateway.kill('SIGKILL');
    gateway = await store.start({ policies, env: shiftedBy(ms) });
  };
  const get = async <Body>(path: string) => (await gateway.api.get<Body>(path, bootstrapKey)).body;
  const org = async (period: string) => {
    const { items } = await get<{ items: Row[] }>(`/api/v1/budgets?org_id=acme&tier=org&period=${period}`);
    return items[0];
  };
  const spend = async (micros: number) => {
    const { opId, decision } = await gateway.check(bot, { estimatedCostMicros: micros });
    if (decision === 1) await gateway.complete(bot, opId);
    return decision;
  };

  test('what was spent days, weeks and a year ahead counts for today', { timeout: 240_000 }, async () => {
    // Noon, so that no midnight intervenes.
    const noon = dayMs / 2 - (Date.now() % dayMs);
    const midnight = new Date(Date.now() + noon + dayMs / 2);
    midnight.setUTCHours(0, 0, 0, 0);
    gateway = await store.start({ policies, env: shiftedBy(noon) });
    bot = await gateway.register({ agentId: 'bot' });
    await spend(200_000);
    let total = 200_000;
    for (const days of [3, 40, 365]) {
      await startAt(noon + days * dayMs);
      expect((await org('day'))?.spent_usd).toBe('0.00');
      await spend(100_000);
      total += 100_000;
      await startAt(noon);
      const expected = (total / 1e6).toFixed(2);
      expect([(await org('day'))?.spent_usd, (await org('month'))?.spent_usd]).toEqual([expected, expected]);
      expect(Date.parse((await org('day'))?.resets_at ?? '')).toBe(midnight.getTime());
      expect(await get('/api/v1/budgets/verify')).toMatchObject({ consistent: true, differences: [] });
    }
    expect(await spend(500_001)).toBe(2);
    expect(await spend(500_000)).toBe(1);
    expect(await get('/api/v1/budgets/verify')).toMatchObject({ consistent: true });
  });

  test('a clock that is set back over midnight leaves the day that had begun, and when it ends', {
    timeout: 240_000,
  }, async () => {
    const justAfter = 441 * dayMs - (Date.now() % dayMs) + 60_000;
    await startAt(justAfter);
    await spend(100_000);
    const before = await org('day');
    expect(before?.spent_usd).toBe('0.10');
    await startAt(justAfter - 3_600_000);
    const { spent_usd, resets_at } = before ?? {};
    expect(await org('day')).toMatchObject({ spent_usd, resets_at });
    expect(await get('/api/v1/budgets/verify')).toMatchObject({ consistent: true });
  });
});
