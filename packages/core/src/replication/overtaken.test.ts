import { expect, test } from 'vitest';
import { completeAction, suspendAgent } from '../testkit/commands.ts';
import { checkAction } from '../decision/check-action.ts';
import { checkOf, operator, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { ticks, twoGateways } from '../testkit/two-gateways.ts';

// Another gateway was first: what was decided on top of what is taken back must not stand either.

const policy = `
name: caps
default: allow
budget: { daily_limit_usd: 10 }
`;

const usd = 1e6;

function check({ gov }: TestGovernance, { id, token }: TestAgent, op: string, cost = 0) {
  const request = { agentId: id, token, traceId: op, spanId: 's', action: useTool('search') };
  return checkAction(gov, checkOf({ ...request, estimatedCostMicros: cost * usd }));
}

function complete({ gov }: TestGovernance, { id, token }: TestAgent, op: string) {
  const how = { actualCostMicros: 0, outcome: 'succeeded', detail: '' } as const;
  return completeAction(gov, { agentId: id, token, opId: `${op}:s`, ...how });
}

test('a replay comes after the decision that it repeats, and says the same', async () => {
  const { one, two, settle, settled, register, follow } = await twoGateways(policy);
  const [agent, other] = [await register('acme/red/one'), await register('acme/red/two')];
  await follow();
  // One has decided and replayed, but not committed, when two uses up the cap.
  const first = check(one, agent, 't', 6);
  const again = check(one, agent, 't', 6);
  const elsewhere = check(two, other, 'u', 6);
  two.turn();
  await ticks();
  await settle();
  await elsewhere;
  const answers = await settled(Promise.all([first, again]));
  const entries = (await one.audit()).filter(({ op_id }) => op_id === 't:s');
  expect(entries.map(({ payload, decision }) => [decision, payload['replay'] ?? false])).toEqual([
    ['deny', false],
    ['deny', true],
  ]);
  expect(answers.map(({ decision }) => decision)).toEqual(['deny', 'deny']);
});

test('an agent is refused after its suspension in the log, not before', async () => {
  const { one, two, log, settle, register, follow } = await twoGateways(policy);
  const [agent, other] = [await register('acme/red/one'), await register('acme/red/two')];
  await follow();
  // The suspension falls with the charge of the other gateway, because it concerns the same org.
  const charge = check(one, agent, 't', 6);
  const suspended = suspendAgent(one.gov, operator, agent.id, 'odd');
  const refused = check(one, agent, 'u');
  const elsewhere = check(two, other, 'v', 6);
  two.turn();
  log.work();
  await settle();
  await Promise.all([charge, suspended, refused, elsewhere]);
  const entries = (await one.audit()).filter(({ event_type, reason }) =>
    `${event_type} ${reason}`.includes('uspended'),
  );
  expect(entries.map(({ event_type }) => event_type)).toEqual(['AgentSuspended', 'ActionDenied', 'ActionDenied']);
});

test('a cap is not passed between a charge and the release after it', async () => {
  const { one, two, log, settle, settled, register, follow } = await twoGateways(policy);
  const agents = [await register('acme/red/one'), await register('acme/red/two'), await register('acme/red/three')];
  const [holder, charged, foreign] = agents as [TestAgent, TestAgent, TestAgent];
  // Whoever first uses up a share of the cap reports it. That is over.
  await settled(check(one, holder, 'full', 10));
  await settled(complete(one, holder, 'full'));
  await settled(check(one, holder, 'held', 8));
  await follow();
  // One charges up to the cap, and then releases, while two charges up to the cap, too.
  const charge = check(one, charged, 'mine', 2);
  const release = complete(one, holder, 'held');
  const elsewhere = check(two, foreign, 'theirs', 2);
  two.turn();
  log.work();
  await settle();
  await Promise.all([charge, release, elsewhere]);
  let total = 0;
  for (const { op_id, payload, decision } of await one.audit()) {
    if (decision === 'allow') total += Number(payload['cost_micros']);
    if (payload['to'] === 'completing') total -= Number(payload['reserved_micros']);
    expect(total, `after ${op_id}`).toBeLessThanOrEqual(10 * usd);
  }
});

test('somebody is told of a share that is used up between a charge and the release after it', async () => {
  const { one, two, log, settle, settled, register, follow } = await twoGateways(policy);
  const agents = [await register('acme/red/one'), await register('acme/red/two'), await register('acme/red/three')];
  const [holder, charged, foreign] = agents as [TestAgent, TestAgent, TestAgent];
  await settled(check(one, holder, 'held', 3));
  await follow();
  // Neither of the charges uses up 80 % by itself. Together they do, until what is held is released.
  const charge = check(one, charged, 'mine', 3);
  const release = complete(one, holder, 'held');
  const elsewhere = check(two, foreign, 'theirs', 2);
  two.turn();
  log.work();
  await settle();
  await Promise.all([charge, release, elsewhere]);
  let total = 0;
  let used = 0;
  const told = new Set<unknown>();
  for (const { event_type, payload, decision } of await one.audit()) {
    if (decision === 'allow') total += Number(payload['cost_micros']);
    if (payload['to'] === 'completing') total -= Number(payload['reserved_micros']);
    if (event_type === 'BudgetLimitApproached') told.add(payload['percent']);
    used = Math.max(used, total);
  }
  expect(told).toEqual(new Set(used >= 8 * usd ? [80] : []));
});

test('a charge is not refused for what the log has later', async () => {
  const { one, two, log, settle, settled, register, follow } = await twoGateways(policy);
  const agents = [await register('acme/red/one'), await register('acme/red/two'), await register('acme/red/three')];
  const [holder, large, small] = agents as [TestAgent, TestAgent, TestAgent];
  await settled(check(one, holder, 'held', 8));
  await follow();
  const refused = check(one, large, 'large', 9);
  const charge = check(one, small, 'small', 2);
  const elsewhere = complete(two, holder, 'held');
  two.turn();
  log.work();
  await settle();
  await Promise.all([refused, charge, elsewhere]);
  let total = 0;
  for (const { op_id, payload, decision } of await one.audit()) {
    const cost = Number(payload['cost_micros'] ?? 0);
    if (decision === 'deny') expect(total + cost, `before ${op_id}`).toBeGreaterThan(10 * usd);
    if (decision === 'allow') total += cost;
    if (payload['to'] === 'completing') total -= Number(payload['reserved_micros']);
  }
});

test('a gateway that cannot ask for the news refuses nothing by what it knows', async () => {
  const { one, two, log, settled, register, follow } = await twoGateways(policy);
  const agent = await register('acme/red/one');
  await follow();
  await settled(check(two, agent, 't'));
  log.outage = new Error('the database cannot be reached');
  const unknown = complete(one, agent, 't');
  unknown.catch(() => undefined);
  await ticks();
  while (log.waiting > 0) {
    log.work();
    await ticks();
  }
  await expect(unknown).rejects.toMatchObject({ code: 'store_unavailable' });
  log.outage = undefined;
  expect(await settled(complete(one, agent, 't'))).toMatchObject({ state: 'completing' });
});
