import type { RouteOutput, Routes } from '@reeve/contract/http';
import { expect, test } from 'vitest';
import { EventSocket } from '../harness/event-socket.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { startPair } from './pair.ts';

/** Checks one operation after the other at alternating gateways, and returns their ids. */
async function checkMany(gateways: readonly TestGateway[], agent: Registered, traceId: string): Promise<string[]> {
  const ids: string[] = [];
  for (let nth = 0; nth < 10; nth++) {
    const { opId = '' } = (await gateways[nth % gateways.length]?.check(agent, { traceId, spanId: `${nth}` })) ?? {};
    ids.push(opId);
  }
  return ids;
}

/** The events after a cursor, up to the last of these operations. */
async function follow(gateway: TestGateway, since: number | undefined, last: string) {
  const query = { types: 'ops_change', ...(since === undefined ? {} : { since: String(since) }) };
  const socket = await EventSocket.open(gateway.http, { query });
  const isLast = (event: EventSocket['events'][number]) =>
    event.event_type === 'ops_change' && event.payload.op_id === last && event.payload.state === 'running';
  await socket.until(isLast);
  socket.close();
  expect(socket.hasGap).toBe(false);
  return socket.events.map((event) => {
    const { op_id, state } = event.payload as { op_id: string; state: string };
    return { id: event.id, change: `${op_id} ${state}` };
  });
}

function changesOf(ids: readonly string[]): string[] {
  return ids.flatMap((id) => [`${id} pending`, `${id} running`]);
}

test('a cursor of one gateway resumes at the other, without loss or repetition, also after both were restarted', async () => {
  await using pair = await startPair();
  const { one, two, options } = pair;
  const agent = await one.register({ agentId: 'a' });
  const first = await checkMany([one, two], agent, 'first');
  const atOne = await follow(one, 0, first.at(-1) ?? '');
  expect(atOne.map(({ change }) => change)).toEqual(changesOf(first));
  expect(await follow(two, 0, first.at(-1) ?? '')).toEqual(atOne);

  const second = await checkMany([one, two], agent, 'second');
  const middle = atOne.at(-3)?.id ?? 0;
  const atTwo = await follow(two, middle, second.at(-1) ?? '');
  expect(atTwo.map(({ change }) => change)).toEqual([...changesOf(first).slice(-2), ...changesOf(second)]);
  expect(atTwo.slice(0, 2)).toEqual(atOne.slice(-2));

  await Promise.all([one.kill('SIGKILL'), two.kill('SIGTERM')]);
  await using three = await TestGateway.start({ ...options, folder: one.folder });
  await using four = await TestGateway.start({ ...options, folder: two.folder });
  const third = await checkMany([three, four], agent, 'third');
  for (const gateway of [three, four]) {
    const later = await follow(gateway, middle, third.at(-1) ?? '');
    expect(later.slice(0, atTwo.length)).toEqual(atTwo);
    expect(later.slice(atTwo.length).map(({ change }) => change)).toEqual(changesOf(third));
    const ids = later.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  }
});

test('a ticket of one gateway opens a stream at the other, and only once', async () => {
  await using pair = await startPair();
  const { one, two } = pair;
  const makeTicket = async () =>
    (await one.api.post<RouteOutput<Routes['wsTicket']>>('/api/v1/auth/ws-ticket', bootstrapKey)).body.ticket;
  const ticket = await makeTicket();
  const socket = await EventSocket.open(two.http, { query: { ticket } });
  for (const gateway of [two, one]) {
    expect(await EventSocket.refused(gateway.http, { query: { ticket } })).toMatchObject({ status: 401 });
  }
  socket.close();
  // If both are asked at the same moment, one of them opens.
  const another = await makeTicket();
  const attempts = await Promise.allSettled(
    [one, two].map(({ http }) => EventSocket.open(http, { query: { ticket: another } })),
  );
  expect(attempts.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  for (const attempt of attempts) if (attempt.status === 'fulfilled') attempt.value.close();
});
