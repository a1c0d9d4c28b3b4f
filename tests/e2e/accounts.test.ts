import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { password, Person, statusesOf } from '../harness/person.ts';
import type { TestStore } from '../harness/stores.ts';
import { durableStores } from '../harness/stores.ts';

/** Tests call far more often than a person would. */
const env = { SVC_RATE_LIMIT_AUTH_PER_MIN: '0' };

describe.each(durableStores)('accounts on $name', ({ open }) => {
  let store: TestStore;
  let gateway: TestGateway;
  beforeAll(async () => {
    store = await open();
    gateway = await store.start({ env });
    const refused = await Promise.all(
      Array.from({ length: 12 }, (_, index) => new Person(gateway).register(`first${index}@example.com`)),
    );
    expect(statusesOf(refused)).toEqual([201, ...Array.from({ length: 11 }, () => 403)]);
    const owner = refused.find(({ status }) => status === 201)?.body.account;
    expect(owner).toMatchObject({ role: 'owner', status: 'active' });
    ownerEmail = owner?.email ?? '';
  });
  afterAll(() => store[Symbol.asyncDispose]());
  let ownerEmail = '';

  const someone = () => new Person(gateway);
  let strangers = 0;
  const unknownEmail = () => `stranger${++strangers}@example.com`;

  test('methods name the password', async () => {
    expect((await gateway.api.get('/api/v1/auth/methods')).body).toEqual({ methods: ['api_key', 'password'] });
  });

  test('the first of concurrent registrations is the owner, and then registration is closed', async () => {
    const { status, body } = await someone().register('late@example.com');
    expect([status, body.code]).toEqual([403, 'registration_closed']);
  });

  test('a login answers with a token of 15 minutes, the account and a cookie', async () => {
    const { status, body, headers } = await someone().logIn(ownerEmail);
    expect(status).toBe(200);
    expect(body.expires_in).toBe(900);
    expect(Object.keys(body.account).toSorted()).toEqual(['created_at', 'email', 'id', 'name', 'role', 'status']);
    const claims = decodeJwt(body.access_token);
    expect(claims).toMatchObject({
      kind: 'account',
      sub: body.account.id,
      role: 'owner',
      scope: ['read', 'write', 'admin'],
    });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(900);
    expect(headers.get('set-cookie')).toMatch(
      /^reeve_refresh=[^;]+; Path=\/api\/v1\/auth; HttpOnly; Secure; SameSite=Strict; Max-Age=43200$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('remember_me makes it thirty days', async () => {
    const { headers } = await someone().logIn(ownerEmail, { remember_me: true });
    expect(headers.get('set-cookie')).toContain('Max-Age=2592000');
  });

  test('an email is the same in any case', async () => {
    expect((await someone().logIn(ownerEmail.toUpperCase())).status).toBe(200);
  });

  test('an unknown email and a wrong password answer the same, to the byte', async () => {
    const known = await someone().logIn(ownerEmail, { password: 'not the password' });
    const unknown = await someone().logIn(unknownEmail(), { password: 'not the password' });
    expect(known.status).toBe(401);
    expect(unknown.text).toBe(known.text);
    expect(namesOf(unknown.headers)).toEqual(namesOf(known.headers));
    expect((await someone().logIn(ownerEmail)).status).toBe(200);
  });

  test.each(['unknown', 'known'])(
    'after five failures an %s email is locked, for the right password, too',
    async (kind) => {
      const email = kind === 'unknown' ? unknownEmail() : await memberOf(gateway, ownerEmail);
      const statuses: number[] = [];
      for (let attempt = 0; attempt < 7; attempt++) {
        statuses.push((await someone().logIn(email, { password: 'not the password' })).status);
      }
      expect(statuses).toEqual([401, 401, 401, 401, 401, 423, 423]);
      const locked = await someone().logIn(email);
      expect([locked.status, locked.body.code]).toEqual([423, 'account_locked']);
      expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(890);
      expect(Number(locked.headers.get('retry-after'))).toBeLessThanOrEqual(900);
    },
  );

  test('of fifty wrong logins at once five are 401 and the rest 423', async () => {
    const email = unknownEmail();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => someone().logIn(email, { password: 'not the password' })),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 423)).toHaveLength(45);
  });

  test.each([
    [11, 422],
    [12, 403],
    [256, 403],
    [257, 422],
  ])(
    'a password of %i characters, in emoji, is answered %i before registration is found closed',
    async (length, status) => {
      const emoji = Array.from({ length }, (_, index) => String.fromCodePoint(0x1f600 + ((index * 7) % 64))).join('');
      const answer = await someone().register('late@example.com', { password: emoji });
      expect(answer.status).toBe(status);
      if (status === 422) expect(answer.body.code).toBe('weak_password');
    },
  );

  test.each(['', 'nobody', 'a b@example.com', `${'x'.repeat(300)}@example.com`])(
    '%j is not an email: 422',
    async (email) => {
      for (const answer of [await someone().register(email), await someone().logIn(email)]) {
        expect([answer.status, answer.body.code]).toEqual([422, 'validation_failed']);
        expect(answer.body.errors?.[0]?.pointer).toBe('/email');
      }
    },
  );

  test.each([
    {},
    { email: 'a@example.com' },
    { email: 1, password },
    { email: 'a@example.com', password, admin: true },
  ])('the body %j is a 422', async (body) => {
    expect((await someone().post('login', body)).status).toBe(422);
    expect((await someone().post('register', body)).status).toBe(422);
  });

  test('me tells an account and an API key who they are', async () => {
    const owner = someone();
    const { body } = await owner.logIn(ownerEmail);
    expect((await owner.call('GET', '/api/v1/auth/me')).body).toEqual({
      kind: 'account',
      scopes: ['read', 'write', 'admin'],
      org_id: null,
      team_id: null,
      account: body.account,
    });
    expect((await gateway.api.get('/api/v1/auth/me', bootstrapKey)).body).toMatchObject({ kind: 'api_key' });
  });

  test('the token of an account works on every gate that its role opens', async () => {
    const owner = someone();
    await owner.logIn(ownerEmail);
    for (const path of ['/api/v1/logs', '/api/v1/topology/overview', '/api/v1/iam/api-keys', '/api/v1/accounts']) {
      expect((await owner.call('GET', path)).status, path).toBe(200);
    }
    expect((await owner.call('POST', '/api/v1/auth/token')).status).toBe(401);
  });

  test.each([
    ['a page of another origin', { origin: 'https://evil.example' }, 403],
    ['a page of the null origin', { origin: 'null' }, 403],
    ['another site, without an origin', { 'sec-fetch-site': 'cross-site' }, 403],
    ['another port of the same site', { 'sec-fetch-site': 'same-site' }, 403],
    ['the dashboard itself', { 'sec-fetch-site': 'same-origin' }, 200],
    ['no browser', {}, 200],
  ])('a refresh by %s is answered as it should be', async (_who, headers: Record<string, string>, status) => {
    const owner = someone();
    await owner.logIn(ownerEmail);
    expect((await owner.refresh(headers)).status).toBe(status);
    expect((await someone().post('login', { email: ownerEmail, password }, headers)).status).toBe(status);
  });

  test('the dashboard’s own origin may call', async () => {
    const owner = someone();
    await owner.logIn(ownerEmail);
    expect((await owner.refresh({ origin: gateway.http })).status).toBe(200);
  });

  test('no password and no token is in the log or in what the gateway prints', async () => {
    const owner = someone();
    const { body } = await owner.logIn(ownerEmail);
    const { text } = await gateway.api.get('/api/v1/logs/export', bootstrapKey);
    const { stdout, stderr } = gateway.output();
    for (const secret of [password, owner.cookie ?? '', body.access_token, 'not the password', 'argon2']) {
      expect(`${text}${stdout}${stderr}`.includes(secret)).toBe(false);
    }
    const types = new Set(text.match(/(?<="event_type":")\w+/g));
    for (const type of ['AccountRegistered', 'LoginSucceeded', 'LoginFailed', 'AccountLocked']) {
      expect(types).toContain(type);
    }
    expect(text.includes('"address":"127.0.0.1"')).toBe(true);
  });
});

describe('without an account store', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await TestGateway.start({ env: { SVC_DATABASE_URL: 'memory:' } });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test('methods are exactly the API key', async () => {
    expect((await gateway.api.get('/api/v1/auth/methods')).body).toEqual({ methods: ['api_key'] });
  });

  test.each([
    'POST /api/v1/auth/login',
    'POST /api/v1/auth/register',
    'POST /api/v1/auth/invite',
    'POST /api/v1/auth/invite/accept',
    'POST /api/v1/auth/refresh',
    'POST /api/v1/auth/logout',
    'POST /api/v1/auth/password/reset',
    'POST /api/v1/auth/password/reset/confirm',
    'POST /api/v1/auth/password',
    'GET /api/v1/auth/sessions',
    'DELETE /api/v1/auth/sessions/x',
    'GET /api/v1/auth/invites',
    'GET /api/v1/accounts',
    'PATCH /api/v1/accounts/x',
  ])('%s is a 503 before anything else', async (route) => {
    const [method = '', path = ''] = route.split(' ');
    const foreign = { origin: 'https://evil.example', 'content-type': 'application/json' };
    const bodies = method === 'GET' ? [{}] : [{}, { body: '{', headers: foreign }, { bearer: bootstrapKey, json: {} }];
    for (const request of bodies) {
      const answer = await gateway.api.send<{ code: string }>(method, path, request);
      expect([answer.status, answer.body.code]).toEqual([503, 'accounts_unavailable']);
    }
  });

  test('me and ws-ticket work', async () => {
    expect((await gateway.api.get('/api/v1/auth/me', bootstrapKey)).status).toBe(200);
    expect((await gateway.api.post('/api/v1/auth/ws-ticket', bootstrapKey)).status).toBe(201);
  });
});

describe('open registration', () => {
  test.each(['1', 'true', 'YES'])('is on with %s: developers, and an email is taken once', async (value) => {
    await using gateway = await TestGateway.start({ env: { ...env, SVC_AUTH_OPEN_REGISTRATION: value } });
    expect(await registrationOf(gateway)).toBe('first');
    await new Person(gateway).register('owner@example.com');
    expect(await registrationOf(gateway)).toBe('open');
    const { status, body } = await new Person(gateway).register('dev@example.com', { name: ' Dev ' });
    expect([status, body.account.role, body.account.name]).toEqual([201, 'developer', 'Dev']);
    const again = await new Person(gateway).register('DEV@example.com');
    expect([again.status, again.body.code]).toEqual([409, 'email_taken']);
  });

  test.each(['on', '2', ''])('stays off with %j', async (value) => {
    await using gateway = await TestGateway.start({ env: { ...env, SVC_AUTH_OPEN_REGISTRATION: value } });
    await new Person(gateway).register('owner@example.com');
    expect(await registrationOf(gateway)).toBe('closed');
    expect((await new Person(gateway).register('dev@example.com')).status).toBe(403);
  });
});

test('logins are limited per address', async () => {
  await using gateway = await TestGateway.start({ env: { SVC_RATE_LIMIT_AUTH_PER_MIN: '3' } });
  const statuses: number[] = [];
  for (let call = 0; call < 5; call++) statuses.push((await new Person(gateway).logIn(`p${call}@example.com`)).status);
  expect(statuses).toEqual([401, 401, 401, 429, 429]);
});

/** The header for the sign-in page: whether to ask for the first account. */
async function registrationOf(gateway: TestGateway): Promise<string | null> {
  return (await gateway.api.get('/api/v1/auth/methods')).headers.get('reeve-registration');
}

async function memberOf(gateway: TestGateway, _owner: string): Promise<string> {
  const email = `member${Date.now()}@example.com`;
  const { body } = await gateway.api.post<{ token: string }>('/api/v1/auth/invite', bootstrapKey, { email });
  expect((await new Person(gateway).accept(body.token)).status).toBe(201);
  return email;
}

function namesOf(headers: Headers): string[] {
  return [...headers.keys()].toSorted();
}
