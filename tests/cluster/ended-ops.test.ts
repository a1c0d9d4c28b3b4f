import { expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import type { Pair } from './pair.ts';
import { startPair } from './pair.ts';

/** The other gateway sweeps what has ended long before it leads. */
const env = { SVC_OPS_TTL_SECS: '2', SVC_OPS_SWEEP_TICK_SECS: '1', SVC_TAKEOVER_SECS: '8' };

const statusOf = async ({ api }: TestGateway, opId: string) =>
  (await api.get(`/api/v1/ops/${opId}`, bootstrapKey)).status;

const reservedAt = async ({ api }: TestGateway) => {
  type Budgets = { items: { tier: string; period: string; reserved_usd: string }[] };
  const { body } = await api.get<Budgets>('/api/v1/budgets?org_id=acme', bootstrapKey);
  return body.items.find(({ tier, period }) => tier === 'org' && period === 'day')?.reserved_usd;
};

async function hasRows({ database }: Pair, ...opIds: string[]): Promise<void> {
  await eventually(async () => {
    const rows = await database.query('SELECT op_id FROM ops');
    expect(rows.map(({ op_id }) => op_id)).toEqual(expect.arrayContaining(opIds));
  }, 600);
}

/** A restart no longer reads the entries up to now, but the rows. */
async function leaveTheLogBehind({ database }: Pair): Promise<void> {
  const [last] = await database.query('SELECT max(seq) AS seq FROM audit');
  await eventually(async () => {
    const [mark] = await database.query(`SELECT value FROM meta WHERE name = 'ops_replay_from'`);
    expect(Number(mark?.['value'])).toBeGreaterThanOrEqual(Number(last?.['seq']));
  }, 1200);
}

test('what ended stays ended if the leader ends between the sweep of another gateway and its own', async () => {
  await using pair = await startPair(env);
  const { one, two, options } = pair;
  const agent = await two.register({ agentId: 'a' });
  for (const traceId of ['completed', 'terminated'])
    await two.check(agent, { traceId, spanId: '1', estimatedCostMicros: 2_000_000 });
  await hasRows(pair, 'completed:1', 'terminated:1');
  // The one that removes rows is gone, and nobody has taken its place yet.
  await one.kill('SIGKILL');
  await two.complete(agent, 'completed:1');
  expect((await two.api.post('/api/v1/ops/terminated:1/terminate', bootstrapKey, {})).status).toBe(202);
  for (const opId of ['completed:1', 'terminated:1'])
    await eventually(async () => expect(await statusOf(two, opId)).toBe(404), 400);
  await leaveTheLogBehind(pair);

  await using three = await TestGateway.start(options);
  for (const opId of ['completed:1', 'terminated:1']) expect(await statusOf(three, opId)).toBe(404);
  expect(Number(await reservedAt(three))).toBe(0);
  await expect(three.complete(agent, 'completed:1')).rejects.toMatchObject({ code: 5 });
}, 180_000);

test('a pause that a wider credential took over at another gateway stays its own after a restart', async () => {
  await using pair = await startPair({ ...env, SVC_TAKEOVER_SECS: '3' });
  const { one, two, options } = pair;
  const agent = await two.register({ agentId: 'a' });
  const bound = { scopes: ['read' as const, 'write' as const], org_id: 'acme', team_id: 'core' };
  const { key: narrow } = await makeKey(one, bound);
  await two.check(agent, { traceId: 't', spanId: '1' });
  expect((await two.api.post('/api/v1/ops/t:1/pause', narrow, {})).status).toBe(202);
  await leaveTheLogBehind(pair);
  expect((await two.api.post('/api/v1/ops/t:1/pause', bootstrapKey, {})).status).toBe(202);
  const isRefused = async ({ api }: TestGateway) =>
    expect((await api.post('/api/v1/ops/t:1/resume', narrow, {})).status).toBe(403);
  await isRefused(one);
  await leaveTheLogBehind(pair);

  await using three = await TestGateway.start(options);
  await isRefused(three);
}, 180_000);
