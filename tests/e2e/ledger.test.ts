import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import type { TestStore } from '../harness/stores.ts';
import { durableStores } from '../harness/stores.ts';

interface BudgetVerification {
  readonly consistent: boolean;
  readonly checked_entries: number;
  readonly checked_from: string | null;
  readonly differences: readonly {
    readonly tier: string;
    readonly org_id: string | null;
    readonly period: string | null;
    readonly ledger_usd: string;
    readonly log_usd: string;
  }[];
}

interface BudgetRow {
  readonly tier: string;
  readonly period: string;
  readonly spent_usd: string;
  readonly reserved_usd: string;
}

interface SpentWindow {
  readonly starts_at: string;
  readonly ends_at: string;
  readonly spent_usd: string;
  readonly limit_usd: string | null;
  readonly closed: boolean;
}

const allow = 1;
const policy = 'name: money\ndefault: allow\nbudget: { org_daily_limit_usd: 1, timezone: Europe/Berlin }\n';
const policies = { 'money.yaml': policy };

const verify = async (gateway: TestGateway) =>
  (await gateway.api.get<BudgetVerification>('/api/v1/budgets/verify', bootstrapKey)).body;
const orgDay = async (gateway: TestGateway) => {
  const { body } = await gateway.api.get<{ items: BudgetRow[] }>('/api/v1/budgets?org_id=acme', bootstrapKey);
  const row = body.items.find(({ tier, period }) => tier === 'org' && period === 'day');
  return { spent: row?.spent_usd, reserved: row?.reserved_usd };
};
const spend = async (gateway: TestGateway, bot: Registered, micros: number, actual = micros) => {
  const { opId } = await gateway.check(bot, { estimatedCostMicros: micros });
  await gateway.complete(bot, opId, { actualCostMicros: actual });
};
const stateOf = async (gateway: TestGateway, opId: string) =>
  (await gateway.api.get<{ state: string; stale: boolean; reason: string }>(`/api/v1/ops/${opId}`, bootstrapKey)).body;

