import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get as httpsGet } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Problem, Route } from '@reeve/contract/http';
import { problemSchema, routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, checkRequest, TestGateway, toolCall } from '../harness/gateway.ts';
import { makeKey } from '../harness/credentials.ts';
import { openSocket, rawAnswer, rawRequest, sendRaw } from '../harness/raw-http.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env: { SVC_LOG_LEVEL: 'debug' } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const tokenPath = '/api/v1/auth/token';
const keysPath = '/api/v1/iam/api-keys';
const me = '/api/v1/auth/me';
const authorized = `Authorization: Bearer ${bootstrapKey}`;
const jsonType = { 'content-type': 'application/json' };
const everyRoute = Object.entries<Route>(routes);

/** The path of a route with a harmless value for each parameter. */
function pathOf(route: Pick<Route, 'path'>): string {
  return route.path.replaceAll(/\{\w+\}/g, 'nothing');
}

function post(path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = jsonType) {
  return gateway.api.send<Problem>('POST', path, { bearer: bootstrapKey, body, headers });
}

describe('paths and methods', () => {
  test('nothing there is a 404 problem whose instance is the path without its query', async () => {
    const { status, body } = await gateway.api.get<Problem>('/api/v1/nothing?secret=1');
    expect(status).toBe(404);
    expect(body).toMatchObject({ code: 'not_found', title: 'Not Found', instance: '/api/v1/nothing' });
    expect(JSON.stringify(body)).not.toContain('secret');
  });

  test.each(['/api/v1', '/api/v1/', '/api/v1/auth/methods/', '/API/v1/auth/methods', '//api/v1/auth/methods'])(
    '%s is not a route',
    async (path) => {
      expect(await gateway.api.get(path, bootstrapKey)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    },
  );

  test('a wrong method is a 405 problem with Allow, on every route', async () => {
    for (const [, { path }] of everyRoute) {
      const bare = pathOf({ path });
      const taken = everyRoute
        .map(([, route]) => route)
        .filter((route) => new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(bare))
        .flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]));
      const wrong = ['PUT', 'PATCH'].find((method) => !taken.includes(method)) ?? '';
      const { status, body, headers } = await gateway.api.send<Problem>(wrong, bare);
      expect(status, bare).toBe(405);
      expect(body, bare).toMatchObject({ code: 'method_not_allowed', instance: bare });
      expect(headers.get('allow')?.split(', ').sort(), bare).toEqual([...new Set(taken)].sort());
    }
  });

  test.each([
    '/../../etc/passwd',
    '/api/v1/../../../etc/passwd',
    '/api/v1/agents/../../../../etc/passwd',
    '/docs/../../package.json',
    '/docs/%2e%2e/%2e%2e/package.json',
    '/..%2f..%2fetc%2fpasswd',
    '/%00',
    '/%c0%ae%c0%ae/',
    '/%zz',
    '\\..\\..\\etc\\passwd',
  ])('the path %s leads nowhere', async (path) => {
    const answer = await sendRaw(gateway.http, rawRequest('GET', path, [authorized]));
    expect([400, 404]).toContain(answer.status);
    expect(problemSchema.parse(JSON.parse(answer.text)).status).toBe(answer.status);
  });

  test.each(['%2e%2e', '..', '%2fetc', 'a%2fb', '%00', '.hidden', '-x', 'ä', '%20', 'x'.repeat(129)])(
    'the id %s in a path is a 422 that points at it, and never another record',
    async (id) => {
      const answer = await sendRaw(gateway.http, rawRequest('GET', `/api/v1/agents/${id}/core/a`, [authorized]));
      expect([400, 422]).toContain(answer.status);
      const problem = problemSchema.parse(JSON.parse(answer.text));
      if (answer.status === 422) expect(problem.errors).toMatchObject([{ pointer: '/path/org' }]);
    },
  );

  test('ids in paths may be percent-encoded', async () => {
    await gateway.register({ agentId: 'worker' });
    const plain = await gateway.api.get('/api/v1/agents/acme/core/worker', bootstrapKey);
    expect(plain).toMatchObject({ status: 200, body: { agent_id: 'worker' } });
    for (const encoded of ['/api/v1/agents/%61cme/c%6Fre/%77orker', '/api/v1/agents/acme/core/worke%72']) {
      const answer = await gateway.api.get(encoded, bootstrapKey);
      expect(answer).toMatchObject({ status: 200, body: plain.body });
    }
    const { id } = await makeKey(gateway);
    const encoded = Buffer.from(id).toString('hex').replaceAll(/../g, '%$&');
    expect(await gateway.api.post(`/iam/api-keys/${encoded}/revoke`, bootstrapKey)).toMatchObject({
      status: 200,
      body: { id },
    });
  });

  test('ids of 128 characters, the longest there are, can be reached, encoded or not', async () => {
    const longest = 'x'.repeat(128);
    await gateway.register({ orgId: longest, teamId: longest, agentId: longest });
    const encoded = '%78'.repeat(128);
    for (const id of [longest, encoded]) {
      const answer = await gateway.api.get(`/api/v1/agents/${id}/${id}/${id}`, bootstrapKey);
      expect(answer).toMatchObject({ status: 200, body: { agent_id: longest } });
    }
  });

  test('an id that is too long for any record is a 422 and not another error', async () => {
    for (const path of [`/api/v1/agents/a/b/${'x'.repeat(3000)}`, `/api/v1/topology/team/a/${'x'.repeat(3000)}`]) {
      expect(await gateway.api.get(path, bootstrapKey)).toMatchObject({ status: 422 });
    }
    expect(await gateway.api.post(`${keysPath}/${'x'.repeat(3000)}/revoke`, bootstrapKey)).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/path/id' }] },
    });
  });
});

