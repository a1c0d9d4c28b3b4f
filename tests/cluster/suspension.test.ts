import type { RouteOutput, Routes } from '@reeve/contract/http';
import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { sharedNats } from '../harness/nats.ts';
import { NetworkLink } from '../harness/network-link.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startPair } from './pair.ts';

type Suspension = RouteOutput<Routes['suspendScope']>;

const path = '/api/v1/suspensions';

async function suspend(on: TestGateway, orgId: string): Promise<Suspension> {
  const body = { org_id: orgId, action: 'pause', reason: 'incident' };
  const answer = await on.api.post<Suspension>(path, bootstrapKey, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

async function lift(on: TestGateway, { id }: Suspension): Promise<void> {
  const answer = await on.api.send('DELETE', `${path}/${id}`, { bearer: bootstrapKey });
  expect(answer.status, answer.text).toBe(200);
}

const stateOf = async (on: TestGateway, opId: string) =>
  (await on.api.get<{ state: string }>(`/api/v1/ops/${opId}`, bootstrapKey)).body.state;

test('what one gateway suspends, the other denies in the very next call, and the same with lifting', async () => {
  await using pair = await startPair();
  const { one, two } = pair;
  const agent = await one.register({ orgId: 'held', agentId: 'bot' });
  for (let round = 0; round < 5; round++) {
    const opId = { traceId: `t${round}`, spanId: 's' };
    await two.check(agent, opId);
    const suspension = await suspend(one, 'held');
    expect(suspension.operations).toMatchObject({ changed: round + 1 });
    expect(await two.check(agent)).toMatchObject({ decision: 2, reason: 'org is suspended: incident' });
    expect(await two.heartbeat(agent)).toMatchObject({ suspended: true });
    const late = await two.register({ orgId: 'held', agentId: `late-${round}` });
    expect(await one.check(late)).toMatchObject({ decision: 2 });
    await lift(two, suspension);
    expect(await one.check(late, { traceId: `l${round}`, spanId: 's' })).toMatchObject({ decision: 1 });
    expect(await stateOf(one, `t${round}:s`)).toBe('running');
    await one.complete(late, `l${round}:s`);
  }
}, 120_000);

/** Asks without end, and notes when it was allowed. */
function askOn(on: TestGateway, agents: readonly Registered[], signal: AbortSignal) {
  const seen = { allowedAt: [] as number[], denied: 0 };
  const all = agents.map(async (agent) => {
    while (!signal.aborted) {
      const { decision } = await on.check(agent);
      if (decision === 1) seen.allowedAt.push(performance.now());
      else seen.denied++;
    }
  });
  return { seen, done: Promise.all(all) };
}

test('after the answer no gateway allows anything, not even one that NATS does not reach', async () => {
  const database = await createDatabase();
  const nats = await sharedNats();
  await using link = await NetworkLink.to({ http: nats.url() });
  const options = { database, policies: { 'all.yaml': allowAll } };
  const env = { SVC_NATS_URL: nats.url(), SVC_TAKEOVER_SECS: '30' };
  await using one = await TestGateway.start({ ...options, env });
  const behind = { ...env, SVC_NATS_URL: nats.url({ port: link.port }) };
  await using two = await TestGateway.start({ ...options, env: behind });
  const agents: Registered[] = [];
  for (let i = 0; i < 6; i++) agents.push(await one.register({ orgId: 'busy', agentId: `bot-${i}` }));
  for (let round = 0; round < 5; round++) {
    const over = new AbortController();
    const asking = [askOn(one, agents.slice(0, 3), over.signal), askOn(two, agents.slice(3), over.signal)];
    const counts = (of: 'denied' | 'allowed') =>
      asking.map(({ seen }) => (of === 'denied' ? seen.denied : seen.allowedAt.length));
    await eventually(() => expect(Math.min(...counts('allowed'))).toBeGreaterThan(20));
    // What the first gateway says no longer reaches the second.
    if (round > 0) link.silence();
    const suspension = await suspend(one, 'busy');
    const answered = performance.now();
    await eventually(() => expect(Math.min(...counts('denied'))).toBeGreaterThan(20));
    over.abort();
    await Promise.all(asking.map(({ done }) => done));
    for (const { seen } of asking) expect(seen.allowedAt.filter((at) => at > answered)).toEqual([]);
    const running = await one.api.get<{ total: number }>('/api/v1/ops?org_id=busy&state=running', bootstrapKey);
    expect(running.body.total).toBe(0);
    link.mend();
    await lift(one, suspension);
  }
}, 180_000);
