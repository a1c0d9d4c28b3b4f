import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beginBeforeItEnds, makeKey, tokenOf } from '../harness/credentials.ts';
import { EventSocket } from '../harness/event-socket.ts';
import { EventSource } from '../harness/event-source.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

let gateway: TestGateway;
let bot: Registered;
/** Opened first and checked last. */
let quiet: EventSource;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  bot = await gateway.register({ agentId: 'bot' });
  quiet = await open({ query: { types: 'budget' } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const open = (options: Parameters<typeof EventSource.open>[1] = {}) => EventSource.open(gateway.http, options);
const status = async (query: string, bearer?: string, headers: Readonly<Record<string, string>> = {}) =>
  (await gateway.api.send('GET', `/api/v1/events${query}`, { ...(bearer === undefined ? {} : { bearer }), headers }))
    .status;

test('the stream is the same as over a WebSocket, with ids and types for browsers', async () => {
  const socket = await EventSocket.open(gateway.http);
  const source = await open({ headers: { 'x-request-id': 'mine-2' } });
  await gateway.check(bot);
  await gateway.check(bot);
  expect(await source.received(6)).toEqual(await socket.received(6));
  expect(source.response.headers['x-request-id']).toBe('mine-2');
  expect(source.response.headers['cache-control']).toBe('no-store');
  const [hello, ...events] = source.sent;
  expect(hello).toEqual({ id: undefined, event: 'hello', data: { event_type: 'hello', cursor: socket.cursor } });
  for (const { id, event, data } of events) {
    expect(event).toBe(data.event_type);
    expect(id).toBe('id' in data ? String(data.id) : undefined);
  }
  socket.close();
  source.close();
});

test.each([
  ['no credential', '', undefined, {}, 401],
  ['a bad one', '', 'rvk_wrong', {}, 401],
  ['a bad ticket', '?ticket=rvt_wrong', undefined, {}, 401],
  ['an unknown type', '?types=nonsense', bootstrapKey, {}, 422],
  ['a malformed since', '?since=x', bootstrapKey, {}, 422],
  ['a malformed Last-Event-ID', '', bootstrapKey, { 'last-event-id': 'x' }, 422],
])('%s is refused with a problem', async (_, query, bearer, headers, expected) => {
  expect(await status(query, bearer, headers)).toBe(expected);
});

test('HEAD answers without a stream, and other methods are refused', async () => {
  const headers = { authorization: `Bearer ${bootstrapKey}` };
  const head = await fetch(`${gateway.http}/api/v1/events`, { method: 'HEAD', headers });
  expect(head.status).toBe(200);
  expect(head.headers.get('content-type')).toBe('text/event-stream');
  expect((await gateway.api.send('POST', '/api/v1/events', { bearer: bootstrapKey })).status).toBe(405);
});

describe('resuming', () => {
  test('goes by since, and Last-Event-ID counts for more', async () => {
    const live = await open();
    for (let i = 0; i < 4; i++) await gateway.check(bot);
    const all = await live.received(12);
    const bySince = await open({ query: { since: String(all[3]?.id) } });
    expect(await bySince.received(8)).toEqual(all.slice(4));
    const byHeader = await open({
      query: { since: String(all[0]?.id) },
      headers: { 'last-event-id': String(all[9]?.id) },
    });
    expect(await byHeader.received(2)).toEqual(all.slice(10));
    for (const source of [live, bySince, byHeader]) source.close();
  });

  test('after a restart has a gap, which has no id', async () => {
    let restarted = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
    const agent = await restarted.register({ agentId: 'bot' });
    const before = await EventSource.open(restarted.http);
    await restarted.check(agent);
    const last = (await before.received(3)).at(-1)?.id;
    restarted = await restarted.restart('SIGKILL');
    await using again = restarted;
    const after = await EventSource.open(again.http, { headers: { 'last-event-id': String(last) } });
    await again.check(agent);
    await after.received(3);
    expect(after.sent[1]).toEqual({ id: undefined, event: 'gap', data: { event_type: 'gap' } });
  });
});

test('a tenant sees only its own, live and in replay', async () => {
  const foreigner = await gateway.register({ orgId: 'umbrella', agentId: 'foreigner' });
  const { key } = await makeKey(gateway, { org_id: 'umbrella' });
  const live = await open({ bearer: key });
  await gateway.check(bot);
  await gateway.check(foreigner);
  await gateway.check(bot);
  await gateway.check(foreigner);
  const seen = await live.received(6);
  expect(new Set(seen.map((event) => event.org_id))).toEqual(new Set(['umbrella']));
  const cursor = live.sent[0]?.data;
  const since = cursor !== undefined && 'cursor' in cursor ? String(cursor.cursor) : '';
  const replayed = await open({ bearer: key, query: { since, types: 'decision' } });
  expect(await replayed.received(2)).toEqual(seen.filter((event) => event.event_type === 'decision'));
  live.close();
  replayed.close();
});

test('a ticket opens one stream', async () => {
  const { body } = await gateway.api.post<{ ticket: string }>('/api/v1/auth/ws-ticket', bootstrapKey);
  const source = await open({ query: { ticket: body.ticket } });
  expect(await status(`?ticket=${body.ticket}`)).toBe(401);
  source.close();
});

test('a credential that ends takes its streams with it', async () => {
  const viewer = await makeKey(gateway);
  const expiring = await beginBeforeItEnds(async (ttlSecs) =>
    open({ bearer: (await makeKey(gateway, { ttl_secs: ttlSecs })).key }),
  );
  const revoked = [viewer.key, await tokenOf(gateway, viewer.key)].map((bearer) => open({ bearer }));
  const sources = [expiring, ...(await Promise.all(revoked))];
  await gateway.api.post(`/api/v1/iam/api-keys/${viewer.id}/revoke`, bootstrapKey);
  for (const source of sources) expect(await source.ended).toBe('ended');
});

test('open streams are counted, and so is what they are sent', async () => {
  await using counted = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  const agent = await counted.register({ agentId: 'bot' });
  const value = async (metric: string) =>
    Number(new RegExp(`^${metric} (\\d+)$`, 'm').exec((await counted.api.get('/metrics')).text)?.[1]);
  const source = await EventSource.open(counted.http);
  const socket = await EventSocket.open(counted.http);
  expect(await value('reeve_sse_clients')).toBe(1);
  await counted.check(agent);
  await Promise.all([source.received(3), socket.received(3)]);
  expect(await value('reeve_events_sent_total')).toBe(6);
  const text = (await counted.api.get('/metrics')).text;
  expect(text).toContain('reeve_http_requests_total{route="/api/v1/events",status="200"} 1');
  expect(text).toContain('reeve_http_requests_total{route="/api/v1/ws/events",status="101"} 1');
  source.close();
  await eventually(async () => expect(await value('reeve_sse_clients')).toBe(0));
});

test('a gateway that is stopped ends its streams', async () => {
  const stopped = await TestGateway.start();
  const source = await EventSource.open(stopped.http);
  const deaf = await EventSource.open(stopped.http);
  deaf.response.pause();
  stopped.child.kill('SIGTERM');
  expect(await source.ended).toBe('ended');
  expect(await stopped.exited()).toBe(0);
  await stopped[Symbol.asyncDispose]();
});

test('a comment comes every fifteen seconds, where nothing else does', { timeout: 60_000 }, async () => {
  await eventually(() => expect(quiet.comments.length).toBeGreaterThan(0), 600);
  expect(quiet.events).toEqual([]);
  quiet.close();
});
