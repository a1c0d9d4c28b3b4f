import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { databaseOf } from '../harness/databases.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { sharedNats } from '../harness/nats.ts';
import { password } from '../harness/person.ts';
import { SignOnProvider } from '../harness/sign-on-provider.ts';
import type { TestStore } from '../harness/stores.ts';
import { postgresStore } from '../harness/stores.ts';
import { Visitor } from '../harness/visitor.ts';

const publicUrl = 'https://reeve.example.com';

let provider: SignOnProvider;
let store: TestStore;
let one: TestGateway;
let two: TestGateway;

beforeAll(async () => {
  provider = await SignOnProvider.start();
  store = await postgresStore.open();
  const env = {
    ...provider.env,
    SVC_PUBLIC_URL: publicUrl,
    SVC_NATS_URL: (await sharedNats()).url(),
    SVC_OIDC_ROLES: 'admins=admin',
    SVC_OIDC_DEFAULT_ROLE: 'viewer@acme',
    SVC_OIDC_LINK_BY_EMAIL: 'true',
    SVC_AUTH_PASSWORD: 'off',
  };
  [one, two] = await Promise.all([store.start({ env }), store.start({ env })]);
  provider.serve([{ http: publicUrl }], { claimsInToken: true, clientAuth: 'client_secret_post' });
});
afterAll(async () => {
  await store[Symbol.asyncDispose]();
  await provider.close();
});

/** Begins at one gateway and comes back to the other, as a load balancer may have it. */
async function signOn(name: string): Promise<Visitor> {
  const [here, there] = [new Visitor(one, provider), new Visitor(two, provider)];
  const started = await here.start('/ops');
  expect(started.headers.getSetCookie()[0]).toContain('; Secure; SameSite=Lax;');
  const back = await here.atProvider(started.headers.get('location') ?? '', name);
  expect(back.startsWith(`${publicUrl}/api/v1/auth/oidc/callback?`)).toBe(true);
  there.cookies.set(two.http, here.cookies.get(one.http) ?? new Map());
  const answer = await there.visit(`${two.http}${back.slice(publicUrl.length)}`);
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/ops']);
  await there.refresh();
  return there;
}

test('a sign-on that begins at one gateway ends at another, and the session works at both', async () => {
  provider.people.set('ada', { email: 'ada@example.com', email_verified: true, name: 'Ada', groups: ['admins'] });
  provider.people.set('bob', { email: 'bob@example.com' });
  const ada = await signOn('ada');
  for (const gateway of [one, two]) {
    const me = await gateway.api.get<{ account: { role: string } }>('/api/v1/auth/me', ada.accessToken);
    expect([me.status, me.body.account.role]).toEqual([200, 'admin']);
  }
  // The ID token had all that was asked for.
  expect(provider.seen).not.toContain('/me');
  const bob = await signOn('bob');
  expect((await bob.call<{ org_id: string }>('GET', '/api/v1/auth/me')).body.org_id).toBe('acme');
  expect(provider.seen).toContain('/me');
});

describe('where passwords are off', () => {
  test('no way in by a password is left', async () => {
    const { body } = await one.api.get<{ methods: string[] }>('/api/v1/auth/methods');
    expect(body.methods).toEqual(['api_key', 'oidc']);
    const email = 'olga@example.com';
    const calls: [string, object][] = [
      ['register', { email, password }],
      ['login', { email, password }],
      ['invite', { email }],
      ['invite/accept', { token: 'rvi_x', password }],
      ['password/reset', { email }],
      ['password/reset/confirm', { token: 'rvp_x', password }],
    ];
    for (const [route, json] of calls) {
      const answer = await one.api.post<{ code: string }>(`/api/v1/auth/${route}`, bootstrapKey, json);
      expect([route, answer.status, answer.body.code]).toEqual([route, 403, 'password_off']);
    }
  });

  test('an owner can be made on the machine beside running gateways, and comes in by single sign-on', async () => {
    using home = new TestHome();
    const url = databaseOf(one.folder) ?? '';
    const create = ['accounts', 'create-owner', 'olga@example.com'];
    const made = await home.json<{ account: { id: string }; created: boolean }>([...create, '--database', url]);
    expect(made.created).toBe(true);
    const again = await home.run(create, { env: { SVC_DATABASE_URL: url } });
    expect([again.code, again.stderr]).toEqual([0, '']);
    expect(again.stdout).toMatch(/is an owner now; .*\/reset#token=rvp_/s);
    type Listed = { items: { id: string; role: string; status: string }[] };
    const { body } = await two.api.get<Listed>('/api/v1/accounts', bootstrapKey);
    expect(body.items.find(({ id }) => id === made.account.id)).toMatchObject({ role: 'owner', status: 'active' });
    provider.people.set('olga', { email: 'olga@example.com', email_verified: true, groups: ['admins'] });
    const olga = await signOn('olga');
    type Me = { account: { id: string; role: string } };
    const { account } = (await olga.call<Me>('GET', '/api/v1/auth/me')).body;
    expect([account.id, account.role]).toEqual([made.account.id, 'admin']);
  });
});
