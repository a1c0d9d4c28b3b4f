import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { EventSocket } from '../harness/event-socket.ts';
import { eventually } from '../harness/eventually.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { sharedNats } from '../harness/nats.ts';
import { Person, statusesOf } from '../harness/person.ts';
import type { TestStore } from '../harness/stores.ts';
import { postgresStore } from '../harness/stores.ts';

let store: TestStore;
let one: TestGateway;
let two: TestGateway;
beforeAll(async () => {
  store = await postgresStore.open();
  const env = { SVC_RATE_LIMIT_AUTH_PER_MIN: '0', SVC_NATS_URL: (await sharedNats()).url() };
  [one, two] = await Promise.all([store.start({ env }), store.start({ env })]);
});
afterAll(() => store[Symbol.asyncDispose]());

const either = (index: number) => (index % 2 === 0 ? one : two);

test('the first of registrations at both gateways at once is the one owner', async () => {
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, index) => new Person(either(index)).register(`first${index}@example.com`)),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 403)).toHaveLength(15);
});

test('failures at both count together: five of fifty at once are 401', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      new Person(either(index)).logIn('nobody@example.com', { password: 'not the password' }),
    ),
  );
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
  expect(answers.filter(({ status }) => status === 423)).toHaveLength(45);
});

test('a session of one works at the other, rotates there once, and ends in both at once', async () => {
  const { body } = await one.api.post<{ token: string }>('/api/v1/auth/invite', bootstrapKey, {
    email: 'm@example.com',
  });
  const here = new Person(one);
  expect((await here.accept(body.token)).status).toBe(201);
  const there = new Person(two);
  there.accessToken = here.accessToken;
  there.cookie = here.cookie;
  expect((await there.call('GET', '/api/v1/auth/me')).status).toBe(200);
  const racing = await Promise.all([here.refresh(), there.refresh()]);
  expect(statusesOf(racing)).toEqual([200, 401]);
  expect(racing.find(({ status }) => status === 401)?.body.code).toBe('refresh_raced');
  const winner = racing[0]?.status === 200 ? here : there;
  await winner.logOut();
  for (const person of [here, there]) expect((await person.call('GET', '/api/v1/auth/me')).status).toBe(401);
});

test('an invite of a bound admin is worth nothing at the other once its maker is lowered or its key revoked', async () => {
  const invite = async (bearer: string, members: object) =>
    (await one.api.post<{ token: string }>('/api/v1/auth/invite', bearer, members)).body.token;
  const admin = new Person(one);
  const grant = await admin.accept(
    await invite(bootstrapKey, { email: 'org@example.com', role: 'admin', org_id: 'acme' }),
  );
  const key = await makeKey(one, { scopes: ['admin'], org_id: 'acme' });
  const byPerson = await invite(admin.accessToken ?? '', { email: 'p@example.com' });
  const byKey = await invite(key.key, { email: 'k@example.com' });
  const lowered = await one.api.send('PATCH', `/api/v1/accounts/${grant.body.account.id}`, {
    bearer: bootstrapKey,
    json: { role: 'viewer' },
  });
  expect(lowered.status).toBe(200);
  const revoked = await one.api.post(`/api/v1/iam/api-keys/${key.id}/revoke`, bootstrapKey);
  expect(revoked.status).toBe(200);
  for (const token of [byPerson, byKey]) {
    const refused = await new Person(two).accept(token);
    expect([refused.status, refused.body.code]).toEqual([422, 'invalid_token']);
  }
});

test('the keys of an account that is disabled at one stop at the other at once', async () => {
  const { body } = await one.api.post<{ token: string }>('/api/v1/auth/invite', bootstrapKey, {
    email: 'leaves@example.com',
    role: 'admin',
  });
  const leaver = new Person(one);
  const { id } = (await leaver.accept(body.token)).body.account;
  const mother = (await makeKey(one, { scopes: ['admin'] }, leaver.accessToken)).key;
  const daughter = (await makeKey(one, { scopes: ['read'] }, mother)).key;
  await eventually(async () => expect((await two.api.get('/api/v1/auth/me', daughter)).status).toBe(200));
  const socket = await EventSocket.open(two.http, { bearer: daughter });
  const set = (status: string) =>
    one.api.send('PATCH', `/api/v1/accounts/${id}`, { bearer: bootstrapKey, json: { status } });
  expect((await set('disabled')).status).toBe(200);
  for (const key of [mother, daughter]) expect((await two.api.get('/api/v1/auth/me', key)).status).toBe(401);
  expect((await socket.closed).code).toBe(4401);
  await set('active');
  for (const key of [mother, daughter]) expect((await two.api.get('/api/v1/auth/me', key)).status).toBe(200);
});
