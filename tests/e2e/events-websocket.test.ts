import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beginBeforeItEnds, makeKey, tokenOf } from '../harness/credentials.ts';
import { EventSocket } from '../harness/event-socket.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, checkRequest, TestGateway } from '../harness/gateway.ts';
import { openSocket, rawAnswer, rawRequest } from '../harness/raw-http.ts';

const noLimits = { SVC_RATE_LIMIT_API_PER_MIN: '0', SVC_RATE_LIMIT_PUBLIC_PER_MIN: '0' };
/** Nobody here confirms a control or sends heartbeats, and no alert about that may interfere. */
const noAlerts = { SVC_CONTROL_ACK_SECS: '3600', SVC_OPS_STALE_SECS: '3600' };

let gateway: TestGateway;
let bot: Registered;
let foreigner: Registered;
/** Taken first and used last, so that it ages by itself. */
let old: { ticket: string; takenAt: number };
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env: { ...noLimits, ...noAlerts } });
  bot = await gateway.register({ agentId: 'bot' });
  foreigner = await gateway.register({ orgId: 'umbrella', teamId: 'ops', agentId: 'foreigner' });
  old = { ticket: await ticketFor(), takenAt: performance.now() };
});
afterAll(() => gateway[Symbol.asyncDispose]());

const open = (options: Parameters<typeof EventSocket.open>[1] = {}) => EventSocket.open(gateway.http, options);
const refused = (options: Parameters<typeof EventSocket.refused>[1] = {}) => EventSocket.refused(gateway.http, options);

async function ticketFor(bearer = bootstrapKey): Promise<string> {
  const { body } = await gateway.api.post<{ ticket: string }>('/api/v1/auth/ws-ticket', bearer);
  return body.ticket;
}

