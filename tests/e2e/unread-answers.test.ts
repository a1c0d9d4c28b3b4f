import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { TestGateway, toolCall } from '../harness/gateway.ts';

let gateway: TestGateway;
let acme: Registered;
let umbrella: Registered;
beforeAll(async () => {
  const policies = { 'p.yaml': 'name: p\ndefault: allow\n' };
  gateway = await TestGateway.start({ policies, env: { SVC_RATE_LIMIT_API_PER_MIN: '0' } });
  acme = await gateway.register({ orgId: 'acme', teamId: 'core', agentId: 'bot' });
  umbrella = await gateway.register({ orgId: 'umbrella', teamId: 'core', agentId: 'bot' });
  const context = toolCall('search', JSON.stringify({ text: 'x'.repeat(15_000) }));
  // More than the system buffers for a connection that nobody reads.
  for (let batch = 0; batch < 40; batch++) {
    await Promise.all(Array.from({ length: 50 }, () => gateway.check(acme, { context })));
  }
}, 120_000);
afterAll(() => gateway[Symbol.asyncDispose]());

/** Sends a request, reads the start of the answer, and then stops reading. */
async function asks(path: string, bearer: string): Promise<{ readonly socket: Socket; readonly status: number }> {
  const { hostname, port, host } = new URL(gateway.http);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${bearer}\r\n\r\n`);
  await once(socket, 'readable');
  const head = String(socket.read(64) ?? '');
  return { socket, status: Number(head.split(' ')[1]) };
}

test('an org leaves four exports unread at a time, whichever team’s key it uses; others have theirs', async () => {
  const team = (team_id: string) => makeKey(gateway, { scopes: ['read'], org_id: 'acme', team_id });
  const keys = [
    await makeKey(gateway, { scopes: ['read'], org_id: 'acme' }),
    await team('core'),
    await makeKey(gateway, { scopes: ['read'], org_id: 'acme' }),
  ];
  const other = await makeKey(gateway, { scopes: ['read'], org_id: 'umbrella' });
  const answers: { readonly socket: Socket; readonly status: number }[] = [];
  for (let turn = 0; turn < 9; turn++) {
    answers.push(await asks('/api/v1/logs/export', keys[turn % keys.length]?.key ?? ''));
  }
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 429, 429, 429, 429]);
  expect((await gateway.check(umbrella, { context: toolCall('search') })).decision).toBe(1);
  expect((await gateway.api.get('/api/v1/logs/export', other.key)).status).toBe(200);

  for (const { socket } of answers) socket.destroy();
  await eventually(async () => {
    const again = await asks('/api/v1/logs/export', keys[0]?.key ?? '');
    again.socket.destroy();
    expect(again.status).toBe(200);
  });
});

test('an export is whole, in both forms', async () => {
  const { key } = await makeKey(gateway, { scopes: ['read'], org_id: 'acme' });
  for (const format of ['jsonl', 'csv']) {
    const { text } = await gateway.api.get(`/api/v1/logs/export?event_type=ActionAllowed&format=${format}`, key);
    expect(text.trimEnd().split('\n')).toHaveLength(format === 'csv' ? 2001 : 2000);
  }
});
