import { connect } from '@reeve/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Task } from '../../packages/cli/src/demo/demo-agent.ts';
import type { Role } from '../../packages/cli/src/demo/demo-cast.ts';
import { cast } from '../../packages/cli/src/demo/demo-cast.ts';
import { demoPolicies, storedPolicy } from '../../packages/cli/src/demo/demo-policies.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

/**
 * Lets the agents of the demo work through a whole day of virtual time. What each of their actions is answered, and what
 * it costs, a real gateway says; when they act, follows from how long they work, wait and rest.
 */

const minute = 60;
const hour = 60 * minute;
/** As long as `run` of the SDK waits for an approval that nobody gives. */
const waitSeconds = 600;

interface Known {
  readonly decision: string;
  readonly costMicros: number;
}

interface Budget {
  readonly tier: string;
  readonly org_id: string | null;
  readonly team_id: string | null;
  readonly agent_id: string | null;
  readonly limit_usd: string | null;
  readonly reserved_usd: string;
}

let gateway: TestGateway;
const known = new Map<Task, Known>();

beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { ...demoPolicies } });
  const source = storedPolicy.versions.at(-1);
  const json = { source };
  const stored = await gateway.api.send('PUT', `/api/v1/policies/${storedPolicy.name}`, { bearer: bootstrapKey, json });
  expect(stored.status).toBe(200);
  using reeve = connect({ address: gateway.grpc, apiKey: bootstrapKey });
  for (const { orgId, teamId, agentId, tasks } of cast) {
    const agent = await reeve.register({ orgId, teamId, agentId });
    for (const task of tasks) {
      const { action, estimatedCostMicros } = task;
      const options = estimatedCostMicros === undefined ? {} : { estimatedCostMicros };
      const { decision, opId } = await agent.check(action, options);
      const reserved = (await budgets()).find(({ tier }) => tier === 'global')?.reserved_usd ?? '0';
      known.set(task, { decision, costMicros: task.spentMicros ?? Math.round(Number(reserved) * 1e6) });
      // Nothing stays reserved for the next question.
      if (decision === 'allow') await agent.complete(opId, { actualCostMicros: 0 });
      else if (decision === 'pending') {
        await gateway.api.post(
          `/api/v1/ops/${encodeURIComponent(`${orgId}/${teamId}/${agentId}/${opId}`)}/terminate`,
          bootstrapKey,
        );
      }
    }
  }
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function budgets(): Promise<readonly Budget[]> {
  return (await gateway.api.get<{ items: Budget[] }>('/api/v1/budgets?period=day&per_page=1000', bootstrapKey)).body
    .items;
}

interface Act extends Known {
  readonly at: number;
  readonly role: Role;
}

/** What one hand of an agent does until the end of the day, with rests of average length. */
function* dayOf(role: Role, hand: number): Generator<Act> {
  for (let [at, done] = [0, hand]; at < 24 * hour; done++) {
    const task = role.tasks[done % role.tasks.length];
    const told = task === undefined ? undefined : known.get(task);
    if (task === undefined || told === undefined) throw new Error('a task that nobody was asked about');
    yield { ...told, at, role };
    const busy = { allow: task.seconds, pending: waitSeconds }[told.decision] ?? 0;
    at += busy + role.restSeconds;
  }
}

const day = () =>
  cast.flatMap((role) => Array.from({ length: role.concurrency }, (_, hand) => [...dayOf(role, hand)]).flat());

test('the demo is as balanced after half an hour, and after a day, as it is at first: mostly plain work', () => {
  const acts = day();
  const shares = [0, 30 * minute, 12 * hour, 23.5 * hour].map((from) => {
    const seen = acts.filter(({ at }) => at >= from && at < from + 30 * minute);
    const share = (decision: string) => seen.filter((act) => act.decision === decision).length / seen.length;
    return { from, allowed: share('allow'), denied: share('deny') };
  });
  for (const { allowed, denied, from } of shares) {
    expect(allowed, `allowed from second ${from}`).toBeGreaterThan(0.7);
    expect(denied, `denied from second ${from}`).toBeLessThan(0.25);
    expect(denied, `denied from second ${from}`).toBeGreaterThan(0.03);
    expect(Math.abs(allowed - (shares[0]?.allowed ?? 0))).toBeLessThan(0.05);
  }
});

test('no budget of the demo runs dry within a day', async () => {
  const spent = new Map<string, number>();
  const add = (key: string, micros: number) => spent.set(key, (spent.get(key) ?? 0) + micros);
  for (const { decision, costMicros, role } of day()) {
    if (decision !== 'allow') continue;
    const { orgId, teamId, agentId } = role;
    for (const key of ['', orgId, `${orgId}/${teamId}`, `${orgId}/${teamId}/${agentId}`]) add(key, costMicros);
  }
  const caps = await capsOf();
  const used = [...spent].map(([key, micros]) => [key, micros / 1e6 / (caps.get(key) ?? 0)] as const);
  expect(used.filter(([, part]) => part > 0.9)).toEqual([]);
  expect(used.filter(([, part]) => part > 0.2).length, 'the caps are no mere decoration').toBeGreaterThan(2);
});

/** The daily caps in USD, by the name of what they are for. Everything is the empty name. */
async function capsOf(): Promise<ReadonlyMap<string, number>> {
  const items = await budgets();
  return new Map(
    items.map(({ org_id: org, team_id: team, agent_id: agent, limit_usd: limit }) => [
      [org, team, agent].filter((part) => part !== null).join('/'),
      Number(limit ?? Number.POSITIVE_INFINITY),
    ]),
  );
}

test('approvals wait for people in a number that does not grow', () => {
  const waiting = day().filter(({ decision }) => decision === 'pending');
  for (const at of [hour, 12 * hour, 24 * hour]) {
    const open = waiting.filter((act) => act.at <= at && at < act.at + 900);
    expect(open.length).toBeGreaterThan(0);
    expect(open.length).toBeLessThan(10);
  }
});