describe.each(durableStores)('the ledger on $name', ({ open }) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store[Symbol.asyncDispose]());

  test('a reservation of an agent that has vanished is released, and its completion is booked after a restart, once', {
    timeout: 240_000,
  }, async () => {
    const options = { policies, env: { SVC_RESERVATION_LEASE_SECS: '1' } };
    let gateway = await store.start(options);
    const bot = await gateway.register({ agentId: 'bot' });
    const { opId } = await gateway.check(bot, { estimatedCostMicros: 600_000 });
    expect(await orgDay(gateway)).toEqual({ spent: '0.00', reserved: '0.60' });
    await eventually(async () => expect(await orgDay(gateway)).toEqual({ spent: '0.00', reserved: '0.00' }));
    expect(await stateOf(gateway, opId)).toMatchObject({ state: 'running', stale: true });
    const { body } = await gateway.api.get<{ items: { op_id: string; payload: object; reason: string }[] }>(
      '/api/v1/logs?event_type=BudgetReservationReleased',
      bootstrapKey,
    );
    expect(body.items).toMatchObject([{ op_id: opId, payload: { released_micros: 600_000 } }]);
    expect((await gateway.api.get('/metrics')).text).toMatch(/^reeve_reservations_released_total 1$/m);
    await gateway.kill();

    gateway = await store.start(options);
    expect(await orgDay(gateway)).toEqual({ spent: '0.00', reserved: '0.00' });
    expect((await gateway.check(bot, { estimatedCostMicros: 900_000 })).decision).toBe(allow);
    await gateway.complete(bot, opId);
    expect((await orgDay(gateway)).spent).toBe('0.60');
    await gateway.kill();
    gateway = await store.start({ policies });
    expect((await orgDay(gateway)).spent).toBe('0.60');
    expect(await verify(gateway)).toMatchObject({ consistent: true, checked_entries: 1 });
  });

  test('the books are what the log adds up to after kill -9 under load, again and again', {
    timeout: 240_000,
  }, async () => {
    await using fresh = await open();
    const options = { policies: { 'p.yaml': 'name: p\ndefault: allow\n' }, env: { SVC_OPS_SWEEP_TICK_SECS: '1' } };
    const agents: Registered[] = [];
    let settled = 0;
    for (let round = 0; round < 3; round++) {
      const gateway = await fresh.start(options);
      if (agents.length === 0) {
        for (const orgId of ['acme', 'globex', '']) agents.push(await gateway.register({ orgId, agentId: 'bot' }));
      }
      const before = await verify(gateway);
      expect(before.differences).toEqual([]);
      expect(before.checked_entries).toBeGreaterThanOrEqual(settled);
      settled = before.checked_entries;
      let answered = 0;
      const load = agents.flatMap((bot) =>
        Array.from({ length: 4 }, async () => {
          for (;;) {
            await spend(gateway, bot, 7, 5);
            answered++;
          }
        }),
      );
      const ended = Promise.allSettled(load);
      await eventually(() => {
        expect(answered).toBeGreaterThan(100);
      });
      // The balances are verified meanwhile, too.
      expect((await verify(gateway)).differences).toEqual([]);
      await gateway.kill();
      await ended;
      settled += answered;
    }
    const gateway = await fresh.start(options);
    const after = await verify(gateway);
    expect(after).toMatchObject({ consistent: true, checked_from: null, differences: [] });
    // Every answered operation was kept, and some of those in flight.
    expect(after.checked_entries).toBeGreaterThanOrEqual(settled);
    expect(after.checked_entries).toBeLessThan(settled + 3 * 12 + 1);
  });

  test('1,000 checks at once never pass a cap, and what was allowed is what is held back', {
    timeout: 240_000,
  }, async () => {
    await using fresh = await open();
    const gateway = await fresh.start({ policies });
    const bots = await Promise.all(
      Array.from({ length: 10 }, (_, index) => gateway.register({ agentId: `bot-${index}`, teamId: `t${index % 3}` })),
    );
    // At 0.0037 each, 270 fit below 1.00 USD, and one more does not.
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, index) => {
        const bot = bots[index % bots.length];
        if (bot === undefined) throw new Error('there are ten');
        return gateway.check(bot, { estimatedCostMicros: 3700 });
      }),
    );
    expect(answers.filter(({ decision }) => decision === allow)).toHaveLength(270);
    const refused = answers.filter(({ decision }) => decision !== allow);
    expect(new Set(refused.map(({ policyRule }) => policyRule))).toEqual(new Set(['budget/org.day']));
    expect(await orgDay(gateway)).toEqual({ spent: '0.00', reserved: '0.999' });
    expect(await verify(gateway)).toMatchObject({ consistent: true });
  });

  test('history shows the present day and month, and a tenant its own only', async () => {
    await using fresh = await open();
    const gateway = await fresh.start({ policies });
    const bot = await gateway.register({ agentId: 'bot' });
    const other = await gateway.register({ orgId: 'globex', agentId: 'bot' });
    await spend(gateway, bot, 250_000);
    await spend(gateway, other, 500_000);
    const history = async (query = '', key = bootstrapKey) =>
      (await gateway.api.get<{ items: SpentWindow[] }>(`/api/v1/budgets/history${query}`, key)).body.items;
    const [day, ...rest] = await history('?org_id=acme');
    expect(rest).toEqual([]);
    expect(day).toMatchObject({ spent_usd: '0.25', limit_usd: '1.00', closed: false });
    expect(Date.parse(day?.starts_at ?? '')).toBeLessThan(Date.now());
    expect(Date.parse(day?.ends_at ?? '')).toBeGreaterThan(Date.now());
    expect(await history('?period=month')).toMatchObject([{ spent_usd: '0.75', limit_usd: null }]);
    expect(await history('?org_id=nobody')).toEqual([]);
    const { key } = await makeKey(gateway, { scopes: ['read'], org_id: 'acme' });
    expect(await history('', key)).toMatchObject([{ spent_usd: '0.25' }]);
    expect(await history('?org_id=globex', key)).toEqual([]);
    for (const query of ['?count=0', '?count=401', '?period=week']) {
      const answer = await gateway.api.get(`/api/v1/budgets/history${query}`, bootstrapKey);
      expect([query, answer.status]).toEqual([query, 422]);
    }
    expect((await gateway.api.get('/api/v1/budgets/verify', key)).status).toBe(403);
  });
});

