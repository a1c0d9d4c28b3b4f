import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import type { FakeAnswer } from '../harness/fake-server.ts';
import { FakeServer } from '../harness/fake-server.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

const day = 86_400;
const tokenPath = '/api/v1/auth/token';
const opsPath = '/api/v1/ops';
const now = () => Math.floor(Date.now() / 1000);
const refused: FakeAnswer = {
  status: 401,
  json: { status: 401, code: 'unauthenticated', title: 'Unauthenticated', detail: 'the credential is not valid' },
};
const list: FakeAnswer = { json: { items: [], next_cursor: null, total: 0 } };

/** Answers a list to callers with the right bearer, and issues numbered tokens. */
function gatewayScript(accepts: (bearer: string | undefined) => boolean, exchanges: FakeAnswer[] = []) {
  let made = 0;
  return (path: string, bearer: string | undefined): FakeAnswer => {
    if (path !== tokenPath) return accepts(bearer) ? list : refused;
    const scripted = exchanges[made];
    made++;
    return scripted ?? { json: { token: `renewed.${made}`, expires_at: now() + day, scopes: ['read', 'write'] } };
  };
}

async function serverThat(
  accepts: (bearer: string | undefined) => boolean,
  exchanges: FakeAnswer[] = [],
): Promise<FakeServer> {
  const script = gatewayScript(accepts, exchanges);
  return FakeServer.start(({ path, authorization }) => script(path.split('?')[0] ?? '', authorization));
}

function homeFor(server: { url: string }, session: object | undefined, key?: string): TestHome {
  const home = new TestHome();
  home.writeConfig({
    current_context: 'c',
    contexts: { c: { api_url: server.url, ...(key === undefined ? {} : { api_key: key }) } },
  });
  if (session !== undefined) {
    const whole = {
      token: 'old.token',
      expires_at: now() + day,
      scopes: ['read', 'write'],
      source_key: 'source-key',
      api_url: server.url,
    };
    home.writeCredentials({ sessions: { c: { ...whole, ...session } } });
  }
  return home;
}

const bearers = (server: FakeServer, path = opsPath) => server.to(path).map(({ authorization }) => authorization);

describe('the bearer of a request', () => {
  test('is the token of the session, whatever keys there are', async () => {
    await using server = await serverThat(() => true);
    using home = homeFor(server, {}, 'of-the-context');
    const { code } = await home.run(['ops', 'list', '--api-key', 'of-the-flag'], {
      env: { REEVE_API_KEY: 'of-the-variable' },
    });
    expect(code).toBe(0);
    expect(bearers(server)).toEqual(['Bearer old.token']);
    expect(server.to(tokenPath)).toEqual([]);
  });

  test.each([
    ['from the flag', ['--api-key', 'of-the-flag'], { REEVE_API_KEY: 'of-the-variable' }, 'of-the-flag'],
    ['else from the variable', [], { REEVE_API_KEY: 'of-the-variable' }, 'of-the-variable'],
    ['else from the context', [], {}, 'of-the-context'],
  ])('is the raw key without a session: %s', async (_where, args, env, key) => {
    await using server = await serverThat(() => true);
    using home = homeFor(server, undefined, 'of-the-context');
    expect((await home.run(['ops', 'list', ...args], { env })).code).toBe(0);
    expect(bearers(server)).toEqual([`Bearer ${key}`]);
    expect(home.sessions()).toEqual({});
  });

  test('is none without either: the gateway decides, and the user is told to log in', async () => {
    await using server = await serverThat((bearer) => bearer !== undefined);
    using home = homeFor(server, undefined);
    const { code, stderr } = await home.run(['ops', 'list']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/authentication required.*reeve login/s);
    expect(bearers(server)).toEqual([undefined]);
  });

  test('is none where none is needed', async () => {
    await using server = await serverThat(() => true);
    using home = homeFor(server, undefined);
    expect((await home.run(['ops', 'list'])).code).toBe(0);
    expect(bearers(server)).toEqual([undefined]);
  });

  test('is the session’s only at the URL that the session was made for', async () => {
    await using mine = await serverThat(() => true);
    await using other = await serverThat(() => true);
    using home = homeFor(mine, { expires_at: now() - 10 });
    expect((await home.run(['ops', 'list', '--api-url', other.url])).code).toBe(0);
    expect((await home.run(['ops', 'list'], { env: { REEVE_API_URL: other.url } })).code).toBe(0);
    expect(bearers(other)).toEqual([undefined, undefined]);
    expect(other.to(tokenPath)).toEqual([]);
    expect(mine.seen).toEqual([]);
    const { code } = await home.run(['ops', 'list', '--api-url', `${mine.url}/`]);
    expect([code, bearers(mine)]).toEqual([0, ['Bearer renewed.1']]);
  });
});

