import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CreatedKey } from '../harness/credentials.ts';
import { beginBeforeItEnds, makeKey, registerAs, tokenOf } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import { EventSocket } from '../harness/event-socket.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { password, Person } from '../harness/person.ts';
import type { TestStore } from '../harness/stores.ts';
import { durableStores } from '../harness/stores.ts';

const env = { SVC_RATE_LIMIT_AUTH_PER_MIN: '0' };

describe.each(durableStores)('who may do what to accounts and keys on $name', ({ open }) => {
  let store: TestStore;
  let gateway: TestGateway;
  let owner: Person;
  beforeAll(async () => {
    store = await open();
    gateway = await store.start({ env });
    owner = new Person(gateway);
    expect((await owner.register('owner@example.com')).status).toBe(201);
  });
  afterAll(() => store[Symbol.asyncDispose]());

  let people = 0;
  async function member(role: string): Promise<{ person: Person; id: string; email: string }> {
    const email = `${role}${++people}@example.com`;
    const { body } = await owner.call<{ token: string }>('POST', '/api/v1/auth/invite', { email, role });
    const person = new Person(gateway);
    return { person, id: (await person.accept(body.token)).body.account.id, email };
  }
  const setStatus = async (id: string, status: string) => {
    expect((await owner.call('PATCH', `/api/v1/accounts/${id}`, { status })).status).toBe(200);
  };
  const invite = (by: Person, email: string, role = 'viewer') =>
    by.call<{ token: string; code: string }>('POST', '/api/v1/auth/invite', { email, role });

  test('an admin does not take over the account of a disabled owner by inviting its address', async () => {
    const boss = await member('owner');
    const admin = await member('admin');
    await setStatus(boss.id, 'disabled');
    for (const role of ['viewer', 'admin']) {
      expect(await invite(admin.person, boss.email.toUpperCase(), role)).toMatchObject({
        status: 403,
        body: { code: 'owner_required' },
      });
      const byKey = await gateway.api.post('/api/v1/auth/invite', bootstrapKey, { email: boss.email, role });
      expect(byKey).toMatchObject({ status: 403, body: { code: 'owner_required' } });
    }
    const made = await invite(owner, boss.email, 'developer');
    expect((await new Person(gateway).accept(made.body.token)).body.account).toMatchObject({
      id: boss.id,
      role: 'developer',
    });
  });

  test('nor where the account has become an owner between the invite and its acceptance', async () => {
    const later = await member('developer');
    const admin = await member('admin');
    await setStatus(later.id, 'disabled');
    const made = await invite(admin.person, later.email, 'developer');
    expect(made.status).toBe(201);
    await owner.call('PATCH', `/api/v1/accounts/${later.id}`, { role: 'owner' });
    expect(await new Person(gateway).accept(made.body.token)).toMatchObject({
      status: 422,
      body: { code: 'invalid_token' },
    });
  });

  test('what an account made stops while it is disabled, and goes on when it is active again', async () => {
    const admin = await member('admin');
    const bearer = admin.person.accessToken ?? '';
    const mother = (await makeKey(gateway, { scopes: ['admin'] }, bearer)).key;
    const daughter = (await makeKey(gateway, { scopes: ['admin'] }, mother)).key;
    const rotated = await gateway.api.post<CreatedKey>(
      `/api/v1/iam/api-keys/${(await makeKey(gateway, { scopes: ['write'] }, daughter)).id}/rotate`,
      bootstrapKey,
    );
    const granddaughter = rotated.body.key;
    const token = await tokenOf(gateway, daughter);
    const other = (await makeKey(gateway, { scopes: ['admin'] })).key;
    const invites = [
      await invite(admin.person, 'one@example.com'),
      await gateway.api.post<{ token: string }>('/api/v1/auth/invite', daughter, { email: 'two@example.com' }),
    ];
    const credentials = [mother, daughter, granddaughter, token];
    const sockets = await Promise.all(credentials.map((each) => EventSocket.open(gateway.http, { bearer: each })));
    const untouched = await EventSocket.open(gateway.http, { bearer: other });
    const register = (each: string) => registerAs(gateway, each, { agentId: 'by-key' });
    for (const each of credentials) expect((await gateway.api.get('/api/v1/auth/me', each)).status).toBe(200);

    await setStatus(admin.id, 'disabled');
    for (const each of credentials) {
      expect(await gateway.api.get('/api/v1/auth/me', each)).toMatchObject({
        status: 401,
        body: { code: 'unauthenticated' },
      });
      await expect(register(each)).rejects.toMatchObject({ code: 16 });
    }
    for (const socket of sockets) expect((await socket.closed).code).toBe(4401);
    expect(await gateway.api.post('/api/v1/auth/token', mother)).toMatchObject({ status: 401 });
    for (const { body } of invites) {
      expect(await new Person(gateway).accept(body.token)).toMatchObject({
        status: 422,
        body: { code: 'invalid_token' },
      });
    }
    expect((await gateway.api.get('/api/v1/auth/me', other)).status).toBe(200);
    expect(untouched.socket.readyState).toBe(untouched.socket.OPEN);
    untouched.socket.close();

    await setStatus(admin.id, 'active');
    for (const each of credentials) {
      expect((await gateway.api.get('/api/v1/auth/me', each)).status).toBe(200);
      await register(each);
    }
    for (const { body } of invites) expect((await new Person(gateway).accept(body.token)).status).toBe(201);
  });

  test('who is no admin any more is none by a key or an invite either', async () => {
    const admin = await member('admin');
    const gone = await member('developer');
    await setStatus(gone.id, 'disabled');
    const mother = (await makeKey(gateway, { scopes: ['admin'] }, admin.person.accessToken ?? '')).key;
    const daughter = (await makeKey(gateway, { scopes: ['admin'] }, mother)).key;
    const token = await tokenOf(gateway, daughter);
    const invites = [
      await invite(admin.person, `new${admin.email}`, 'admin'),
      await invite(admin.person, gone.email, 'admin'),
      await gateway.api.post<{ token: string }>('/api/v1/auth/invite', daughter, {
        email: `newer${admin.email}`,
        role: 'admin',
      }),
    ];
    expect(invites.map(({ status }) => status)).toEqual([201, 201, 201]);
    const setRole = (role: string) => owner.call('PATCH', `/api/v1/accounts/${admin.id}`, { role });

    expect((await setRole('viewer')).status).toBe(200);
    for (const bearer of [mother, daughter, token]) {
      const raise = await gateway.api.send('PATCH', `/api/v1/accounts/${admin.id}`, {
        bearer,
        json: { role: 'admin' },
      });
      expect(raise).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
      expect((await gateway.api.get('/api/v1/agents', bearer)).status).toBe(200);
    }
    for (const { body } of invites) {
      expect(await new Person(gateway).accept(body.token)).toMatchObject({ body: { code: 'invalid_token' } });
    }

    expect((await setRole('admin')).status).toBe(200);
    expect((await gateway.api.get('/api/v1/accounts', daughter)).status).toBe(200);
    for (const { body } of invites) expect((await new Person(gateway).accept(body.token)).status).toBe(201);
  });

  test('an invite ends with the key that it was made with, and goes on where that was rotated', async () => {
    const inviteBy = (bearer: string, email: string) =>
      gateway.api.post<{ token: string }>('/api/v1/auth/invite', bearer, { email, role: 'admin' });
    const revoked = await makeKey(gateway, { scopes: ['admin'] });
    const rotated = await makeKey(gateway, { scopes: ['admin'] });
    const byRevoked = await inviteBy(revoked.key, 'revoked@example.com');
    const byRotated = await inviteBy(rotated.key, 'rotated@example.com');
    const { expiring, byExpiring } = await beginBeforeItEnds(async (ttlSecs) => {
      const key = await makeKey(gateway, { scopes: ['admin'], ttl_secs: ttlSecs });
      const invite = await inviteBy(key.key, `expiring-${ttlSecs}@example.com`);
      expect(invite.status).toBe(201);
      return { expiring: key, byExpiring: invite };
    });
    const ended = await gateway.api.post(`/api/v1/iam/api-keys/${revoked.id}/revoke`, bootstrapKey);
    expect(ended.status).toBe(200);
    expect((await gateway.api.post(`/api/v1/iam/api-keys/${rotated.id}/rotate`, bootstrapKey)).status).toBe(201);
    await eventually(async () => expect((await gateway.api.get('/api/v1/auth/me', expiring.key)).status).toBe(401));
    for (const { body } of [byRevoked, byExpiring]) {
      expect(await new Person(gateway).accept(body.token)).toMatchObject({ body: { code: 'invalid_token' } });
    }
    expect((await new Person(gateway).accept(byRotated.body.token)).status).toBe(201);
  });

  test('what is made or rotated with a key that expires ends with it', async () => {
    const hour = await makeKey(gateway, { scopes: ['admin'], org_id: 'acme', ttl_secs: 3600 });
    for (const ttl of [{}, { ttl_secs: 7200 }]) {
      const made = await makeKey(gateway, { scopes: ['admin'], ...ttl }, hour.key);
      expect(made).toMatchObject({ expires_at: hour.expires_at, org_id: 'acme' });
    }
    const rotated = await gateway.api.post<CreatedKey>(`/api/v1/iam/api-keys/${hour.id}/rotate`, hour.key);
    expect(rotated.body.expires_at).toBe(hour.expires_at);
    const wider = await gateway.api.post('/api/v1/iam/api-keys', rotated.body.key, {
      label: 'wider',
      scopes: ['admin'],
      org_id: 'globex',
    });
    expect(wider).toMatchObject({ status: 403, body: { code: 'tenant_bound' } });
    const again = await gateway.api.post<CreatedKey>(`/api/v1/iam/api-keys/${rotated.body.id}/rotate`, bootstrapKey);
    expect(again.body.expires_at).not.toBeNull();
  });

  test('a wrong current password counts towards the lock, and the lock holds everywhere', async () => {
    const { person, email } = await member('viewer');
    const change = (current: string) =>
      person.call('POST', '/api/v1/auth/password', { current_password: current, password: 'nine loud lanterns' });
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(await change('not the password')).toMatchObject({ status: 403, body: { code: 'wrong_password' } });
    }
    const locked = await change(password);
    expect(locked).toMatchObject({ status: 423, body: { code: 'account_locked' } });
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await new Person(gateway).logIn(email)).toMatchObject({ status: 423 });
  });
});
