import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { MailRelay } from '../harness/mail-relay.ts';
import { password, Person, statusesOf } from '../harness/person.ts';
import type { TestStore } from '../harness/stores.ts';
import { durableStores, sqliteStore } from '../harness/stores.ts';

interface Made {
  readonly invite: { readonly id: string; readonly email: string; readonly role: string; readonly expires_at: string };
  readonly token: string;
  readonly code: string;
}

interface Listed {
  readonly items: readonly { readonly id: string; readonly email: string; readonly invited_by: string }[];
  readonly next_cursor: string | null;
  readonly total: number;
}

const invitePath = '/api/v1/auth/invite';
const another = 'another quiet lamp';

describe.each(durableStores)('invites and resets on $name', ({ open }) => {
  let relay: MailRelay;
  let store: TestStore;
  let gateway: TestGateway;
  let owner: Person;
  const env = () => ({
    SVC_RATE_LIMIT_AUTH_PER_MIN: '0',
    SVC_SMTP_HOST: '127.0.0.1',
    SVC_SMTP_PORT: String(relay.port),
    SVC_PUBLIC_URL: 'https://reeve.example',
  });
  beforeAll(async () => {
    relay = await MailRelay.start();
    store = await open();
    gateway = await store.start({ env: env() });
    owner = new Person(gateway);
    await owner.register('owner@example.com');
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    await relay.close();
  });

  let people = 0;
  const newEmail = () => `person${++people}@example.com`;
  const invite = (body: object) => owner.call<Made>('POST', invitePath, body);
  const letterTo = (to: string, page: 'invite' | 'reset') =>
    eventually(() => {
      const letter = relay.letters.findLast((one) => one.to === to && one.text.includes(`/${page}#token=`));
      if (letter === undefined) throw new Error(`there is no letter with a link to ${page} for ${to}`);
      return letter;
    });
  const boundTo = { org_id: 'acme', team_id: 'shop' };

  test('an invite into a tenant makes an account that sees that tenant alone', async () => {
    const email = newEmail();
    const { body, status } = await invite({ email, role: 'developer', ...boundTo });
    expect(status).toBe(201);
    expect(body.invite).toMatchObject(boundTo);
    const { items } = (await owner.call<Listed>('GET', '/api/v1/auth/invites')).body;
    expect(items.find((each) => each.id === body.invite.id)).toMatchObject(boundTo);
    await gateway.register({ orgId: 'acme', teamId: 'shop', agentId: 'inside' });
    await gateway.register({ orgId: 'acme', teamId: 'other', agentId: 'outside' });
    const person = new Person(gateway);
    expect((await person.accept(body.token)).status).toBe(201);
    expect((await person.call('GET', '/api/v1/auth/me')).body).toMatchObject(boundTo);
    type Agents = { items: { agent_id: string }[] };
    const seen = (await person.call<Agents>('GET', '/api/v1/agents')).body.items;
    expect(seen.map(({ agent_id: id }) => id)).toEqual(['inside']);
    for (const bad of [{ role: 'owner', org_id: 'acme' }, { team_id: 'shop' }, { org_id: 'no/org' }]) {
      expect((await invite({ email: newEmail(), ...bad })).status).toBe(422);
    }
  });

  test('an admin of an org invites into it, by default, and knows of no other invites', async () => {
    const foreign = await invite({ email: newEmail(), org_id: 'other' });
    const made = await invite({ email: newEmail(), role: 'admin', org_id: 'acme' });
    const admin = new Person(gateway);
    expect((await admin.accept(made.body.token)).status).toBe(201);
    const email = newEmail();
    const invited = await admin.call<Made>('POST', invitePath, { email, role: 'admin' });
    expect([invited.status, invited.body.invite]).toMatchObject([201, { email, org_id: 'acme', team_id: null }]);
    const { items, total } = (await admin.call<Listed>('GET', '/api/v1/auth/invites')).body;
    expect([items.map(({ id }) => id), total]).toEqual([[invited.body.invite.id], 1]);
    for (const [method, path, status, code] of [
      ['DELETE', `/api/v1/auth/invites/${foreign.body.invite.id}`, 404, 'invite_not_found'],
      ['POST', `/api/v1/auth/invites/${foreign.body.invite.id}/resend`, 404, 'invite_not_found'],
    ] as const) {
      const answer = await admin.call<{ code: string }>(method, path);
      expect([answer.status, answer.body.code]).toEqual([status, code]);
    }
    const owners = await admin.call<{ code: string }>('POST', invitePath, { email: newEmail(), role: 'owner' });
    expect([owners.status, owners.body.code]).toEqual([403, 'owner_required']);
    const colleague = new Person(gateway);
    expect((await colleague.accept(invited.body.token)).status).toBe(201);
    expect((await colleague.call('GET', '/api/v1/auth/me')).body).toMatchObject({ org_id: 'acme', team_id: null });
  });

  const askReset = (email: string) => new Person(gateway).post('password/reset', { email });
  const confirm = (token: string, next = another) =>
    new Person(gateway).post('password/reset/confirm', { token, password: next });

  test('an invite is made, mailed, accepted once, and logs in with its role', async () => {
    const email = newEmail();
    const { status, body } = await invite({ email, role: 'viewer' });
    expect(status).toBe(201);
    expect(Object.keys(body.invite).toSorted()).toEqual(['email', 'expires_at', 'id', 'org_id', 'role', 'team_id']);
    const days = (Date.parse(body.invite.expires_at) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(7);
    const letter = await letterTo(email, 'invite');
    expect(letter.text).toContain('https://reeve.example/invite#token=');
    expect(letter.token).not.toBe(body.token);
    const person = new Person(gateway);
    const accepted = await person.accept(letter.token, { name: 'Vera' });
    expect([accepted.status, accepted.body.account]).toMatchObject([201, { email, role: 'viewer', name: 'Vera' }]);
    expect((await person.call('GET', '/api/v1/logs')).status).toBe(200);
    expect((await person.call('POST', invitePath, { email: newEmail() })).status).toBe(403);
    for (const token of [letter.token, body.token]) {
      const again = await new Person(gateway).accept(token);
      expect([again.status, again.body.code]).toEqual([422, 'invalid_token']);
    }
  });

  test('the default role is developer', async () => {
    const { body } = await invite({ email: newEmail() });
    expect(body.invite.role).toBe('developer');
  });

  test('the token is returned without mail, too, and is accepted by one of ten at once', async () => {
    const { body } = await invite({ email: newEmail() });
    const answers = await Promise.all(Array.from({ length: 10 }, () => new Person(gateway).accept(body.token)));
    expect(statusesOf(answers)).toEqual([201, ...Array.from({ length: 9 }, () => 422)]);
  });

  test('a weak password does not consume the token', async () => {
    const { body } = await invite({ email: newEmail() });
    const weak = await new Person(gateway).accept(body.token, { password: 'eleven char' });
    expect([weak.status, weak.body.code]).toEqual([422, 'weak_password']);
    expect((await new Person(gateway).accept(body.token)).status).toBe(201);
  });

  test('wrong, truncated, used and foreign tokens answer one identical 422', async () => {
    const { body } = await invite({ email: newEmail() });
    await new Person(gateway).accept(body.token);
    const email = newEmail();
    const fresh = await invite({ email });
    const texts = new Set<string>();
    for (const token of ['', 'x', body.token, fresh.body.token.slice(0, -1), owner.accessToken ?? '', bootstrapKey]) {
      for (const route of ['invite/accept', 'password/reset/confirm']) {
        const { status, text } = await new Person(gateway).post(route, { token, password });
        expect(status).toBe(422);
        texts.add(text.replace(/"instance":"[^"]*"/, ''));
      }
    }
    expect((await confirm(fresh.body.token)).body.code).toBe('invalid_token');
    expect(texts.size).toBe(1);
  });

  test('invites are listed in pages, sent again and revoked', async () => {
    await using empty = await open();
    const other = await empty.start({ env: env() });
    const person = new Person(other);
    await person.register('owner@example.com');
    const made: Made[] = [];
    for (const email of ['a@example.com', 'b@example.com', 'c@example.com']) {
      made.push((await person.call<Made>('POST', invitePath, { email })).body);
    }
    const page = (await person.call<Listed>('GET', '/api/v1/auth/invites?per_page=2')).body;
    expect([page.items.map(({ email }) => email), page.total]).toEqual([['c@example.com', 'b@example.com'], 3]);
    expect(page.items[0]?.invited_by).toBe('owner@example.com');
    const rest = (await person.call<Listed>('GET', `/api/v1/auth/invites?per_page=2&cursor=${page.next_cursor}`)).body;
    expect([rest.items.map(({ email }) => email), rest.next_cursor]).toEqual([['a@example.com'], null]);
    const [first, second] = made;
    const resent = await person.call<Made>('POST', `/api/v1/auth/invites/${first?.invite.id}/resend`);
    expect(resent.status).toBe(201);
    expect((await new Person(other).accept(first?.token ?? '')).status).toBe(422);
    expect((await new Person(other).accept(resent.body.token)).status).toBe(201);
    expect((await person.call('DELETE', `/api/v1/auth/invites/${second?.invite.id}`)).status).toBe(204);
    expect((await person.call('DELETE', `/api/v1/auth/invites/${second?.invite.id}`)).status).toBe(404);
    expect((await new Person(other).accept(second?.token ?? '')).status).toBe(422);
    expect((await person.call<Listed>('GET', '/api/v1/auth/invites')).body.total).toBe(1);
  });

  test('an active account is not invited: 409; only an owner invites owners: 403', async () => {
    expect((await invite({ email: 'OWNER@example.com' })).body.code).toBe('email_taken');
    const byKey = await gateway.api.post<{ code: string }>(invitePath, bootstrapKey, {
      email: newEmail(),
      role: 'owner',
    });
    expect([byKey.status, byKey.body.code]).toEqual([403, 'owner_required']);
    expect((await invite({ email: newEmail(), role: 'owner' })).status).toBe(201);
    expect((await invite({ email: newEmail(), role: 'king' })).status).toBe(422);
  });

  test('a credential of a tenant does not touch accounts: 403 tenant_bound', async () => {
    const { body } = await gateway.api.post<{ key: string }>('/api/v1/iam/api-keys', bootstrapKey, {
      label: 'tenant',
      scopes: ['admin'],
      org_id: 'acme',
    });
    for (const [method, path, json] of [
      ['POST', invitePath, { email: 'x@example.com', org_id: 'other' }],
      ['POST', invitePath, { email: 'owner@example.com' }],
      ['GET', '/api/v1/accounts'],
      ['PATCH', '/api/v1/accounts/x', {}],
    ] as const) {
      const answer = await gateway.api.send<{ code: string }>(method, path, {
        bearer: body.key,
        ...(json === undefined ? {} : { json }),
      });
      expect([answer.status, answer.body.code]).toEqual([403, 'tenant_bound']);
    }
  });

  test('a reset is always 202 with the same empty body, whatever stands in the email', async () => {
    const answers = [];
    for (const email of ['owner@example.com', 'nobody@example.com', 'not an email', '', 'x'.repeat(5000)]) {
      answers.push(await askReset(email));
    }
    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [202, '']));
    const names = answers.map(({ headers }) => [...headers.keys()].toSorted().join());
    expect(new Set(names).size).toBe(1);
  });

  test('a reset comes by mail, sets the password once, and ends all sessions and the lock', async () => {
    const email = newEmail();
    const person = new Person(gateway);
    await person.accept((await invite({ email })).body.token);
    for (let attempt = 0; attempt < 6; attempt++) await new Person(gateway).logIn(email, { password: 'not this one' });
    await askReset(email.toUpperCase());
    const letter = await letterTo(email, 'reset');
    expect(letter.text).toContain('https://reeve.example/reset#token=');
    expect(letter.html).toContain(letter.token);
    expect((await confirm(letter.token, 'short')).body.code).toBe('weak_password');
    expect((await confirm(letter.token)).status).toBe(204);
    expect((await confirm(letter.token)).body.code).toBe('invalid_token');
    expect((await person.call('GET', '/api/v1/auth/me')).status).toBe(401);
    expect((await person.refresh()).status).toBe(401);
    expect((await new Person(gateway).logIn(email)).status).toBe(401);
    expect((await new Person(gateway).logIn(email, { password: another })).status).toBe(200);
  });

  test('mail that the relay does not take now is sent when it does, also over kill -9', async () => {
    await using fresh = await open();
    const busy = await MailRelay.start({ behaviour: 'busy' });
    const settings = { env: { ...env(), SVC_SMTP_PORT: String(busy.port) } };
    const before = await fresh.start(settings);
    await new Person(before).register('owner@example.com');
    expect((await new Person(before).post('password/reset', { email: 'owner@example.com' })).status).toBe(202);
    await eventually(() => {
      expect(busy.connections).toBeGreaterThan(0);
      expect(before.output().stderr).toContain('a letter could not be sent');
    });
    await before.kill();
    busy.behaviour = 'accept';
    const after = await fresh.start(settings);
    await eventually(() => {
      expect(busy.letters).toHaveLength(1);
    }, 800);
    const token = busy.letters[0]?.token ?? '';
    expect((await new Person(after).post('password/reset/confirm', { token, password: another })).status).toBe(204);
    await busy.close();
  });

  test('no token of any letter is in the log, in the store’s rows of letters, or in what the gateway prints', async () => {
    const email = newEmail();
    const { body } = await invite({ email });
    const letter = await letterTo(email, 'invite');
    const { text } = await gateway.api.get('/api/v1/logs/export', bootstrapKey);
    const { stdout, stderr } = gateway.output();
    for (const token of [body.token, letter.token]) expect(`${text}${stdout}${stderr}`.includes(token)).toBe(false);
    const types = new Set(text.match(/(?<="event_type":")\w+/g));
    for (const type of ['InviteCreated', 'InviteAccepted', 'PasswordReset', 'PasswordResetRequested']) {
      expect(types).toContain(type);
    }
  });
});

describe('without a relay', () => {
  test('recipient and subject are logged, never the token; the reset is 202 all the same', async () => {
    await using store = await sqliteStore.open();
    const gateway = await store.start({ env: { SVC_RATE_LIMIT_AUTH_PER_MIN: '0' } });
    await new Person(gateway).register('owner@example.com');
    expect((await new Person(gateway).post('password/reset', { email: 'owner@example.com' })).status).toBe(202);
    await eventually(() => {
      expect(gateway.output().stderr).toContain('owner@example.com');
    });
    expect(gateway.output().stderr).not.toContain('token=');
    expect(gateway.output().stderr).not.toContain('rvp_');
  });
});
