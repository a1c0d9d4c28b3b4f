import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { SignOnProvider, clientSecret } from '../harness/sign-on-provider.ts';
import type { Person } from '../harness/person.ts';
import { Visitor } from '../harness/visitor.ts';

let provider: SignOnProvider;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await SignOnProvider.start();
  gateway = await TestGateway.start({
    env: {
      ...provider.env,
      SVC_OIDC_ROLES: 'the admins=admin, devs=developer@acme/core, all=viewer@acme',
      SVC_RATE_LIMIT_AUTH_PER_MIN: '0',
      SVC_LOG_LEVEL: 'debug',
    },
    // The library is loaded at the first sign-on.
    fromSources: true,
  });
  provider.serve([gateway]);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider.close();
});

beforeEach(() => {
  provider.people.set('ada', {
    email: 'ada@example.com',
    email_verified: true,
    name: 'Ada',
    groups: ['all', 'the admins'],
  });
});

const visitor = () => new Visitor(gateway, provider);
const me = async (person: Person) =>
  (
    await person.call<{ org_id: string; team_id: string; account: { id: string; role: string } }>(
      'GET',
      '/api/v1/auth/me',
    )
  ).body;
const problemOf = async (answer: Response) => ((await answer.json()) as { code: string }).code;

test('methods name it', async () => {
  const { body } = await gateway.api.get<{ methods: string[] }>('/api/v1/auth/methods');
  expect(body.methods).toEqual(['api_key', 'password', 'oidc']);
});

describe('beginning', () => {
  test('leads to the provider, with PKCE, state and nonce, bound to the browser by a Lax cookie', async () => {
    const answer = await visitor().start('/ops');
    expect(answer.status).toBe(302);
    const url = new URL(answer.headers.get('location') ?? '');
    expect(url.origin).toBe(provider.url);
    const asked = Object.fromEntries(url.searchParams);
    expect(asked).toMatchObject({
      response_type: 'code',
      client_id: 'reeve',
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      redirect_uri: `${gateway.http}/api/v1/auth/oidc/callback`,
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked[name]).toMatch(/^[\w-]{43}$/);
    const [cookie = '', ...others] = answer.headers.getSetCookie();
    expect(others).toEqual([]);
    expect(cookie).toMatch(/^reeve_oidc=[\w.-]+; Path=\/api\/v1\/auth\/oidc; HttpOnly; SameSite=Lax; Max-Age=600$/);
    for (const name of ['state', 'nonce'] as const) expect(cookie).not.toContain(asked[name]);
  });

  test.each(['https://evil.example', '//evil.example', '/\\evil.example', '/.//evil.example', '/a\nb', 'ops'])(
    'refuses to return to %j',
    async (path) => {
      const answer = await visitor().start(path);
      expect([answer.status, await problemOf(answer)]).toEqual([422, 'validation_failed']);
    },
  );
});

describe('a person', () => {
  test('gets a session like that of a password, and is led to the path that was asked for', async () => {
    const ada = visitor();
    const answer = await ada.signOn('ada', '/audit?q=a#b');
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/audit?q=a#b']);
    const [session, flow] = answer.headers.getSetCookie();
    expect(session).toMatch(
      /^reeve_refresh=rvr_.*; Path=\/api\/v1\/auth; HttpOnly; Secure; SameSite=Strict; Max-Age=43200$/,
    );
    expect(flow).toMatch(/^reeve_oidc=; .*Max-Age=0$/);
    expect((await ada.refresh()).body.account).toMatchObject({ email: 'ada@example.com', name: 'Ada', role: 'admin' });
    expect((await ada.refresh()).status).toBe(200);
    const { body } = await ada.call<{ items: { via: string }[] }>('GET', '/api/v1/auth/sessions');
    expect(body.items[0]?.via).toBe('oidc');
    const out = await ada.logOut();
    const end = new URL(out.headers.get('reeve-end-session') ?? '');
    expect([end.origin, end.searchParams.get('post_logout_redirect_uri')]).toEqual([
      provider.url,
      `${gateway.http}/sign-in`,
    ]);
    expect((await ada.call('GET', '/api/v1/auth/me')).status).toBe(401);
  });

  test('has the role and the tenant of the claims, anew at each login', async () => {
    const before = await visitor().enter('ada');
    const { account } = await me(before);
    expect((await before.call('GET', '/api/v1/accounts')).status).toBe(200);
    provider.people.set('ada', { email: 'ada@example.com', groups: ['devs', 'all'] });
    const after = await visitor().enter('ada');
    for (const person of [before, after]) {
      expect(await me(person)).toMatchObject({
        org_id: 'acme',
        team_id: 'core',
        account: { id: account.id, role: 'developer' },
      });
      expect((await person.call('GET', '/api/v1/accounts')).status).toBe(403);
    }
  });

  test('of a tenant sees that tenant alone', async () => {
    await gateway.register({ orgId: 'acme', agentId: 'ours' });
    await gateway.register({ orgId: 'globex', agentId: 'theirs' });
    provider.people.set('vic', { email: 'vic@example.com', groups: ['all'] });
    const vic = await visitor().enter('vic');
    const { body } = await vic.call<{ items: { agent_id: { org_id: string } }[] }>('GET', '/api/v1/agents');
    expect(JSON.stringify(body)).toContain('ours');
    expect(JSON.stringify(body)).not.toContain('theirs');
  });

  test('without a role is refused, and the session from before ends', async () => {
    const ada = await visitor().enter('ada');
    provider.people.set('ada', { email: 'ada@example.com', groups: ['others'] });
    const answer = await visitor().signOn('ada');
    expect([answer.status, await problemOf(answer)]).toEqual([403, 'no_role']);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await ada.call('GET', '/api/v1/auth/me')).status).toBe(401);
  });

  test('with the email of another account is refused, though the provider has verified it', async () => {
    provider.people.set('eve', { email: 'ADA@example.com', email_verified: true, groups: ['the admins'] });
    await visitor().enter('ada');
    const answer = await visitor().signOn('eve');
    expect([answer.status, await problemOf(answer)]).toEqual([409, 'email_taken']);
  });

  test('in a browser sees failures explained by the sign-in page', async () => {
    const person = visitor();
    person.accepts = 'text/html,application/xhtml+xml,*/*;q=0.8';
    provider.people.set('non', { email: 'non@example.com' });
    const answer = await person.signOn('non');
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/sign-in?error=no_role']);
    const bad = await person.start('//evil.example');
    expect(bad.headers.get('location')).toBe('/sign-in?error=sign_on_failed');
  });
});