describe('the handshake', () => {
  test('is answered with a hello that has the newest id, and with the id of the request', async () => {
    const stream = await open({ headers: { 'x-request-id': 'mine-1' } });
    expect(stream.messages).toEqual([{ event_type: 'hello', cursor: expect.any(Number) }]);
    expect(stream.headers['x-request-id']).toBe('mine-1');
    const before = stream.cursor;
    await gateway.check(bot);
    const [first] = await stream.received(3);
    expect(first?.id).toBe(before + 1);
    const later = await open();
    expect(later.cursor).toBe(before + 3);
    stream.close();
    later.close();
  });

  test.each([
    ['no credential', { bearer: '' }],
    ['a made-up key', { bearer: 'rvk_made_up' }],
    ['a made-up ticket', { query: { ticket: 'rvt_made-up' } }],
    ['an empty ticket', { bearer: '', query: { ticket: '' } }],
    ['the key as ticket', { query: { ticket: bootstrapKey } }],
    ['no credential, and a filter that is not one', { bearer: '', query: { types: 'nonsense' } }],
  ])('with %s is refused with 401 before the upgrade', async (_, options) => {
    expect(await refused(options)).toMatchObject({ status: 401, problem: { code: 'unauthenticated' } });
  });

  test.each([
    ['types', 'nonsense'],
    ['types', 'ops_change,nonsense'],
    ['types', 'ops_change,'],
    ['types', 'OPS_CHANGE'],
    ['types', ''],
    ['types', 'hello'],
    ['since', 'yesterday'],
    ['since', '-1'],
    ['since', '1.5'],
    ['since', '1e3'],
    ['since', ''],
    ['since', ' 1'],
    ['org_id', 'x'.repeat(129)],
  ])('with %s=%s is refused with 422 before the upgrade', async (name, value) => {
    const { status, problem } = await refused({ query: { [name]: value } });
    expect(status).toBe(422);
    expect(problem).toMatchObject({ code: 'validation_failed', errors: [{ pointer: `/query/${name}` }] });
  });

  test('without the headers of one is a 426 that says what is needed, with a credential', async () => {
    const plain = await gateway.api.get<{ code: string }>('/api/v1/ws/events', bootstrapKey);
    expect(plain.status).toBe(426);
    expect(plain.body.code).toBe('upgrade_required');
    expect(plain.headers.get('upgrade')).toBe('websocket');
    expect((await gateway.api.get('/api/v1/ws/events')).status).toBe(401);
    expect((await gateway.api.get('/api/v1/ws/events?since=x', bootstrapKey)).status).toBe(422);
    const head = await fetch(`${gateway.http}/api/v1/ws/events`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${bootstrapKey}` },
    });
    expect(head.status).toBe(426);
  });

  test('with another method is a 405', async () => {
    const answer = await gateway.api.send('POST', '/api/v1/ws/events', { bearer: bootstrapKey });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
    const raw = await openSocket(gateway.http);
    raw.write(rawRequest('POST', '/api/v1/ws/events', ['Connection: Upgrade', 'Upgrade: websocket']));
    expect((await rawAnswer(raw)).status).toBe(405);
  });

  test.each([
    ['another version', ['Sec-WebSocket-Version: 7', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='], 426],
    ['no version', ['Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='], 426],
    ['no key', ['Sec-WebSocket-Version: 13'], 400],
    ['a key that is none', ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: short'], 400],
  ])('with %s is refused with a problem', async (_, headers, status) => {
    const raw = await openSocket(gateway.http);
    const upgrade = ['Connection: Upgrade', 'Upgrade: WebSocket', `Authorization: Bearer ${bootstrapKey}`];
    const request = rawRequest('GET', '/api/v1/ws/events', [...upgrade, ...headers]).replace(
      'Connection: close\r\n',
      '',
    );
    raw.write(request);
    const answer = await rawAnswer(raw);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(JSON.parse(answer.text)).toMatchObject({ status, instance: '/api/v1/ws/events' });
  });

  test('with a subprotocol, whatever it is, is answered without one', async () => {
    const raw = await openSocket(gateway.http);
    const headers = [
      'Upgrade: websocket',
      `Authorization: Bearer ${bootstrapKey}`,
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      'Sec-WebSocket-Protocol: ,;"',
    ];
    raw.write(rawRequest('GET', '/api/v1/ws/events', headers).replace('Connection: close', 'Connection: Upgrade'));
    const [bytes] = (await once(raw, 'data')) as [Buffer];
    expect(bytes.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /);
    expect(bytes.toString('latin1')).not.toMatch(/sec-websocket-protocol/i);
    raw.destroy();
  });

  test('asked for anywhere else is ignored', async () => {
    const raw = await openSocket(gateway.http);
    raw.write(
      rawRequest('GET', '/healthz', ['Upgrade: websocket']).replace('Connection: close', 'Connection: Upgrade, close'),
    );
    expect((await rawAnswer(raw)).status).toBe(200);
  });

  test('counts against the limit of its credential', async () => {
    await using limited = await TestGateway.start({ env: { SVC_RATE_LIMIT_API_PER_MIN: '2' } });
    const stream = await EventSocket.open(limited.http);
    expect(stream.headers['ratelimit']).toContain('"api";r=1');
    stream.close();
    (await EventSocket.open(limited.http)).close();
    const { status, headers } = await EventSocket.refused(limited.http);
    expect(status).toBe(429);
    expect(headers['retry-after']).toMatch(/^\d+$/);
  });
});

describe('a ticket', () => {
  test('opens one stream, and with it what its credential may see', async () => {
    const viewer = await makeKey(gateway, { org_id: 'umbrella' });
    const ticket = await ticketFor(viewer.key);
    const stream = await open({ query: { ticket } });
    await gateway.check(bot);
    await gateway.check(foreigner);
    const seen = await stream.received(3);
    expect(seen.map((event) => event.org_id)).toEqual(['umbrella', 'umbrella', 'umbrella']);
    expect((await refused({ query: { ticket } })).status).toBe(401);
    stream.close();
  });

  test('is not used up by requests that are not in order', async () => {
    const ticket = await ticketFor();
    expect((await refused({ query: { ticket, types: 'nonsense' } })).status).toBe(422);
    expect((await refused({ query: { ticket, since: 'x' } })).status).toBe(422);
    expect((await gateway.api.get(`/api/v1/ws/events?ticket=${ticket}`)).status).toBe(426);
    expect((await fetch(`${gateway.http}/api/v1/events?ticket=${ticket}`, { method: 'HEAD' })).status).toBe(200);
    (await open({ query: { ticket } })).close();
    expect((await refused({ query: { ticket } })).status).toBe(401);
  });

  test('is left alone where there is a credential in the header', async () => {
    const ticket = await ticketFor();
    (await open({ bearer: bootstrapKey, query: { ticket } })).close();
    expect((await refused({ bearer: 'rvk_wrong', query: { ticket } })).status).toBe(401);
    (await open({ query: { ticket } })).close();
  });

  test('of a key that was revoked since is refused', async () => {
    const viewer = await makeKey(gateway);
    const ticket = await ticketFor(viewer.key);
    await gateway.api.post(`/api/v1/iam/api-keys/${viewer.id}/revoke`, bootstrapKey);
    expect((await refused({ query: { ticket } })).status).toBe(401);
  });

  test('is one of a thousand, and each of them opens one stream', async () => {
    const tickets = new Set<string>();
    for (let i = 0; i < 50; i++) {
      for (const ticket of await Promise.all(Array.from({ length: 20 }, () => ticketFor()))) tickets.add(ticket);
    }
    expect(tickets.size).toBe(1000);
    const [one, ...others] = [...tickets];
    const both = await Promise.allSettled([
      open({ query: { ticket: one ?? '' } }),
      open({ query: { ticket: one ?? '' } }),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    for (const ticket of others.slice(0, 30)) (await open({ query: { ticket } })).close();
  });
});

describe('events', () => {
  test('tell each transition once, in order, with the operation as HTTP shows it', async () => {
    const stream = await open({ query: { types: 'ops_change' } });
    const { opId } = await gateway.check(bot, { runId: 'run-7', summary: 'look it up' });
    await gateway.api.post(`/api/v1/ops/${opId}/pause`, bootstrapKey);
    await gateway.api.post(`/api/v1/ops/${opId}/resume`, bootstrapKey);
    await gateway.complete(bot, opId);
    const seen = await stream.received(5);
    expect(seen.map((event) => event.payload)).toMatchObject(
      ['pending', 'running', 'paused', 'running', 'completing'].map((state) => ({ op_id: opId, state, op: { state } })),
    );
    const ids = seen.map((event) => event.id);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(new Set(ids).size).toBe(5);
    const [, running, , , last] = seen;
    expect(running).toMatchObject({
      event_type: 'ops_change',
      agent_id: 'bot',
      org_id: 'acme',
      team_id: 'core',
      payload: { op: { op_id: opId, agent: { org_id: 'acme', team_id: 'core', agent_id: 'bot' }, run_id: 'run-7' } },
    });
    const shown = await gateway.api.get<{ updated_at: string }>(`/api/v1/ops/${opId}`, bootstrapKey);
    expect(last?.payload).toEqual({
      op_id: opId,
      state: 'completing',
      updated_at: shown.body.updated_at,
      op: shown.body,
    });
    stream.close();
  });

  test('tell nothing of transitions that were refused or changed nothing', async () => {
    const { opId } = await gateway.check(bot);
    await gateway.complete(bot, opId);
    const stream = await open({ query: { types: 'ops_change' } });
    expect((await gateway.api.post(`/api/v1/ops/${opId}/pause`, bootstrapKey)).status).toBe(409);
    expect((await gateway.api.post(`/api/v1/ops/${opId}/terminate`, bootstrapKey)).status).toBe(409);
    await expect(gateway.complete(bot, opId)).rejects.toThrow(/cannot complete/);
    const other = await gateway.check(bot);
    await gateway.api.post(`/api/v1/ops/${other.opId}/terminate`, bootstrapKey);
    await gateway.api.post(`/api/v1/ops/${other.opId}/terminate`, bootstrapKey);
    const { opId: last } = await gateway.check(bot);
    await stream.until((event) => 'op_id' in event.payload && event.payload.op_id === last);
    await stream.received(5);
    expect(stream.events.filter((event) => 'op_id' in event.payload && event.payload.op_id === opId)).toEqual([]);
    const states = stream.events.map((event) => ('state' in event.payload ? event.payload.state : ''));
    expect(states).toEqual(['pending', 'running', 'terminated', 'pending', 'running']);
    stream.close();
  });

  test('tell decisions, replays and refusals included, once each', async () => {
    const stream = await open({ query: { types: 'decision' } });
    const { opId } = await gateway.check(bot, { traceId: 'replayed', spanId: 's' });
    await gateway.check(bot, { traceId: 'replayed', spanId: 's' });
    await gateway.check({ ...bot, token: 'wrong' });
    await gateway.check({ id: { orgId: 'acme', teamId: 'core', agentId: 'nobody' }, token: 'x' });
    await gateway.check(foreigner, { traceId: 'last', spanId: 's' });
    const seen = await stream.received(4);
    expect(seen.map(({ agent_id, org_id, payload }) => ({ agent_id, org_id, ...payload }))).toMatchObject([
      { agent_id: 'bot', org_id: 'acme', op_id: opId, decision: 'allow' },
      { agent_id: 'bot', org_id: 'acme', op_id: opId, decision: 'allow' },
      { agent_id: 'bot', op_id: null, decision: 'deny', reason: 'credential token mismatch', policy_rule: 'identity' },
      { agent_id: 'foreigner', org_id: 'umbrella', op_id: 'last:s', decision: 'allow' },
    ]);
    stream.close();
  });

  test('tell of agents, of policies and of impersonations', async () => {
    const stream = await open({ query: { types: 'agent,policy,audit_alert' } });
    const loner = await gateway.register({ orgId: '', teamId: '', agentId: 'loner' });
    await gateway.api.post('/api/v1/agents/-/-/loner/suspend', bootstrapKey, { reason: 'look into it' });
    await gateway.api.post('/api/v1/agents/-/-/loner/resume', bootstrapKey, { reason: '' });
    await gateway.deregister(loner);
    await gateway.check({ ...foreigner, token: bot.token });
    gateway.writePolicy('more.yaml', 'name: more\nrules: []\n');
    await stream.until((event) => event.event_type === 'policy');
    // A file that is read during its writing is loaded twice.
    const told = stream.events.slice(0, 6);
    expect(
      told.map(({ event_type, agent_id, org_id, payload }) => ({ event_type, agent_id, org_id, payload })),
    ).toMatchObject([
      ...['registered', 'suspended', 'resumed', 'deregistered'].map((change) => ({
        event_type: 'agent',
        agent_id: 'loner',
        org_id: null,
        payload: { change },
      })),
      {
        event_type: 'audit_alert',
        agent_id: 'bot',
        org_id: 'acme',
        payload: { alert: 'impersonation', claimed_org_id: 'umbrella', claimed_agent_id: 'foreigner' },
      },
      { event_type: 'policy', agent_id: null, org_id: null, payload: { error: null } },
    ]);
    stream.close();
  });

  test('have the same ids for everybody, whoever is connected', async () => {
    const streams = await Promise.all([open(), open(), open({ query: { types: 'decision' } })]);
    for (let i = 0; i < 20; i++) await gateway.check(bot);
    const [all, again, decisions] = await Promise.all(streams.map((stream, at) => stream.received(at === 2 ? 20 : 60)));
    expect(again).toEqual(all);
    expect(decisions).toEqual(all?.filter((event) => event.event_type === 'decision'));
    const ids = all?.map((event) => event.id) ?? [];
    expect(ids).toEqual(Array.from({ length: 60 }, (_, at) => (ids[0] ?? 0) + at));
    for (const stream of streams) stream.close();
  });
});

describe('a filter', () => {
  test('takes several types, and those that nothing happens of yet', async () => {
    const stream = await open({ query: { types: 'budget,decision,approval,decision' } });
    await gateway.check(bot);
    await gateway.check(bot);
    const seen = await stream.received(2);
    expect(seen.map((event) => event.event_type)).toEqual(['decision', 'decision']);
    stream.close();
  });

  test('narrows to an org or an agent', async () => {
    const byOrg = await open({ query: { types: 'decision', org_id: 'umbrella' } });
    const byAgent = await open({ query: { types: 'decision', agent_id: 'bot' } });
    const byBoth = await open({ query: { org_id: 'umbrella', agent_id: 'bot' } });
    await gateway.check(bot);
    await gateway.check(foreigner);
    await gateway.check(bot);
    expect((await byOrg.received(1)).map((event) => event.agent_id)).toEqual(['foreigner']);
    expect((await byAgent.received(2)).map((event) => event.agent_id)).toEqual(['bot', 'bot']);
    expect(byBoth.events).toEqual([]);
    for (const stream of [byOrg, byAgent, byBoth]) stream.close();
  });
});

describe('a cursor', () => {
  test('replays what came after it, then goes on live, with nothing lost or doubled', async () => {
    const whole = await open();
    const since = String(whole.cursor);
    const enough = new AbortController();
    const work = (async () => {
      while (!enough.signal.aborted) await gateway.check(bot);
    })();
    await whole.received(300);
    const joined = await Promise.all(Array.from({ length: 5 }, () => open({ query: { since } })));
    await whole.received(900);
    enough.abort();
    await work;
    const { opId } = await gateway.check(bot);
    const isLast = (event: { event_type: string; payload: object }) =>
      event.event_type === 'decision' && 'op_id' in event.payload && event.payload.op_id === opId;
    for (const stream of [whole, ...joined]) await stream.until(isLast);
    for (const stream of joined) {
      expect(stream.hasGap).toBe(false);
      expect(stream.events).toEqual(whole.events);
      stream.close();
    }
    whole.close();
  });

  test.each(['999999999999', '9007199254740991', '99999999999999999999'])(
    'of the future, %s, means live only',
    async (since) => {
      const stream = await open({ query: { since } });
      await gateway.check(bot);
      const [first] = await stream.received(3);
      expect(first?.id).toBe(stream.cursor + 1);
      expect(stream.hasGap).toBe(false);
      stream.close();
    },
  );

  test('that is too old gets a gap, then all that is there', async () => {
    await using busy = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
    const agent = await busy.register({ agentId: 'bot' });
    const whole = await EventSocket.open(busy.http);
    for (let i = 0; i < 12; i++) await busy.batch(Array.from({ length: 500 }, () => checkRequest(agent)));
    await whole.received(18_000);
    const stream = await EventSocket.open(busy.http, { query: { since: '1' } });
    await stream.received(16_384);
    expect(stream.messages.slice(0, 2)).toEqual([
      { event_type: 'hello', cursor: stream.cursor },
      { event_type: 'gap' },
    ]);
    expect(isDeepStrictEqual(stream.events, whole.events.slice(-16_384))).toBe(true);
    const bridged = await EventSocket.open(busy.http, { query: { since: String(stream.cursor - 10_000) } });
    await bridged.received(10_000);
    expect(bridged.hasGap).toBe(false);
    expect(isDeepStrictEqual(bridged.events, whole.events.slice(-10_000))).toBe(true);
  });

  test.each([
    ['stopped', 'SIGTERM'],
    ['killed', 'SIGKILL'],
  ] as const)('from before the gateway was %s gets a gap, and ids go on', async (_, signal) => {
    let gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
    const agent = await gateway.register({ agentId: 'bot' });
    const before = await EventSocket.open(gateway.http);
    await gateway.check(agent);
    const last = (await before.received(3)).at(-1)?.id ?? Number.NaN;
    gateway = await gateway.restart(signal);
    await using restarted = gateway;
    const after = await EventSocket.open(restarted.http, { query: { since: String(last) } });
    expect(after.cursor).toBeGreaterThan(last);
    await eventually(() => expect(after.messages[1]).toEqual({ event_type: 'gap' }));
    await restarted.check(agent);
    const { id } = await after.until((event) => event.event_type === 'decision');
    expect(id).toBeGreaterThan(last);
    const resumed = await EventSocket.open(restarted.http, { query: { since: String(after.cursor) } });
    await resumed.received(3);
    expect(resumed.hasGap).toBe(false);
  });

  test('of 0 on a gateway that keeps nothing gets all there is, and ids grow from one run to the next', async () => {
    const args = ['--database', 'memory:'];
    let cursor = 0;
    for (let run = 0; run < 2; run++) {
      await using memory = await TestGateway.start({ policies: { 'all.yaml': allowAll }, args });
      const agent = await memory.register({ agentId: 'bot' });
      await memory.check(agent);
      const stream = await EventSocket.open(memory.http, { query: { since: '0', types: 'agent,decision' } });
      expect((await stream.received(2)).map((event) => event.event_type)).toEqual(['agent', 'decision']);
      expect(stream.hasGap).toBe(false);
      expect(stream.cursor).toBeGreaterThan(cursor);
      if (run > 0) {
        const stale = await EventSocket.open(memory.http, { query: { since: String(cursor) } });
        await stale.received(1);
        expect(stale.hasGap).toBe(true);
      }
      cursor = stream.cursor;
    }
  });
});

describe('a tenant', () => {
  test('sees only its own, live and in replay, whatever it asks for', async () => {
    const acme = await makeKey(gateway, { org_id: 'acme' });
    const team = await makeKey(gateway, { org_id: 'acme', team_id: 'other' });
    const umbrella = await tokenOf(gateway, (await makeKey(gateway, { org_id: 'umbrella' })).key);
    const other = await gateway.register({ orgId: 'acme', teamId: 'other', agentId: 'bot' });
    const loner = await gateway.register({ orgId: '', teamId: '', agentId: 'loner' });
    const all = await open();
    const live = await Promise.all([acme.key, team.key, umbrella].map((bearer) => open({ bearer })));
    const asking = await open({ bearer: umbrella, query: { org_id: 'acme' } });
    for (const agent of [bot, foreigner, other, loner]) await gateway.check(agent);
    await gateway.check({ ...foreigner, token: bot.token });
    gateway.writePolicy('tenant.yaml', 'name: tenant\nrules: []\n');
    await all.until((event) => event.event_type === 'policy');
    const replayed = await Promise.all(
      [acme.key, team.key, umbrella].map((bearer) => open({ bearer, query: { since: String(all.cursor) } })),
    );
    const expected = [
      all.events.filter((event) => event.org_id === 'acme'),
      all.events.filter((event) => event.org_id === 'acme' && event.team_id === 'other'),
      all.events.filter((event) => event.org_id === 'umbrella'),
    ];
    expect(expected.map((events) => events.length)).toEqual([8, 3, 3]);
    for (const [at, events] of expected.entries()) {
      expect(await live[at]?.received(events.length)).toEqual(events);
      expect(await replayed[at]?.received(events.length)).toEqual(events);
    }
    expect(asking.events).toEqual([]);
    for (const stream of [all, asking, ...live, ...replayed]) stream.close();
  });
});

describe('a credential that ends', () => {
  test.each([
    ['a key that is revoked', false, 'revoke'],
    ['a key that is rotated', false, 'rotate'],
    ['a token whose key is revoked', true, 'revoke'],
  ])('takes its streams with it at once: %s', async (_, byToken, how) => {
    const viewer = await makeKey(gateway);
    const bearer = byToken ? await tokenOf(gateway, viewer.key) : viewer.key;
    const byHeader = await open({ bearer });
    const byTicket = await open({ query: { ticket: await ticketFor(bearer) } });
    const untouched = await open();
    await gateway.api.post(`/api/v1/iam/api-keys/${viewer.id}/${how}`, bootstrapKey);
    await gateway.check(bot);
    await untouched.received(3);
    for (const stream of [byHeader, byTicket]) {
      expect((await stream.closed).code).toBe(4401);
      expect(stream.events).toEqual([]);
    }
    untouched.close();
  });

  test('takes its streams with it when its time has come', async () => {
    const streams = await beginBeforeItEnds(async (ttlSecs) => {
      const { key } = await makeKey(gateway, { ttl_secs: ttlSecs });
      return Promise.all([open({ bearer: key }), open({ bearer: await tokenOf(gateway, key) })]);
    });
    for (const stream of streams) expect((await stream.closed).code).toBe(4401);
  });
});

describe('a client', () => {
  test('may say what it likes, as long as it is short', async () => {
    const stream = await open();
    stream.socket.send('hello');
    stream.socket.send(Buffer.from([1, 2, 3]));
    stream.socket.ping('are you there');
    const [pong] = (await once(stream.socket, 'pong')) as [Buffer];
    expect(pong.toString()).toBe('are you there');
    await gateway.check(bot);
    await stream.received(3);
    stream.socket.send('x'.repeat(10_000));
    expect((await stream.closed).code).toBe(1009);
  });
});

test('a gateway that is stopped closes its streams with 1001, and waits for nobody who does not answer', async () => {
  const stopped = await TestGateway.start();
  const streams = await Promise.all([EventSocket.open(stopped.http), EventSocket.open(stopped.http)]);
  const deaf = await EventSocket.open(stopped.http);
  deaf.socket.pause();
  stopped.child.kill('SIGTERM');
  for (const stream of streams) expect((await stream.closed).code).toBe(1001);
  expect(await stopped.exited()).toBe(0);
  await stopped[Symbol.asyncDispose]();
});

test('open streams are counted', async () => {
  await using counted = await TestGateway.start();
  const count = async () => /^reeve_websocket_clients (\d+)$/m.exec((await counted.api.get('/metrics')).text)?.[1];
  expect(await count()).toBe('0');
  const streams = await Promise.all([EventSocket.open(counted.http), EventSocket.open(counted.http)]);
  expect(await count()).toBe('2');
  const [one, two] = streams;
  one?.close();
  two?.socket.terminate();
  await eventually(async () => expect(await count()).toBe('0'));
});

test('a ticket is good for thirty seconds', async () => {
  await sleep(Math.max(0, old.takenAt + 30_500 - performance.now()));
  expect((await refused({ query: { ticket: old.ticket } })).status).toBe(401);
});
