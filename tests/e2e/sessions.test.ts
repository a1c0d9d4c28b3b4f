import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { password, Person, statusesOf } from '../harness/person.ts';
import type { TestStore } from '../harness/stores.ts';
import { durableStores, sqliteStore } from '../harness/stores.ts';

interface Sessions {
  readonly items: readonly { readonly id: string; readonly current: boolean; readonly remember_me: boolean }[];
  readonly total: number;
}

const env = { SVC_RATE_LIMIT_AUTH_PER_MIN: '0' };
const racingMs = 10_000;

describe.each(durableStores)('sessions on $name', ({ open }) => {
  let store: TestStore;
  let gateway: TestGateway;
  beforeAll(async () => {
    store = await open();
    gateway = await store.start({ env });
    await new Person(gateway).register('owner@example.com');
  });
  afterAll(() => store[Symbol.asyncDispose]());

  async function loggedIn(members: object = {}): Promise<Person> {
    const person = new Person(gateway);
    expect((await person.logIn('owner@example.com', members)).status).toBe(200);
    return person;
  }
  const works = async (person: Person) => (await person.call('GET', '/api/v1/auth/me')).status === 200;
  const sidOf = (person: Person) => decodeJwt(person.accessToken ?? '')['sid'];

  test('a refresh rotates the cookie, keeps the session and gives a working token', async () => {
    const person = await loggedIn({ remember_me: true });
    const { cookie } = person;
    const sid = sidOf(person);
    const { status, body, headers } = await person.refresh();
    expect([status, body.expires_in]).toEqual([200, 900]);
    expect(headers.get('set-cookie')).toContain('Max-Age=2592000');
    expect(person.cookie).not.toBe(cookie);
    expect(sidOf(person)).toBe(sid);
    expect(await works(person)).toBe(true);
  });

  test('the second of two refreshes with one token is raced: 401, no cookie, and nobody is logged out', async () => {
    const person = await loggedIn();
    const used = person.cookie;
    const answers = await Promise.all(Array.from({ length: 5 }, () => sent(used)));
    expect(statusesOf(answers)).toEqual([200, 401, 401, 401, 401]);
    for (const { status, body, headers } of answers) {
      if (status === 200) continue;
      expect(body.code).toBe('refresh_raced');
      expect(headers.get('set-cookie')).toBeNull();
    }
    expect(await works(person)).toBe(true);
  });

  test('a used token that comes back later ends the family, its access tokens at once, and is on record', async () => {
    const person = await loggedIn();
    const stolen = person.cookie;
    await person.refresh();
    await new Promise((resolve) => setTimeout(resolve, racingMs + 500));
    const reused = await sent(stolen);
    expect([reused.status, reused.body.code]).toEqual([401, 'session_ended']);
    expect(await works(person)).toBe(false);
    expect((await person.refresh()).status).toBe(401);
    expect(person.cookie).toBeUndefined();
    const logs = await gateway.api.get<{ items: { payload: { session_id: string } }[] }>(
      '/api/v1/logs?event_type=RefreshTokenReused',
      bootstrapKey,
    );
    expect(logs.body.items[0]?.payload.session_id).toBe(sidOf(person));
  });

  test('logging out ends the session, clears the cookie, and works without a session, too', async () => {
    const person = await loggedIn();
    const { status, headers, text } = await person.logOut();
    expect([status, text]).toEqual([204, '']);
    expect(headers.get('set-cookie')).toBe(
      'reeve_refresh=; Path=/api/v1/auth; HttpOnly; Secure; SameSite=Strict; Max-Age=0',
    );
    expect(await works(person)).toBe(false);
    expect((await new Person(gateway).logOut()).status).toBe(204);
  });

  test('sessions are listed and ended one by one; those of others do not exist', async () => {
    await using fresh = await open();
    const other = await fresh.start({ env: { ...env, SVC_AUTH_OPEN_REGISTRATION: 'true' } });
    const [one, two, stranger] = [new Person(other), new Person(other), new Person(other)];
    await one.register('one@example.com');
    await two.logIn('one@example.com', { remember_me: true });
    await stranger.register('stranger@example.com');
    const { body } = await two.call<Sessions>('GET', '/api/v1/auth/sessions');
    expect(body.items.map(({ current, remember_me }) => [current, remember_me])).toEqual([
      [true, true],
      [false, false],
    ]);
    expect(body.items.map(({ id }) => id)).toEqual([sidOf(two), sidOf(one)]);
    const path = `/api/v1/auth/sessions/${String(sidOf(one))}`;
    expect((await stranger.call('DELETE', path)).status).toBe(404);
    expect((await two.call('DELETE', path)).status).toBe(204);
    expect((await two.call('DELETE', path)).status).toBe(404);
    expect((await one.call('GET', '/api/v1/auth/me')).status).toBe(401);
    expect((await two.call<Sessions>('GET', '/api/v1/auth/sessions')).body.total).toBe(1);
  });

  test('an API key has no sessions and no password: 403', async () => {
    for (const [method, path, json] of [
      ['GET', '/api/v1/auth/sessions'],
      ['DELETE', '/api/v1/auth/sessions/x'],
      ['POST', '/api/v1/auth/password', { current_password: password, password }],
    ] as const) {
      const answer = await gateway.api.send<{ code: string }>(method, path, {
        bearer: bootstrapKey,
        ...(json === undefined ? {} : { json }),
      });
      expect([answer.status, answer.body.code]).toEqual([403, 'account_required']);
    }
  });

  test('a change of the password ends every session; a wrong current one changes nothing', async () => {
    await using fresh = await open();
    const other = await fresh.start({ env });
    const [one, two] = [new Person(other), new Person(other)];
    await one.register('one@example.com');
    await two.logIn('one@example.com');
    const change = (current_password: string, next: string) =>
      two.call('POST', '/api/v1/auth/password', { current_password, password: next });
    expect((await change('not the password', 'another quiet lamp')).body.code).toBe('wrong_password');
    expect((await change(password, 'short')).body.code).toBe('weak_password');
    expect((await change(password, 'another quiet lamp')).status).toBe(204);
    for (const person of [one, two]) {
      expect((await person.call('GET', '/api/v1/auth/me')).status).toBe(401);
      expect((await person.refresh()).status).toBe(401);
    }
    expect((await new Person(other).logIn('one@example.com')).status).toBe(401);
    expect((await new Person(other).logIn('one@example.com', { password: 'another quiet lamp' })).status).toBe(200);
  });

  test.each(['', 'x', 'rvr_0000', 'x'.repeat(5000)])('the cookie %j opens nothing', async (cookie) => {
    const { status, body } = await sent(cookie);
    expect([status, body.code]).toEqual([401, 'session_ended']);
  });

  test('sessions survive kill -9, and so does what was ended', async () => {
    await using fresh = await open();
    const before = await fresh.start({ env });
    const [stays, leaves] = [new Person(before), new Person(before)];
    await stays.register('one@example.com');
    await leaves.logIn('one@example.com');
    await leaves.logOut();
    await before.kill();
    const after = await fresh.start({ env });
    const again = new Person(after);
    again.accessToken = stays.accessToken;
    again.cookie = stays.cookie;
    expect((await again.call('GET', '/api/v1/auth/me')).status).toBe(200);
    expect((await again.refresh()).status).toBe(200);
    again.accessToken = leaves.accessToken;
    expect((await again.call('GET', '/api/v1/auth/me')).status).toBe(401);
  });

  async function sent(cookie: string | undefined) {
    const person = new Person(gateway);
    person.cookie = cookie;
    return person.refresh();
  }
});

test('times to live are settings: a session ends when it is not refreshed in time', async () => {
  await using store = await sqliteStore.open();
  const gateway = await store.start({ env: { ...env, SVC_REFRESH_TTL_SECS: '12', SVC_ACCESS_TOKEN_TTL_SECS: '2' } });
  const person = new Person(gateway);
  const { body, headers } = await person.register('one@example.com');
  expect([body.expires_in, headers.get('set-cookie')?.endsWith('Max-Age=12')]).toEqual([2, true]);
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect((await person.call('GET', '/api/v1/auth/me')).status).toBe(401);
  expect((await person.refresh()).status).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 12_500));
  expect((await person.refresh()).status).toBe(401);
});