describe('a session that has expired', () => {
  test('is renewed before the request, with its key and its scopes, and kept', async () => {
    await using server = await serverThat((bearer) => bearer === 'Bearer renewed.1');
    using home = homeFor(server, { expires_at: now() - 1 });
    const { code, stdout, stderr } = await home.run(['ops', 'list']);
    expect([code, stderr]).toEqual([0, '']);
    expect(server.seen.map(({ path, authorization, body }) => [path, authorization, body])).toEqual([
      [tokenPath, 'Bearer source-key', JSON.stringify({ scopes: ['read', 'write'] })],
      [opsPath, 'Bearer renewed.1', ''],
    ]);
    expect(home.sessions()['c']).toMatchObject({ token: 'renewed.1', source_key: 'source-key', api_url: server.url });
    expect(stdout + stderr).not.toMatch(/renewed|source-key/);
  });

  test('is used as it is until then', async () => {
    await using server = await serverThat(() => true);
    using home = homeFor(server, { expires_at: now() + 30 });
    await home.run(['ops', 'list']);
    expect(server.to(tokenPath)).toEqual([]);
  });

  test('and whose key is rejected is reported as not logged in; the request is not sent', async () => {
    await using server = await serverThat(() => true, [refused]);
    using home = homeFor(server, { expires_at: now() - 1 });
    const { code, stderr } = await home.run(['ops', 'list', '--api-key', 'other']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/not logged in.*reeve login/s);
    expect(stderr).not.toContain('source-key');
    expect(bearers(server)).toEqual([]);
  });

  test('and that still gets a 401 is renewed once more, and no more', async () => {
    await using server = await serverThat(() => false);
    using home = homeFor(server, { expires_at: now() - 1 });
    const { code } = await home.run(['ops', 'list']);
    expect(code).toBe(1);
    expect(server.seen.map(({ path }) => path)).toEqual([tokenPath, opsPath, tokenPath, opsPath]);
  });

  test('is renewed without being kept where the folder cannot be written, with a warning', async () => {
    await using server = await serverThat((bearer) => bearer === 'Bearer renewed.1');
    using home = homeFor(server, { expires_at: now() - 1 });
    // The lock of a live process.
    home.write('credentials.yaml.lock', `${process.pid} 0`);
    const { code, stderr } = await home.run(['ops', 'list']);
    expect(code).toBe(0);
    expect(stderr).toContain('warning: the renewed session is not kept');
  });
});

describe('a 401', () => {
  test('renews the session once and sends the request again', async () => {
    await using server = await serverThat((bearer) => bearer === 'Bearer renewed.1');
    using home = homeFor(server, {});
    const { code, stderr } = await home.run(['ops', 'list']);
    expect([code, stderr]).toEqual([0, '']);
    expect(server.seen.map(({ path, authorization }) => [path, authorization])).toEqual([
      [opsPath, 'Bearer old.token'],
      [tokenPath, 'Bearer source-key'],
      [opsPath, 'Bearer renewed.1'],
    ]);
    expect(JSON.parse(server.to(tokenPath)[0]?.body ?? '')).toEqual({ scopes: ['read', 'write'] });
    expect(home.sessions()['c']?.token).toBe('renewed.1');
  });

  test('sends the same body again', async () => {
    await using server = await FakeServer.start(({ path, authorization }) => {
      if (path === tokenPath) return { json: { token: 'renewed.1', expires_at: now() + day, scopes: ['write'] } };
      if (authorization !== 'Bearer renewed.1') return refused;
      return { status: 202, json: { op: { op_id: 't:s', state: 'paused' }, control: null } };
    });
    using home = homeFor(server, {});
    const { code } = await home.run(['ops', 'pause', 't:s', '--reason', 'because']);
    expect(code).toBe(0);
    const sent = server.to('/api/v1/ops/t%3As/pause');
    expect(sent.map(({ body }) => JSON.parse(body) as object)).toEqual([{ reason: 'because' }, { reason: 'because' }]);
  });

  test('that comes a second time is final', async () => {
    await using server = await serverThat(() => false);
    using home = homeFor(server, {});
    const { code, stderr } = await home.run(['ops', 'list']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/authentication required.*reeve login/s);
    expect(server.seen.map(({ path }) => path)).toEqual([opsPath, tokenPath, opsPath]);
  });

  test('whose key is rejected is reported as not logged in', async () => {
    await using server = await serverThat(() => false, [refused]);
    using home = homeFor(server, {});
    const { code, stderr } = await home.run(['ops', 'list']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/not logged in.*reeve login/s);
    expect(server.seen.map(({ path }) => path)).toEqual([opsPath, tokenPath]);
  });

  test('on a raw key is final at once', async () => {
    await using server = await serverThat(() => false);
    using home = homeFor(server, undefined, 'raw-key');
    const { code, stderr } = await home.run(['ops', 'list']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/authentication required.*reeve login/s);
    expect(stderr).not.toContain('raw-key');
    expect(server.seen.map(({ path }) => path)).toEqual([opsPath]);
  });

  test('that a renewal cannot help because the exchange fails shows that failure', async () => {
    await using server = await serverThat(
      () => false,
      [{ status: 403, json: { status: 403, code: 'insufficient_scope', detail: 'the key does not grant "write"' } }],
    );
    using home = homeFor(server, {});
    const { code, stderr } = await home.run(['ops', 'list']);
    expect([code, stderr]).toEqual([1, 'error: the key does not grant "write"\n']);
  });
});

