import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { NetworkLink } from '../harness/network-link.ts';
import type { TestDatabase } from '../harness/postgres.ts';
import { createDatabase } from '../harness/postgres.ts';

const policy = 'name: p\ndefault: allow\nbudget: { daily_limit_usd: 100 }\n';

describe('the answer of the database to a commit is lost', () => {
  let database: TestDatabase;
  let link: NetworkLink;
  let gateway: TestGateway;
  let agent: Registered;
  beforeEach(async () => {
    database = await createDatabase();
    link = await NetworkLink.to({ http: database.url.replace('postgres:', 'http:') });
    const url = new URL(database.url);
    url.port = new URL(link.http).port;
    gateway = await TestGateway.start({ database: { url: url.href }, policies: { 'p.yaml': policy } });
    agent = await gateway.register({ agentId: 'worker' });
    await gateway.check(agent, { traceId: 'work', spanId: 's', estimatedCostMicros: 1_000_000 });
  }, 60_000);
  afterEach(async () => {
    await gateway[Symbol.asyncDispose]();
    await link[Symbol.asyncDispose]();
    await database.drop();
  });

  const settled = async () => {
    const rows = await database.query(
      'SELECT canonical FROM audit WHERE event_type = \'OpStateChanged\' AND canonical LIKE \'%"trigger":"complete"%\'',
    );
    return rows.length;
  };
  const verify = async () =>
    (await gateway.api.get<{ consistent: boolean }>('/api/v1/budgets/verify', bootstrapKey)).body;

  /** The commit reaches the database, and the connection breaks before its answer returns. */
  async function completeUnheard(outageMs: number) {
    link.loseAnswers();
    const completing = gateway.complete(agent, 'work:s', { actualCostMicros: 2_000_000 });
    completing.catch(() => undefined);
    while ((await settled()) === 0) await sleep(20);
    link.cut();
    await sleep(outageMs);
    link.mend();
    return completing;
  }

  test('for a moment: it is found out what became of it, once, and the caller is told', async () => {
    expect((await completeUnheard(500))?.state).toBe('completing');
    expect(await settled()).toBe(1);
    expect(await verify()).toMatchObject({ consistent: true, differences: [] });
    // A connection that broke with the others may be found out only now: such a check decides nothing, and is asked again.
    const next = () => gateway.check(agent, { traceId: 'next', spanId: 's' }).then(({ decision }) => decision);
    await expect.poll(() => next().catch((error: { code: number }) => `status ${error.code}`)).toBe(1);
    expect(await verify()).toMatchObject({ consistent: true, differences: [] });
  });

  test('for long: the caller is told that it failed, and the gateway ends rather than go on from what is not true', async () => {
    await expect(completeUnheard(14_000)).rejects.toMatchObject({ code: 14 });
    expect(await gateway.exited()).toBe(1);
    expect(gateway.output().stderr).toContain('the database has kept a commit that was taken for lost');
    const url = database.url;
    await using again = await TestGateway.start({ database: { url }, policies: { 'p.yaml': policy } });
    const { body } = await again.api.get('/api/v1/budgets/verify', bootstrapKey);
    expect(body).toMatchObject({ consistent: true, differences: [] });
    await expect(again.complete(agent, 'work:s')).rejects.toMatchObject({ code: 9 });
  }, 90_000);
});