test('a row of the books that somebody has changed is found, by the route and by the doctor', async () => {
  const env = { SVC_OPS_SWEEP_TICK_SECS: '1' };
  await using gateway = await TestGateway.start({ policies, env });
  const bot = await gateway.register({ agentId: 'bot' });
  await spend(gateway, bot, 250_000);
  const file = join(gateway.folder, 'reeve.db');
  await eventually(() => {
    using db = new DatabaseSync(file, { readOnly: true });
    expect(db.prepare(`SELECT count(*) AS count FROM books WHERE name = 'org:acme//'`).get()).toEqual({ count: 1 });
  });
  await gateway.kill('SIGTERM');
  const db = new DatabaseSync(file);
  const { changes } = db
    .prepare(`UPDATE books SET record = replace(record, '250000', '50000') WHERE name = 'org:acme//'`)
    .run();
  db.close();
  expect(changes).toBe(1);
  await using again = await TestGateway.start({ folder: gateway.folder, env });
  expect(await verify(again)).toMatchObject({
    consistent: false,
    differences: [
      { tier: 'org', org_id: 'acme', period: 'month', ledger_usd: '0.05', log_usd: '0.25' },
      { tier: 'org', org_id: 'acme', period: 'day', ledger_usd: '0.05', log_usd: '0.25' },
    ],
  });
  using home = new TestHome();
  const { code, stdout } = await home.run(['doctor'], {
    env: { REEVE_API_URL: again.http, REEVE_API_KEY: bootstrapKey },
  });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^FAILED +ledger +the budgets are not what the log adds up to/m);
  expect(stdout).toContain('org acme, spent this day: 0.05 USD, by the log 0.25 USD');
});

test('an operation that was registered over HTTP and is never checked is terminated, also after a restart', async () => {
  const env = { SVC_OPS_PENDING_TTL_SECS: '2', SVC_OPS_SWEEP_TICK_SECS: '1' };
  await using gateway = await TestGateway.start({ policies, env: { ...env, SVC_OPS_PENDING_TTL_SECS: '3600' } });
  const bot = await gateway.register({ agentId: 'bot' });
  const agent = { org_id: 'acme', team_id: 'core', agent_id: 'bot' };
  await gateway.api.post('/api/v1/ops', bootstrapKey, { agent, trace_id: 't', span_id: 'never' });
  await gateway.api.post('/api/v1/ops', bootstrapKey, { agent, trace_id: 't', span_id: 'checked' });
  expect((await gateway.check(bot, { traceId: 't', spanId: 'checked' })).decision).toBe(allow);
  await gateway.kill();
  await using again = await TestGateway.start({ folder: gateway.folder, env });
  await eventually(async () =>
    expect(await stateOf(again, 't:never')).toMatchObject({
      state: 'terminated',
      reason: 'registered, and not checked within 2 s',
    }),
  );
  expect(await stateOf(again, 't:checked')).toMatchObject({ state: 'running' });
  const { body } = await again.api.get<{ items: { actor: { kind: string }; payload: object }[] }>(
    '/api/v1/logs?op_id=t:never&event_type=OpStateChanged',
    bootstrapKey,
  );
  expect(body.items[0]).toMatchObject({
    actor: { kind: 'system' },
    payload: { to: 'terminated', trigger: 'terminate' },
  });
});