describe('coming back is refused', () => {
  const finish = (person: Visitor, query: string) => person.visit(`${gateway.http}/api/v1/auth/oidc/callback?${query}`);
  const expectRefused = async (answer: Response) => {
    expect([answer.status, await problemOf(answer)]).toEqual([400, 'sign_on_failed']);
    expect(answer.headers.getSetCookie()).toEqual([]);
  };
  const arrived = async (person: Visitor) => {
    const started = await person.start();
    return person.atProvider(started.headers.get('location') ?? '', 'ada');
  };

  test('to another browser than began, with a cookie of its own or without', async () => {
    const url = await arrived(visitor());
    const victim = visitor();
    await expectRefused(await victim.visit(url));
    await victim.start();
    await expectRefused(await victim.visit(url));
  });

  test('with another state, without one, with a forged cookie, and a second time', async () => {
    const ada = visitor();
    const url = new URL(await arrived(ada));
    const query = url.searchParams;
    await expectRefused(await finish(ada, `code=${query.get('code')}&iss=${query.get('iss')}`));
    await expectRefused(await finish(ada, `${query.toString()}&x=1`.replace(/state=[^&]*/, 'state=other')));
    const jar = ada.cookies.get(gateway.http);
    const good = jar?.get('reeve_oidc') ?? '';
    jar?.set('reeve_oidc', `${good.slice(0, -3)}AAA`);
    await expectRefused(await ada.visit(url.href));
    jar?.set('reeve_oidc', good);
    expect((await ada.visit(url.href)).status).toBe(302);
    jar?.set('reeve_oidc', good);
    await expectRefused(await ada.visit(url.href));
  });

  test('after an error of the provider, from another issuer, or with a code that is none', async () => {
    const ada = visitor();
    const began = async () => new URL((await ada.start()).headers.get('location') ?? '').searchParams.get('state');
    await expectRefused(await finish(ada, `error=access_denied&state=${await began()}&iss=${provider.url}`));
    await expectRefused(await finish(ada, `code=x&state=${await began()}&iss=https://evil.example`));
    await expectRefused(await finish(ada, `code=made-up&state=${await began()}&iss=${provider.url}`));
  });
});

