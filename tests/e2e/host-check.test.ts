import { once } from 'node:events';
import type { Route } from '@reeve/contract/http';
import { problemSchema, routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { bootstrapKey, runServe, TestGateway } from '../harness/gateway.ts';
import { sendRaw } from '../harness/raw-http.ts';

/** A foreign name that resolves to this machine: what a browser sends after DNS rebinding. */
const attacker = 'attacker.example';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({
    env: { SVC_PUBLIC_URL: 'https://reeve.example', SVC_ALLOWED_HOSTS: 'gateway.internal, *.apps.example' },
  });
});
afterAll(() => gateway[Symbol.asyncDispose]());

interface Raw {
  readonly method?: string;
  readonly path?: string;
  readonly hosts?: readonly string[];
  readonly headers?: readonly string[];
  readonly body?: string;
}

async function send({ method = 'GET', path = '/api/v1/auth/me', hosts = [attacker], headers = [], body = '' }: Raw) {
  const length = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  const head = [`${method} ${path} HTTP/1.1`, ...hosts.map((host) => `Host: ${host}`), 'Connection: close'];
  const answer = await sendRaw(gateway.http, [...head, ...headers, ...length, '', body].join('\r\n'));
  const isProblem = answer.headers.get('content-type') === 'application/problem+json' && answer.text !== '';
  return { status: answer.status, code: isProblem ? problemSchema.parse(JSON.parse(answer.text)).code : undefined };
}

const authorized = [`Authorization: Bearer ${bootstrapKey}`];
const misdirected = { status: 421, code: 'misdirected_request' };
const port = () => new URL(gateway.http).port;

describe('a request under a name of somebody else', () => {
  test('is a 421 on every route but health and metrics, with a good credential, too', async () => {
    for (const [name, { method, path }] of Object.entries<Route>(routes)) {
      const answer = await send({ method, path: path.replaceAll(/\{\w+\}/g, 'x'), headers: authorized });
      if (['/healthz', '/readyz', '/metrics'].includes(path)) expect(answer.status, name).toBe(200);
      else expect(answer, name).toEqual(misdirected);
    }
  });

  test.each(['/', '/ops', '/assets/x.js', '/favicon.ico', '/nothing', '/healthz/x', '//healthz', '/docs'])(
    'is a 421 at %s',
    async (path) => {
      expect(await send({ path, headers: ['Accept: text/html'] })).toEqual(misdirected);
    },
  );

  test('opens no WebSocket and no stream', async () => {
    const url = `${gateway.http.replace('http', 'ws')}/api/v1/ws/events`;
    const headers = { host: attacker, authorization: `Bearer ${bootstrapKey}` };
    const socket = new WebSocket(url, { headers });
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toContain('421');
    expect(await send({ path: '/api/v1/events', headers: authorized })).toEqual(misdirected);
  });

  test('does not become the owner of a gateway that has none', async () => {
    const body = JSON.stringify({ email: 'mallory@attacker.example', password: 'nine loud green trains' });
    const path = '/api/v1/auth/register';
    const origin = [`Origin: http://${attacker}:${port()}`, 'Sec-Fetch-Site: same-origin'];
    const rebound = { method: 'POST', path, body, hosts: [`${attacker}:${port()}`], headers: origin };
    expect(await send(rebound)).toEqual(misdirected);
    // From a page of the attacker's own, without rebinding.
    const hosts = [`127.0.0.1:${port()}`];
    expect(await send({ ...rebound, hosts })).toEqual({ status: 403, code: 'cross_origin' });
    expect(await send({ ...rebound, hosts, headers: ['Origin: null'] })).toEqual({ status: 403, code: 'cross_origin' });
    expect(await send({ ...rebound, hosts, headers: ['Sec-Fetch-Site: cross-site'] })).toMatchObject({ status: 403 });
    const accounts = await gateway.api.get<{ total: number }>('/api/v1/accounts', bootstrapKey);
    expect(accounts.body.total).toBe(0);
  });

  test('stays one, whatever a header of a proxy says', async () => {
    const headers = ['X-Forwarded-Host: localhost', 'Forwarded: host=localhost', ...authorized];
    expect(await send({ headers })).toEqual(misdirected);
    expect(await send({ path: 'http://localhost/api/v1/auth/me', headers })).toEqual(misdirected);
    const target = `http://${attacker}/api/v1/auth/me`;
    expect(await send({ path: target, hosts: ['localhost'], headers })).toEqual(misdirected);
  });
});

test('two Hosts and none are refused', async () => {
  expect(await send({ hosts: ['localhost', attacker] })).toEqual({ status: 400, code: 'bad_request' });
  expect(await send({ hosts: [] })).toEqual({ status: 400, code: 'bad_request' });
  expect(await send({ hosts: [''] })).toEqual(misdirected);
});

test.each([
  'localhost',
  'LOCALHOST.:1',
  '127.0.0.1',
  '[::1]:99',
  'reeve.example',
  'reeve.example:443',
  'Gateway.Internal:8080',
  'a.apps.example',
])('under its own name %s it answers', async (host) => {
  expect((await send({ hosts: [host], headers: authorized })).status).toBe(200);
});

test('with a star it answers for any name, and says so at the start', async () => {
  await using open = await TestGateway.start({ env: { SVC_ALLOWED_HOSTS: '*' } });
  const bytes = `GET /api/v1/auth/methods HTTP/1.1\r\nHost: ${attacker}\r\nConnection: close\r\n\r\n`;
  expect((await sendRaw(open.http, bytes)).status).toBe(200);
  expect(open.output().stderr).toContain('SVC_ALLOWED_HOSTS');
});

test('a host that is none stops the start', async () => {
  const { code, stderr } = await runServe(['--database', 'memory:'], { SVC_ALLOWED_HOSTS: 'a.example, http://b' });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^reeve serve: SVC_ALLOWED_HOSTS: "a.example, http:\/\/b" is not accepted; accepted: host/);
});
