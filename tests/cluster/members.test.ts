import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { startPair } from './pair.ts';

type Members = RouteOutput<Routes['listGateways']>['gateways'];

async function membersAt(gateway: TestGateway): Promise<Members> {
  const { status, body } = await gateway.api.get<{ gateways: Members }>('/api/v1/cluster', bootstrapKey);
  expect(status).toBe(200);
  return body.gateways;
}

function statesOf(members: Members): string[] {
  return members.map(({ state, self }) => `${state}${self ? ', self' : ''}`);
}

test('after a kill, the other gateway replays its decision and completes its operation at once', async () => {
  await using pair = await startPair();
  const { one, two } = pair;
  const agent = await one.register({ agentId: 'a' });
  const answer = await one.check(agent, { traceId: 't', spanId: '1' });
  await one.kill('SIGKILL');
  const { opId, decision, reason, opState } = await two.check(agent, { traceId: 't', spanId: '1' });
  expect({ opId, decision, reason, opState }).toEqual({
    opId: answer.opId,
    decision: answer.decision,
    reason: answer.reason,
    opState: 'running',
  });
  expect(await two.complete(agent, 't:1')).toMatchObject({ state: 'completing' });
  const decisions = two.audit().filter(({ op_id, payload }) => op_id === 't:1' && payload['replay'] !== true);
  expect(decisions.map(({ event_type }) => event_type)).toEqual(['ActionAllowed', 'OpStateChanged']);
});

test('the list of gateways shows who is active and who was lost, with one self, and forgets who left', async () => {
  await using pair = await startPair();
  const { one, two, options } = pair;
  await eventually(async () => expect(statesOf(await membersAt(one))).toEqual(['active, self', 'active']));
  await eventually(async () => expect(statesOf(await membersAt(two))).toEqual(['active', 'active, self']));
  const agent = await two.register({ agentId: 'a' });
  await two.check(agent);
  await eventually(async () => {
    expect((await membersAt(one))[1]).toMatchObject({ agents: 1, ops_in_flight: 1 });
  });
  const lost = await one.register({ agentId: 'b' });
  await one.check(lost);
  await eventually(async () => {
    for (const gateway of [one, two])
      expect((await membersAt(gateway)).map(({ ops_in_flight }) => ops_in_flight)).toEqual([1, 1]);
  });
  await one.kill('SIGKILL');
  await eventually(async () => expect(statesOf(await membersAt(two))).toEqual(['lost', 'active, self']), 400);
  // Its operation is with the one that leads now.
  expect((await membersAt(two)).map(({ ops_in_flight }) => ops_in_flight)).toEqual([0, 2]);
  // Another one takes the free slot.
  await using three = await TestGateway.start(options);
  await eventually(async () => expect(statesOf(await membersAt(two))).toEqual(['active', 'active, self']));
  expect(await three.kill('SIGTERM')).toBe(0);
  await eventually(async () => expect(statesOf(await membersAt(two))).toEqual(['active, self']));
});

test('whichever gateway is asked lists one that has started, and none that has ended, from then on', async () => {
  await using pair = await startPair();
  const { one, two, options } = pair;
  expect(statesOf(await membersAt(one))).toEqual(['active, self', 'active']);
  expect(statesOf(await membersAt(two))).toEqual(['active', 'active, self']);
  for (let round = 0; round < 3; round++) {
    await using three = await TestGateway.start(options);
    const [atOne, atTwo, atThree] = await Promise.all([one, two, three].map(membersAt));
    const ids = (members: Members | undefined) => members?.map(({ id, state }) => [id, state]);
    expect(ids(atOne)).toHaveLength(3);
    expect(ids(atTwo)).toEqual(ids(atOne));
    expect(ids(atThree)).toEqual(ids(atOne));
    expect(await three.kill('SIGTERM')).toBe(0);
    expect(statesOf(await membersAt(one))).toEqual(['active, self', 'active']);
    expect(statesOf(await membersAt(two))).toEqual(['active', 'active, self']);
  }
});

test('one that takes the place of a killed one is listed in its stead at once, with none of its work', async () => {
  await using pair = await startPair();
  const { one, two, options } = pair;
  const agent = await two.register({ agentId: 'a' });
  await two.check(agent);
  await eventually(async () => expect((await membersAt(one))[1]).toMatchObject({ agents: 1, ops_in_flight: 1 }));
  const [, killed] = await membersAt(one);
  await two.kill('SIGKILL');
  await using next = await TestGateway.start(options);
  for (const gateway of [one, next]) {
    const members = await membersAt(gateway);
    expect(members.map(({ id }) => id)).not.toContain(killed?.id);
    expect(members.map(({ state, agents, ops_in_flight }) => [state, agents, ops_in_flight])).toEqual([
      ['active', 0, 1],
      ['active', 0, 0],
    ]);
  }
});

test('a gateway that drains is shown as leaving until it has gone', async () => {
  await using pair = await startPair();
  const { one, two } = pair;
  // The gateway waits for what is in flight: a request whose body is yet to come.
  const { hostname, port } = new URL(one.http);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const head = `POST /api/v1/control HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${bootstrapKey}\r\n`;
  socket.write(`${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{`);
  await sleep(500);
  one.child.kill('SIGTERM');
  await eventually(async () => expect(statesOf(await membersAt(two))).toEqual(['leaving', 'active, self']));
  socket.destroy();
  expect(await one.exited()).toBe(0);
  await eventually(async () => expect(statesOf(await membersAt(two))).toEqual(['active, self']));
});