test('the provider is asked once for what it says of itself, and strangers make it no work', async () => {
  await visitor().enter('ada');
  const before = provider.seen.length;
  await Promise.all(Array.from({ length: 20 }, () => visitor().start()));
  await Promise.all(
    Array.from({ length: 20 }, () => fetch(`${gateway.http}/api/v1/auth/oidc/callback?code=a&state=b`)),
  );
  expect(provider.seen.slice(before)).toEqual([]);
  expect(provider.seen.filter((path) => path.includes('well-known'))).toHaveLength(1);
});

test('a provider that is away is said to be, and nobody is logged in', async () => {
  const ada = visitor();
  const started = await ada.start();
  const back = await ada.atProvider(started.headers.get('location') ?? '', 'ada');
  provider.leave();
  const answer = await ada.visit(back);
  expect([answer.status, await problemOf(answer)]).toEqual([503, 'sign_on_unavailable']);
  provider.serve([gateway]);
});

test('an access token lets no command line in without the cookie of its session', async () => {
  const ada = visitor();
  await ada.enter('ada');
  const answer = await ada.call<{ code: string }>('POST', '/api/v1/auth/cli/code', { challenge: 'a'.repeat(64) });
  expect([answer.status, answer.body.code]).toEqual([401, 'session_ended']);
});

test('log, metrics and audit log say what happened, and nothing secret', async () => {
  await visitor().enter('ada');
  const { text } = await gateway.api.get('/metrics');
  expect(text).toMatch(/reeve_sign_ons_total\{outcome="ok"\} [1-9]/);
  expect(text).toMatch(/reeve_sign_ons_total\{outcome="no_role"\} [1-9]/);
  const { text: log } = await gateway.api.get('/api/v1/logs?per_page=1000', bootstrapKey);
  const types = new Set(gateway.audit().map(({ event_type }) => event_type));
  for (const type of ['AccountRegistered', 'AccountChanged', 'LoginSucceeded', 'LoginFailed']) {
    expect(types.has(type), type).toBe(true);
  }
  const { stderr } = gateway.output();
  expect(stderr).toContain('a single sign-on failed at its provider');
  for (const secret of [clientSecret, encodeURIComponent(clientSecret), 'code=', 'eyJ', 'the admins', 'made-up']) {
    expect(stderr + log, secret).not.toContain(secret);
  }
});

describe('reeve accounts create-owner', () => {
  test('works on a store that no gateway uses, again and again', async () => {
    using home = new TestHome();
    const create = ['accounts', 'create-owner', 'olga@example.com', '--data', `${home.path}/data`];
    const first = await home.json<{ account: { id: string; role: string }; token: string }>(create);
    expect(first.account.role).toBe('owner');
    expect(first.token).toMatch(/^rvp_/);
    const second = await home.json<{ account: { id: string }; created: boolean }>(create);
    expect([second.created, second.account.id]).toEqual([false, first.account.id]);
  });

  test('refuses a store in use, no store, two stores, and what is no email', async () => {
    using home = new TestHome();
    const refused = async (...args: string[]) => {
      const { code, stdout, stderr } = await home.run(['accounts', 'create-owner', ...args]);
      expect(stdout).toBe('');
      return `${code} ${stderr}`;
    };
    expect(await refused('olga@example.com', '--data', gateway.folder)).toMatch(/^1 .*in use by another gateway/);
    expect(await refused('olga@example.com')).toMatch(/^2 .*Give --data DIR or --database URL/);
    expect(await refused('olga', '--data', `${home.path}/data`)).toMatch(/^1 .*must be an email address/);
  });
});
