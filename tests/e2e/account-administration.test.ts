import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import type { AccountJson } from '../harness/person.ts';
import { Person, statusesOf } from '../harness/person.ts';
import type { TestStore } from '../harness/stores.ts';
import { durableStores } from '../harness/stores.ts';

interface Listed {
  readonly items: readonly AccountJson[];
  readonly next_cursor: string | null;
  readonly total: number;
}

const env = { SVC_RATE_LIMIT_AUTH_PER_MIN: '0' };

describe.each(durableStores)('account administration on $name', ({ open }) => {
  let store: TestStore;
  let gateway: TestGateway;
  let owner: Person;
  let ownerId = '';
  beforeAll(async () => {
    store = await open();
    gateway = await store.start({ env });
    owner = new Person(gateway);
    ownerId = (await owner.register('owner@example.com')).body.account.id;
  });
  afterAll(() => store[Symbol.asyncDispose]());

  let people = 0;
  async function member(role: string): Promise<{ person: Person; id: string; email: string }> {
    const email = `${role}${++people}@example.com`;
    const { body } = await owner.call<{ token: string }>('POST', '/api/v1/auth/invite', { email, role });
    const person = new Person(gateway);
    const accepted = await person.accept(body.token);
    return { person, id: accepted.body.account.id, email };
  }
  const change = (by: Person, id: string, to: object) =>
    by.call<AccountJson & { code: string }>('PATCH', `/api/v1/accounts/${id}`, to);
  const byKey = (id: string, to: object) =>
    gateway.api.send<AccountJson & { code: string }>('PATCH', `/api/v1/accounts/${id}`, {
      bearer: bootstrapKey,
      json: to,
    });

  test('accounts are listed in pages with a total', async () => {
    await using empty = await open();
    const other = await empty.start({ env: { ...env, SVC_AUTH_OPEN_REGISTRATION: 'yes' } });
    for (const name of ['a', 'b', 'c']) await new Person(other).register(`${name}@example.com`);
    const first = (await other.api.get<Listed>('/api/v1/accounts?per_page=2', bootstrapKey)).body;
    expect([first.items.map(({ email }) => email), first.total]).toEqual([['a@example.com', 'b@example.com'], 3]);
    const path = `/api/v1/accounts?per_page=2&cursor=${first.next_cursor}`;
    const rest = (await other.api.get<Listed>(path, bootstrapKey)).body;
    expect([rest.items.map(({ email }) => email), rest.next_cursor, rest.total]).toEqual([['c@example.com'], null, 3]);
    expect((await other.api.get('/api/v1/accounts?cursor=bogus', bootstrapKey)).status).toBe(422);
  });

  test('a role applies at once to tokens that are out', async () => {
    const { person, id } = await member('developer');
    expect((await person.call('GET', '/api/v1/accounts')).status).toBe(403);
    const { status, body } = await change(owner, id, { role: 'admin' });
    expect([status, body.role]).toEqual([200, 'admin']);
    expect((await person.call('GET', '/api/v1/accounts')).status).toBe(200);
    await change(owner, id, { role: 'viewer' });
    expect((await person.call('GET', '/api/v1/accounts')).status).toBe(403);
    expect((await person.call('GET', '/api/v1/auth/me')).body).toMatchObject({ scopes: ['read'] });
  });

  test('disabling ends sessions at once; the login then looks like a wrong password; enabling brings it back', async () => {
    const { person, id, email } = await member('developer');
    const { body } = await byKey(id, { status: 'disabled' });
    expect(body.status).toBe('disabled');
    expect((await person.call('GET', '/api/v1/auth/me')).status).toBe(401);
    expect((await person.refresh()).status).toBe(401);
    const refused = await new Person(gateway).logIn(email);
    const wrong = await new Person(gateway).logIn(email, { password: 'not the password' });
    expect([refused.status, refused.text]).toEqual([401, wrong.text]);
    await byKey(id, { status: 'active' });
    expect((await new Person(gateway).logIn(email)).status).toBe(200);
  });

  test('only an owner makes, demotes or disables an owner', async () => {
    const admin = await member('admin');
    for (const answer of [
      await byKey(admin.id, { role: 'owner' }),
      await byKey(ownerId, { role: 'admin' }),
      await byKey(ownerId, { status: 'disabled' }),
      await change(admin.person, admin.id, { role: 'owner' }),
      await change(admin.person, ownerId, { status: 'disabled' }),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([403, 'owner_required']);
    }
  });

  test('the last owner can be neither demoted nor disabled: 409', async () => {
    for (const to of [{ role: 'admin' }, { status: 'disabled' }]) {
      const answer = await change(owner, ownerId, to);
      expect([answer.status, answer.body.code]).toEqual([409, 'last_owner']);
    }
    const second = await member('owner');
    const both = await Promise.all([
      change(owner, ownerId, { role: 'admin' }),
      change(second.person, second.id, { role: 'admin' }),
    ]);
    const statuses = statusesOf(both);
    // The second one is no longer an owner, or is the last one.
    expect([200, 403, 409]).toEqual(expect.arrayContaining(statuses));
    expect(statuses[0]).toBe(200);
    expect(statuses[1]).toBeGreaterThan(200);
    if (both[0]?.status === 200) await change(second.person, ownerId, { role: 'owner' });
  });

  test.each([{ role: 'king' }, { status: 'gone' }, { email: 'x@example.com' }])('%j is a 422', async (to) => {
    expect((await change(owner, ownerId, to)).status).toBe(422);
  });

  test('nothing to change is a 200 with the record; an unknown id a 404', async () => {
    const { status, body } = await change(owner, ownerId, {});
    expect([status, body.id]).toEqual([200, ownerId]);
    expect((await change(owner, 'acc_none', { role: 'viewer' })).body.code).toBe('account_not_found');
  });

  test('a change is on record with actor, address and what it was', async () => {
    const { id } = await member('developer');
    await change(owner, id, { role: 'viewer' });
    const { body } = await gateway.api.get<{ items: { actor: object; payload: object }[] }>(
      '/api/v1/logs?event_type=AccountChanged&per_page=1',
      bootstrapKey,
    );
    expect(body.items[0]).toMatchObject({
      actor: { kind: 'account', id: ownerId, label: 'owner@example.com' },
      payload: { account_id: id, address: '127.0.0.1', role: 'viewer', was: { role: 'developer' } },
    });
  });
});
