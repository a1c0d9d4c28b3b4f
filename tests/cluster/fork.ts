import { setTimeout as sleep } from 'node:timers/promises';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { TestNats } from '../harness/nats.ts';
import { NetworkLink } from '../harness/network-link.ts';
import { TestPostgres } from '../harness/postgres.ts';

const policies = {
  'money.yaml': 'name: money\ndefault: allow\nbudget: { org_daily_limit_usd: 10, timezone: UTC }\n',
};
const usd = 1_000_000;
/** What a gateway says that finds itself on a branch of the log that was lost. */
const onLostBranch = 'the database does not go on from commit';

type Cluster = Awaited<ReturnType<typeof startCluster>>;

/** One gateway, and one by links that can be cut, on servers of their own. */
export async function startCluster() {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await TestPostgres.start());
  const nats = stack.use(await TestNats.start());
  const database = await postgres.createDatabase();
  const toPostgres = stack.use(await NetworkLink.to({ http: database.url.replace('postgres:', 'http:') }));
  const toNats = stack.use(await NetworkLink.to({ http: nats.url().replace('nats:', 'http:') }));
  const start = (url: string, natsUrl: string) =>
    TestGateway.start({ policies, database: { url }, env: { SVC_NATS_URL: natsUrl } });
  const one = stack.use(await start(database.url, nats.url()));
  const apart = new URL(database.url);
  apart.port = String(toPostgres.port);
  const two = stack.use(await start(apart.href, nats.url({ port: toNats.port })));
  const owned = stack.move();
  const startAnother = async () => owned.use(await start(database.url, nats.url()));
  const servers = { postgres, database, toPostgres, toNats };
  return { ...servers, one, two, startAnother, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** A standby gets what has happened until now, and no more. */
export async function keepStandby({ postgres, one, two }: Cluster): Promise<void> {
  await postgres.halt();
  postgres.keepCopy();
  await postgres.resume();
  for (const gateway of [one, two]) {
    await eventually(async () => {
      if ((await gateway.ready()).status !== 200) throw new Error('a gateway does not find the database again');
    }, 600);
  }
}

/** The standby takes over. */
export async function failOver({ postgres }: Cluster): Promise<void> {
  await postgres.halt();
  postgres.goBackToCopy();
  await postgres.resume();
}

export interface Loss {
  /** How many commits are lost, at least. */
  readonly lost: number;
  /** By how many the new numbers pass those of the gateway that slept; negative if they stay behind. */
  readonly beyond: number;
}

/**
 * A gateway sleeps through a failover that lost commits, while another one revokes a key, suspends an agent and spends.
 * Returns what it did wrong after it woke.
 */
export async function sleepThroughLoss({ lost, beyond }: Loss): Promise<string[]> {
  await using cluster = await startCluster();
  const { one, two, toPostgres, toNats } = cluster;
  const suspended = await one.register({ agentId: 'suspended' });
  const spender = await one.register({ agentId: 'spender' });
  const { id: keyId, key } = await makeKey(one, { scopes: ['read'] });
  await keepStandby(cluster);
  for (let nth = 0; nth < lost; nth++) await eventually(() => one.check(spender, { estimatedCostMicros: 1 }));
  // It knows the newest of what will be lost.
  await two.check(spender);
  const known = await versionOf(cluster);
  toPostgres.cut();
  toNats.cut();
  await one.kill();
  await failOver(cluster);

  const three = await cluster.startAnother();
  await three.api.post('/api/v1/agents/acme/core/suspended/suspend', bootstrapKey, {});
  await three.api.post(`/api/v1/iam/api-keys/${keyId}/revoke`, bootstrapKey);
  if ((await spend(three, spender, 9 * usd)) !== 1) return ['the gateway that goes on decides nothing'];
  while ((await versionOf(cluster)) < known + beyond) await three.check(suspended);

  toPostgres.mend();
  toNats.mend();
  const wrong = await answersUntilEnd(two, suspended, spender, key);
  if (!two.output().stderr.includes(onLostBranch)) wrong.push(`it ended otherwise: ${two.output().stderr.slice(-500)}`);
  // A start reads what is there now.
  const again = await cluster.startAnother();
  if ((await again.check(suspended)).reason !== 'agent is suspended') wrong.push('after a start, the agent may act');
  if ((await spend(again, spender, 9 * usd)) === 1) wrong.push('after a start, a cap was passed');
  if ((await again.api.get('/api/v1/agents', key)).status !== 401) wrong.push('after a start, a revoked key worked');
  if ((await three.ready()).status !== 200) wrong.push('the gateway that goes on is not ready');
  return wrong;
}

const mostWaitMs = 60_000;

/** Asks until the gateway has ended. Whatever it still answers, it must answer nothing by what was lost. */
async function answersUntilEnd(
  gateway: TestGateway,
  suspended: Registered,
  spender: Registered,
  key: string,
): Promise<string[]> {
  const wrong = new Set<string>();
  const note = (what: string, isWrong: Promise<boolean>) =>
    isWrong.then(
      (is) => is && wrong.add(what),
      () => undefined,
    );
  const until = performance.now() + mostWaitMs;
  while (gateway.child.exitCode === null && wrong.size === 0) {
    if (performance.now() > until) return ['it goes on'];
    const isReady = await gateway.ready().then(
      ({ status }) => status === 200,
      () => false,
    );
    await Promise.all([
      note(
        'a suspended agent was allowed',
        gateway.check(suspended).then(({ decision }) => decision === 1),
      ),
      note(
        'a cap was passed',
        spend(gateway, spender, 9 * usd).then((decision) => decision === 1),
      ),
      isReady && note('a revoked key worked', reads(gateway, key)),
      sleep(10),
    ]);
  }
  return [...wrong];
}

async function reads({ api }: TestGateway, key: string): Promise<boolean> {
  return (await api.get('/api/v1/agents', key)).status === 200;
}

async function spend(gateway: TestGateway, agent: Registered, micros: number): Promise<number> {
  const { opId, decision } = await gateway.check(agent, { estimatedCostMicros: micros });
  if (decision === 1) await gateway.complete(agent, opId, { actualCostMicros: micros });
  return decision;
}

async function versionOf({ database }: Cluster): Promise<number> {
  return Number((await database.query('SELECT version FROM chain'))[0]?.['version']);
}
