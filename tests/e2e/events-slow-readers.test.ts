import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { EventSocket } from '../harness/event-socket.ts';
import { allowAll, checkRequest, TestGateway } from '../harness/gateway.ts';

const noLimits = { SVC_RATE_LIMIT_API_PER_MIN: '0', SVC_RATE_LIMIT_PUBLIC_PER_MIN: '0' };

test('a client that reads too slowly is closed with 1013, and keeps nobody waiting', { timeout: 120_000 }, async () => {
  await using busy = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env: noLimits });
  const agent = await busy.register({ agentId: 'bot' });
  const fast = await EventSocket.open(busy.http);
  const slow = await EventSocket.open(busy.http);
  slow.socket.pause();
  let isClosed = false;
  void slow.closed.then(() => (isClosed = true));
  const summary = 'x'.repeat(4000);
  const dropped = async () => {
    const { text } = await busy.api.get('/metrics');
    return Number(/^reeve_events_dropped_total (\d+)$/m.exec(text)?.[1]);
  };
  let checks = 0;
  while ((await dropped()) === 0) {
    await busy.batch(Array.from({ length: 100 }, () => checkRequest(agent, { summary })));
    checks += 100;
    expect(checks, 'the slow reader is never closed').toBeLessThan(30_000);
  }
  await fast.received(checks * 3);
  const ids = fast.events.map((event) => event.id);
  expect(ids).toEqual(Array.from({ length: checks * 3 }, (_, at) => (ids[0] ?? 0) + at));
  expect(isClosed).toBe(false);
  slow.socket.resume();
  expect((await slow.closed).code).toBe(1013);
  const last = slow.events.at(-1)?.id ?? 0;
  expect(slow.events.length).toBeLessThan(checks * 3);
  expect(isDeepStrictEqual(slow.events, fast.events.slice(0, slow.events.length))).toBe(true);
  const resumed = await EventSocket.open(busy.http, { query: { since: String(last) } });
  await resumed.received(1);
  const { text } = await busy.api.get('/metrics');
  expect(text).toMatch(/^reeve_event_streams_ended_total\{reason="slow"\} 1$/m);
});

test('fifty that do not read for long see 1013 all the same when they do', { timeout: 180_000 }, async () => {
  await using busy = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env: noLimits });
  const agent = await busy.register({ agentId: 'bot' });
  const deaf = await Promise.all(Array.from({ length: 50 }, () => EventSocket.open(busy.http)));
  for (const { socket } of deaf) socket.pause();
  const summary = 'x'.repeat(4000);
  const ended = async () => {
    const { text } = await busy.api.get('/metrics');
    return Number(/^reeve_event_streams_ended_total\{reason="slow"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  let checks = 0;
  while ((await ended()) < deaf.length) {
    await busy.batch(Array.from({ length: 100 }, () => checkRequest(agent, { summary })));
    checks += 100;
    expect(checks, 'those that do not read are never closed').toBeLessThan(30_000);
  }
  // Longer than the usual timeout of a closed connection.
  await sleep(31_000);
  for (const { socket } of deaf) socket.resume();
  const codes = await Promise.all(deaf.map(async ({ closed }) => (await closed).code));
  expect(await busy.check(agent)).toMatchObject({ decision: 1 });
  expect(codes).toEqual(deaf.map(() => 1013));
});