describe('JSON bodies', () => {
  test.each([
    ['a brace', '{'],
    ['a missing value', '{"scopes":}'],
    ['words', 'all scopes please'],
    ['something after the end', '{} {}'],
    ['single quotes', `{'scopes':['read']}`],
    ['a trailing comma', '{"scopes":["read"],}'],
    ['a comment', '{/* all */}'],
    ['blanks only', '   '],
    ['NaN', '{"scopes":NaN}'],
    ['a raw control character', '{"scopes":["re\u0001ad"]}'],
    ['a member twice', '{"scopes":["read"],"scopes":["admin"]}'],
    ['a member twice, once escaped', '{"scopes":["read"],"\\u0073copes":["admin"]}'],
    ['a member twice further down', '{"scopes":["read"],"x":[{"y":1,"y":2}]}'],
    ['nesting a hundred deep', `${'['.repeat(100)}${']'.repeat(100)}`],
    ['nesting as deep as a body can be', '['.repeat(1_000_000)],
    ['objects as deep as a body can be', '{"a":'.repeat(200_000)],
  ])('%s is a 400 malformed_json', async (_what, body) => {
    expect(await post(tokenPath, body)).toMatchObject({ status: 400, body: { code: 'malformed_json' } });
  });

  test('bytes that are no UTF-8 are a 400 malformed_json', async () => {
    for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0xf5, 0x80, 0x80, 0x80]]) {
      const body = Buffer.concat([Buffer.from('{"scopes":["'), Buffer.from(bytes), Buffer.from('"]}')]);
      expect(await post(tokenPath, Uint8Array.from(body))).toMatchObject({
        status: 400,
        body: { code: 'malformed_json' },
      });
    }
    const utf16 = Buffer.from('{"scopes":["read"]}', 'utf16le');
    expect(await post(tokenPath, Uint8Array.from(utf16))).toMatchObject({ status: 400 });
  });

  test.each(['null', '[]', '1', '"read"', 'true'])(
    'the body %s is JSON but not an object: 422 at its root',
    async (body) => {
      const answer = await post(tokenPath, body);
      expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed', errors: [{ pointer: '' }] } });
    },
  );

  test('an unknown member is a 422 with a JSON pointer to it, also on routes that take none', async () => {
    const cases: [string, string, string][] = [
      [tokenPath, '{"scope":["read"]}', '/scope'],
      [tokenPath, '{"a/b~c":1}', '/a~1b~0c'],
      [tokenPath, '{"__proto__":{"scopes":["admin"]}}', '/__proto__'],
      [tokenPath, '{"constructor":1}', '/constructor'],
      [keysPath, '{"label":"x","scopes":["read"],"owner":"me"}', '/owner'],
      ['/api/v1/iam/api-keys/nothing/revoke', '{"reason":"x"}', '/reason'],
      ['/api/v1/agents/a/b/c/suspend', '{"reason":"x","until":"y"}', '/until'],
    ];
    for (const [path, body, pointer] of cases) {
      const answer = await post(path, body);
      expect(answer.status, body).toBe(422);
      expect(answer.body.errors, body).toEqual([{ pointer, detail: 'is not known here' }]);
    }
  });

  test('everything that is wrong is told at once', async () => {
    const answer = await post(keysPath, '{"label":"","scopes":["root"],"ttl_secs":-1,"more":true}');
    const pointers = answer.body.errors?.map(({ pointer = '' }) => pointer) ?? [];
    expect(pointers.toSorted()).toEqual(['/label', '/more', '/scopes/0', '/ttl_secs']);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonx',
    'application/problem+json',
    'text/json',
  ])('%s is a 415', async (type) => {
    const answer = await post(tokenPath, '{}', { 'content-type': type });
    expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });

  test('a body without a content type, or with a broken one, is a 415', async () => {
    for (const header of [[], ['Content-Type: ;;;'], ['Content-Type:']]) {
      const text = rawRequest('POST', tokenPath, [authorized, ...header], '{}');
      const answer = await sendRaw(gateway.http, text);
      expect(answer.status).toBe(415);
      expect(JSON.parse(answer.text)).toMatchObject({ code: 'unsupported_media_type' });
    }
  });

  test.each(['text/plain;charset=UTF-8', 'application/x-www-form-urlencoded', 'application/json', ';;;'])(
    'a body of no bytes is none, also if its type is %s',
    async (type) => {
      const empty = (path: string) =>
        sendRaw(gateway.http, rawRequest('POST', path, [authorized, `Content-Type: ${type}`, 'Content-Length: 0']));
      expect((await empty(tokenPath)).status).toBe(200);
      const missing = await empty(keysPath);
      expect([missing.status, JSON.parse(missing.text)]).toEqual([
        422,
        expect.objectContaining({ code: 'validation_failed' }),
      ]);
    },
  );

  test.each([[], ['Content-Type: text/plain'], ['Content-Type: application/json']])(
    'a body of chunks without a byte is none (%s)',
    async (...type) => {
      const head = rawRequest('POST', tokenPath, [authorized, ...type, 'Transfer-Encoding: chunked']);
      expect((await sendRaw(gateway.http, `${head}0\r\n\r\n`)).status).toBe(200);
      if (type[0]?.includes('json') === true) return;
      const { status, text } = await sendRaw(gateway.http, `${head}2\r\n{}\r\n0\r\n\r\n`);
      expect([status, JSON.parse(text)]).toEqual([415, expect.objectContaining({ code: 'unsupported_media_type' })]);
    },
  );

  test('a content type in capitals or with a charset is JSON all the same', async () => {
    for (const type of ['APPLICATION/JSON', 'application/json; charset=utf-8', 'application/json;charset="UTF-8"']) {
      expect(await post(tokenPath, '{}', { 'content-type': type })).toMatchObject({ status: 200 });
    }
  });

  test('up to 1 MiB is read, beyond it is a 413, announced or not', async () => {
    const padded = (size: number) => `{}${' '.repeat(size - 2)}`;
    expect(await post(tokenPath, padded(1024 * 1024))).toMatchObject({ status: 200 });
    const head = [authorized, 'Content-Type: application/json'];
    const announced = await sendRaw(
      gateway.http,
      rawRequest('POST', tokenPath, [...head, `Content-Length: ${2 * 1024 * 1024}`]),
    );
    expect(announced.status).toBe(413);
    expect(JSON.parse(announced.text)).toMatchObject({ code: 'payload_too_large' });
    const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`;
    const chunked = await sendRaw(
      gateway.http,
      `${rawRequest('POST', tokenPath, [...head, 'Transfer-Encoding: chunked'])}${chunk.repeat(65)}`,
    );
    expect(chunked.status).toBe(413);
    expect(JSON.parse(chunked.text)).toMatchObject({ code: 'payload_too_large' });
  });

  test('a route with no required member accepts an absent body, an empty one and {}', async () => {
    await gateway.register({ agentId: 'idle' });
    const accepting = [tokenPath, '/api/v1/auth/ws-ticket', '/api/v1/agents/acme/core/idle/suspend'];
    for (const path of accepting) {
      const statuses = [
        (await gateway.api.post(path, bootstrapKey)).status,
        (await gateway.api.post(path, bootstrapKey, {})).status,
        (await gateway.api.send('POST', path, { bearer: bootstrapKey, headers: jsonType })).status,
      ];
      expect(new Set(statuses).size, path).toBe(1);
      expect(statuses[0], path).toBeLessThan(300);
    }
    const answer = await gateway.api.post<Problem>(keysPath, bootstrapKey);
    expect(answer.body.errors?.map((error) => error.pointer).toSorted()).toEqual(['/label', '/scopes']);
  });

  test('a body that is sent slowly keeps nobody else waiting', async () => {
    const slow = await Promise.all(Array.from({ length: 20 }, () => openSocket(gateway.http)));
    const head = rawRequest('POST', tokenPath, [authorized, 'Content-Type: application/json', 'Content-Length: 2']);
    for (const socket of slow) socket.write(`${head}{`);
    for (let call = 0; call < 5; call++) {
      expect((await gateway.api.get(me, bootstrapKey)).status).toBe(200);
      expect((await gateway.api.post(tokenPath, bootstrapKey)).status).toBe(200);
    }
    for (const socket of slow) socket.write('}');
    const answers = await Promise.all(slow.map(rawAnswer));
    expect(answers.map((answer) => answer.status)).toEqual(slow.map(() => 200));
  });
});

describe('lists', () => {
  const lists = [keysPath, '/api/v1/logs', '/api/v1/agents'];

  test.each(['0', '-1', '1e9', '1001', 'abc', '', '1.5', 'NaN', 'Infinity', '10&per_page=20', '[]', '0x'])(
    'per_page=%s is a 422 that points at it',
    async (value) => {
      for (const path of lists) {
        const answer = await gateway.api.get<Problem>(`${path}?per_page=${value}`, bootstrapKey);
        expect(answer.status, path).toBe(422);
        expect(answer.body.errors, path).toMatchObject([{ pointer: '/query/per_page' }]);
      }
    },
  );

  test('per_page is 50 unless said otherwise, and up to 1000', async () => {
    await Promise.all(Array.from({ length: 55 }, (_, i) => gateway.register({ orgId: 'many', agentId: `a${i}` })));
    type Agents = { items: unknown[]; total: number; next_cursor: string | null };
    const first = await gateway.api.get<Agents>('/api/v1/agents?org_id=many', bootstrapKey);
    expect(first.body).toMatchObject({ items: { length: 50 }, total: 55, next_cursor: expect.any(String) });
    const all = await gateway.api.get<Agents>('/api/v1/agents?org_id=many&per_page=1000', bootstrapKey);
    expect(all.body).toMatchObject({ items: { length: 55 }, total: 55, next_cursor: null });
    const one = await gateway.api.get<Agents>('/api/v1/agents?org_id=many&per_page=1', bootstrapKey);
    expect(one.body.items).toHaveLength(1);
  });

  test('a cursor that was tampered with is a 422 that points at it', async () => {
    const encode = (text: string) => Buffer.from(text).toString('base64url');
    const { body } = await gateway.api.get<{ next_cursor: string }>('/api/v1/logs?per_page=1', bootstrapKey);
    const tampered = [
      '',
      'x',
      '1',
      '%00',
      `${body.next_cursor}A`,
      body.next_cursor.slice(1),
      `${body.next_cursor}=`,
      encode('v1:-1'),
      encode('v1:1e9'),
      encode('v1: 1'),
      encode('v1:01'),
      encode('v1:9999999999999999999'),
      encode('v2:1'),
      encode(`v1:1' OR '1'='1`),
      encode('{"seq":1}'),
      'A'.repeat(600),
    ];
    for (const path of lists) {
      for (const cursor of tampered) {
        const answer = await gateway.api.get<Problem>(`${path}?cursor=${cursor}`, bootstrapKey);
        expect(answer.status, `${path} ${cursor}`).toBe(422);
        expect(answer.body.errors, `${path} ${cursor}`).toMatchObject([{ pointer: '/query/cursor' }]);
      }
    }
  });

  test('a cursor grants nothing: another caller sees from there only what is its own', async () => {
    const { body } = await gateway.api.get<{ next_cursor: string }>('/api/v1/logs?per_page=2', bootstrapKey);
    const { key } = await makeKey(gateway, { org_id: 'elsewhere' });
    const answer = await gateway.api.get(`/api/v1/logs?cursor=${body.next_cursor}`, key);
    expect(answer).toMatchObject({ status: 200, body: { items: [], next_cursor: null } });
  });
});

describe('bytes on the wire', () => {
  test.each([
    ['a TLS greeting', Uint8Array.of(0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00)],
    ['zeros', new Uint8Array(64)],
    ['an unknown method', 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a version that does not exist', 'GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['a bare LF in a header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: a\nX-B: b\r\n\r\n'],
    ['a bare CR in a header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: a\rX-B: b\r\n\r\n'],
    ['a NUL in a header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n'],
    ['a folded header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: a\r\n b\r\n\r\n'],
    ['a space before the colon', 'GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n'],
    ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two lengths', 'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'],
    ['a negative length', 'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\nx'],
    [
      'a length and chunks',
      'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'a chunk that is none',
      'POST /api/v1/auth/token HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    ],
  ])('%s is a 400 problem', async (_what, bytes) => {
    const answer = await sendRaw(gateway.http, bytes);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(problemSchema.parse(JSON.parse(answer.text))).toMatchObject({ status: 400, code: 'bad_request' });
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await gateway.api.get('/healthz')).status).toBe(200);
  });

  test('headers that are too large are a 431 problem', async () => {
    const answer = await sendRaw(gateway.http, rawRequest('GET', '/healthz', [`X-Filler: ${'x'.repeat(100_000)}`]));
    expect(answer.status).toBe(431);
    expect(problemSchema.parse(JSON.parse(answer.text))).toMatchObject({ status: 431, code: 'headers_too_large' });
  });

  test('a line break that is smuggled in starts no header of the answer', async () => {
    for (const path of ['/%0d%0aX-Injected:%20yes', '/api/v1/agents/a%0d%0aX-Injected:%20yes/b/c']) {
      const answer = await sendRaw(gateway.http, rawRequest('GET', path, [authorized]));
      expect([400, 404, 422]).toContain(answer.status);
      expect(answer.headers.has('x-injected')).toBe(false);
    }
    const split = await sendRaw(gateway.http, rawRequest('GET', '/healthz', ['X-Request-Id: mine\r\nX-Injected: yes']));
    expect(split.headers.get('x-request-id')).toBe('mine');
    expect(split.headers.has('x-injected')).toBe(false);
  });
});

describe('credentials', () => {
  test('every route that is not public answers 401 with WWW-Authenticate to nobody, whatever else is wrong', async () => {
    for (const [name, route] of everyRoute) {
      if (route.access === 'public') continue;
      for (const bearer of [undefined, 'nonsense', `${bootstrapKey}x`, 'a.b.c']) {
        const answer = await gateway.api.send(route.method, `${pathOf(route)}?per_page=x`, {
          ...(bearer === undefined ? {} : { bearer }),
          ...(route.method === 'GET' ? {} : { body: '{', headers: jsonType }),
        });
        expect(answer, name).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
        expect(answer.headers.get('www-authenticate'), name).toBe('Bearer');
      }
    }
  });

  test.each(['Basic YTpi', `Token ${bootstrapKey}`, bootstrapKey, 'Bearer', `Bearer ${bootstrapKey} x`, 'Bearer  '])(
    'the header "%s" is no credential',
    async (authorization) => {
      const answer = await gateway.api.send('GET', me, { headers: { authorization } });
      expect(answer).toMatchObject({ status: 401 });
    },
  );

  test('the scheme is a word in any case', async () => {
    for (const scheme of ['bearer', 'BEARER', 'Bearer']) {
      const headers = { authorization: `${scheme} ${bootstrapKey}` };
      expect(await gateway.api.send('GET', me, { headers })).toMatchObject({ status: 200 });
    }
  });

  test('two Authorization headers are a 401, also where both are good or one is', async () => {
    const other = 'Authorization: Bearer nonsense';
    for (const pair of [
      [authorized, authorized],
      [authorized, other],
      [other, authorized],
      [authorized, 'AUTHORIZATION: Basic YTpi'],
    ]) {
      const answer = await sendRaw(gateway.http, rawRequest('GET', me, pair));
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    const exchange = await sendRaw(gateway.http, rawRequest('POST', tokenPath, [authorized, authorized]));
    expect(exchange.status).toBe(401);
  });

  test('a key in the query string, in a cookie or in a body is no credential, and is not logged', async () => {
    const { key } = await makeKey(gateway);
    for (const name of ['api_key', 'access_token', 'key', 'token', 'authorization', 'ticket']) {
      expect(await gateway.api.get(`${me}?${name}=${key}`)).toMatchObject({ status: 401 });
      expect(await gateway.api.get(`/nothing?${name}=${key}`)).toMatchObject({ status: 404 });
    }
    expect(await gateway.api.send('GET', me, { headers: { cookie: `token=${key}` } })).toMatchObject({ status: 401 });
    expect(await gateway.api.post(tokenPath, undefined, { key })).toMatchObject({ status: 401 });
    await gateway.api.send('GET', me, { bearer: key, headers: { 'x-request-id': 'after-the-keys' } });
    await eventually(() => expect(gateway.output().stderr).toContain('after-the-keys'));
    expect(gateway.output().stderr).not.toContain(key);
    expect(gateway.output().stderr).not.toContain(key.split('_')[2]);
  });

  test('403 names the scope that is missing in detail and required_scope, on every route that needs one', async () => {
    const reader = await makeKey(gateway, { scopes: ['read'] });
    const writer = await makeKey(gateway, { scopes: ['write'] });
    const lesser = { read: [], write: [reader], admin: [reader, writer] };
    for (const [name, route] of everyRoute) {
      if (route.access !== 'write' && route.access !== 'admin') continue;
      for (const { key } of lesser[route.access]) {
        const answer = await gateway.api.send<Problem>(route.method, pathOf(route), { bearer: key });
        expect(answer.status, name).toBe(403);
        expect(answer.body, name).toMatchObject({ code: 'insufficient_scope', required_scope: route.access });
        expect(answer.body.detail, name).toContain(`"${route.access}"`);
      }
    }
  });
});

describe('headers of every answer', () => {
  test('tell browsers to sniff, frame, cache and refer nothing', async () => {
    const answers = await Promise.all([
      gateway.api.get('/healthz'),
      gateway.api.get('/docs'),
      gateway.api.get('/openapi.json'),
      gateway.api.get('/metrics'),
      gateway.api.get('/nothing'),
      gateway.api.get(me),
      gateway.api.get(me, bootstrapKey),
      gateway.api.get('/api/v1/logs/export', bootstrapKey),
      gateway.api.send('PUT', me),
      post(tokenPath, '{'),
      post(tokenPath, 'x', { 'content-type': 'text/plain' }),
      gateway.api.post('/api/v1/auth/login'),
    ]);
    for (const { headers } of answers) {
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'content-security-policy': expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
        'cache-control': 'no-store',
      });
      expect(headers.has('x-powered-by')).toBe(false);
      expect(headers.has('server')).toBe(false);
      expect(headers.has('access-control-allow-origin')).toBe(false);
      expect(headers.has('strict-transport-security')).toBe(false);
    }
  });

  test('ask for TLS from then on, where there is TLS', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-tls-'));
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', cert];
    execFileSync('openssl', [...made, ...subject], { stdio: 'pipe' });
    try {
      await using secure = await TestGateway.start({ env: { SVC_TLS_CERT: cert, SVC_TLS_KEY: key } });
      const request = httpsGet(`${secure.http}/healthz`, { ca: readFileSync(cert) });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.resume();
      expect(response.statusCode).toBe(200);
      expect(response.headers['strict-transport-security']).toMatch(/^max-age=\d{7,}/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('HEAD answers like GET without the body', async () => {
    for (const path of ['/healthz', '/openapi.json', me, '/api/v1/logs', '/api/v1/logs/export', '/nothing', '/docs']) {
      const headers = { authorization: `Bearer ${bootstrapKey}` };
      const [head, get] = [
        await fetch(`${gateway.http}${path}`, { method: 'HEAD', headers }),
        await fetch(`${gateway.http}${path}`, { headers }),
      ];
      await get.text();
      expect(head.status, path).toBe(get.status);
      expect(await head.text(), path).toBe('');
      expect(head.headers.get('content-type'), path).toBe(get.headers.get('content-type'));
      expect(head.headers.get('x-request-id'), path).toBeTruthy();
    }
    expect((await fetch(`${gateway.http}${me}`, { method: 'HEAD' })).status).toBe(401);
    expect((await fetch(`${gateway.http}${tokenPath}`, { method: 'HEAD' })).status).toBe(405);
  });
});

describe('request ids', () => {
  test('the id that the caller gives comes back, and stands in the audit entry and in the log', async () => {
    const id = 'Caller-1.of_7';
    const answer = await gateway.api.send('POST', tokenPath, { bearer: bootstrapKey, headers: { 'x-request-id': id } });
    expect(answer.headers.get('x-request-id')).toBe(id);
    expect(gateway.audit().at(-1)).toMatchObject({ event_type: 'TokenIssued', payload: { request_id: id } });
    await eventually(() => {
      const lines = gateway
        .output()
        .stderr.split('\n')
        .filter((line) => line.includes(id));
      expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
        { method: 'POST', path: tokenPath, status: 200, request_id: id, level: 20 },
      ]);
    });
  });

  test('one is made up where none is given, and is another one each time', async () => {
    const ids = await Promise.all(
      Array.from({ length: 5 }, async () => (await gateway.api.get('/healthz')).headers.get('x-request-id')),
    );
    expect(new Set(ids).size).toBe(5);
    await gateway.api.post(tokenPath, bootstrapKey);
    expect(gateway.audit().at(-1)?.payload).toMatchObject({ request_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });

  test.each(['', 'x'.repeat(65), 'a b', '<script>', '${jndi:ldap://x}', 'ü', '"}{"level":60', 'a,b', '../..'])(
    'the hostile id "%s" is replaced',
    async (id) => {
      const answer = await sendRaw(gateway.http, rawRequest('GET', '/healthz', [`X-Request-Id: ${id}`]));
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  test('two ids are none', async () => {
    const answer = await sendRaw(gateway.http, rawRequest('GET', '/healthz', ['X-Request-Id: a', 'X-Request-Id: b']));
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('problems carry it too, also those before a route is found', async () => {
    for (const path of ['/nothing', me, '/%zz']) {
      const answer = await sendRaw(gateway.http, rawRequest('GET', path, ['X-Request-Id: mine']));
      expect(answer.headers.get('x-request-id')).toBe('mine');
    }
  });
});

test('SIGTERM does not wait for those who neither read nor finish what they send', async () => {
  const env = { SVC_DRAIN_SECS: '1' };
  await using leaving = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
  const agent = await leaving.register({ agentId: 'a' });
  const requests = Array.from({ length: 1000 }, () =>
    checkRequest(agent, { context: toolCall('t', 'x'.repeat(2000)) }),
  );
  for (let i = 0; i < 10; i++) {
    await leaving.batch(requests);
  }
  const [idle, reader, sender] = [
    await openSocket(leaving.http),
    await openSocket(leaving.http),
    await openSocket(leaving.http),
  ];
  reader.pause().write(rawRequest('GET', '/api/v1/logs/export', [authorized]));
  const unfinished = rawRequest('POST', tokenPath, [authorized, 'Content-Type: application/json', 'Content-Length: 5']);
  sender.write(`${unfinished}{`);
  await eventually(() => expect(reader.readableLength).toBeGreaterThan(0));
  expect(await leaving.kill('SIGTERM')).toBe(0);
  for (const socket of [idle, reader, sender]) socket.destroy();
});

test('after all of that the gateway is well, has logged no error and no key', async () => {
  expect((await gateway.ready()).body.status).toBe('ok');
  const { stderr } = gateway.output();
  const levels = stderr
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { level: number }).level);
  expect(Math.max(...levels)).toBeLessThan(40);
  expect(stderr).not.toContain(bootstrapKey);
});