test('a 403 shows the message of the server', async () => {
  await using server = await FakeServer.start(() => ({
    status: 403,
    json: { status: 403, code: 'insufficient_scope', detail: 'this needs the scope "admin"', required_scope: 'admin' },
  }));
  using home = homeFor(server, {});
  const { code, stderr } = await home.run(['keys', 'list']);
  expect([code, stderr]).toEqual([1, 'error: this needs the scope "admin"\n']);
  expect(server.seen).toHaveLength(1);
});

test('a session that ends meanwhile is not brought back by a renewal', async () => {
  await using server = await FakeServer.start(({ path }, response) => {
    if (path !== tokenPath) return list;
    // The user logs out while the key is being exchanged.
    void home.run(['logout']).then(() => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ token: 'renewed.1', expires_at: now() + day, scopes: ['read'] }));
    });
    return undefined;
  });
  using home = homeFor(server, { expires_at: now() - 1 });
  expect((await home.run(['ops', 'list'])).code).toBe(0);
  expect(home.sessions()).toEqual({});
});

describe('with a gateway', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await TestGateway.start({ env: { SVC_TOKEN_TTL_SECS: '3' }, args: ['--database', 'memory:'] });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test('a session goes on and on with the scopes it was made with', async () => {
    using home = new TestHome();
    const env = { REEVE_API_URL: gateway.http };
    await home.run(['login', '--api-key', bootstrapKey, '--scope', 'read'], { env });
    const before = home.sessions()[gateway.http];
    await new Promise((resolve) => setTimeout(resolve, 3500));
    expect((await home.run(['ops', 'list'], { env })).code).toBe(0);
    const after = home.sessions()[gateway.http];
    expect(after?.token).not.toBe(before?.token);
    expect(after?.scopes).toEqual(['read']);
    const { code, stderr } = await home.run(['keys', 'list'], { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining('admin')]);
  });

  test('a clock behind the gateway’s makes no difference: the refusal renews the session', async () => {
    using home = new TestHome();
    const env = { REEVE_API_URL: gateway.http };
    await home.run(['login', '--api-key', bootstrapKey], { env });
    const session = home.sessions()[gateway.http];
    // By this machine's clock, the token is valid for another hour.
    home.writeCredentials({ sessions: { [gateway.http]: { ...session, expires_at: now() + 3600 } } });
    await new Promise((resolve) => setTimeout(resolve, 3500));
    expect((await home.run(['ops', 'list'], { env })).code).toBe(0);
    expect(home.sessions()[gateway.http]?.token).not.toBe(session?.token);
  });

  test('a key that is revoked ends the session', async () => {
    using home = new TestHome();
    const env = { REEVE_API_URL: gateway.http };
    const { key, id } = await makeKey(gateway);
    await home.run(['login', '--api-key', key], { env });
    await gateway.api.post(`/api/v1/iam/api-keys/${id}/revoke`, bootstrapKey);
    const { code, stderr } = await home.run(['ops', 'list'], { env });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/not logged in.*reeve login/s)]);
  });
});
