import { beforeEach, describe, expect, test } from 'vitest';
import { operator } from '../testkit/requests.ts';
import type { TestAccounts } from '../testkit/test-accounts.ts';
import { from, goodPassword, testAccounts } from '../testkit/test-accounts.ts';
import type { Account } from './account.ts';
import { acceptInvite } from './accept-invite.ts';
import { createInvite } from './invites.ts';
import { logIn } from './log-in.ts';
import type { OidcPerson } from './log-in-with-oidc.ts';
import { logInWithOidc } from './log-in-with-oidc.ts';
import { changeAccount } from './manage-accounts.ts';
import { changePassword, requestReset } from './passwords.ts';
import { refresh } from './refresh.ts';
import { findLoginIn } from './find-people.ts';
import type { OidcRules } from './oidc-rules.ts';

const rules: OidcRules = {
  roles: [
    { value: 'owners', role: 'owner', orgId: null, teamId: null },
    { value: 'admins', role: 'admin', orgId: null, teamId: null },
    { value: 'acme', role: 'developer', orgId: 'acme', teamId: 'core' },
  ],
  defaultRole: null,
  linkByEmail: false,
};

const ada: OidcPerson = {
  issuer: 'https://id.example.com',
  subject: 'ada',
  email: 'ada@example.com',
  isEmailVerified: true,
  name: 'Ada',
  roleValues: ['all', 'admins'],
};

let world: TestAccounts;
beforeEach(async () => {
  world = await testAccounts({ oidc: rules });
});

const signOn = (members: Partial<OidcPerson> = {}) => logInWithOidc(world.accounts, { ...ada, ...members }, from);
const refused = async (members: Partial<OidcPerson> = {}) => (await world.failure(signOn(members))).code;
const linking = async () => {
  world = await testAccounts({ oidc: { ...rules, linkByEmail: true } });
};
/** Somebody who has come by an invite. */
const invited = async (by: Account, email: string) => {
  const { token } = await world.run(createInvite(world.accounts, world.asPerson(by), { email, role: 'viewer' }, from));
  await world.run(acceptInvite(world.accounts, { token, password: goodPassword, name: '' }, from));
};
const sessionsOf = (id: string) =>
  world.accounts.store.read((rows) => rows.liveSessions(id, world.accounts.access.clock.now()));

describe('a person of the provider', () => {
  test('gets an account at the first sign-on, and the same one again whatever the email is by then', async () => {
    const first = await world.run(signOn());
    expect(first.account).toMatchObject({ email: 'ada@example.com', name: 'Ada', role: 'admin', orgId: null });
    expect(first.refreshTtlSecs).toBe(43_200);
    const again = await world.run(signOn({ email: 'ada@new.example.com' }));
    expect(again.account).toMatchObject({ id: first.account.id, email: 'ada@example.com' });
    expect(await world.accounts.store.read((rows) => rows.countAccounts())).toBe(1);
  });

  test('is another person under another issuer or subject', async () => {
    const { account } = await world.run(signOn());
    const others = [{ subject: 'bob' }, { issuer: 'https://other.example.com' }];
    for (const [index, other] of others.entries()) {
      const grant = await world.run(signOn({ ...other, email: `${index}@example.com` }));
      expect(grant.account.id).not.toBe(account.id);
    }
    // A boundary between the two that moves makes nobody the same.
    const moved = { issuer: 'https://id.example.coma', subject: 'da', email: 'moved@example.com' };
    expect((await world.run(signOn(moved))).account.id).not.toBe(account.id);
  });

  test('gets role and tenant anew each time, which holds at once for the sessions from before', async () => {
    const { account } = await world.run(signOn());
    const [before] = await sessionsOf(account.id);
    const { account: next } = await world.run(signOn({ roleValues: ['acme'] }));
    expect(next).toMatchObject({ id: account.id, role: 'developer', orgId: 'acme', teamId: 'core' });
    const { store, settings } = world.accounts;
    const login = await findLoginIn(store, world.clock, settings)(before?.id ?? '');
    expect(login).toMatchObject({ role: 'developer', orgId: 'acme', teamId: 'core' });
    expect(world.ended).toEqual([account.id]);
    await world.run(signOn({ roleValues: ['owners', 'acme'] }));
    expect((await store.read((rows) => rows.account(account.id)))?.role).toBe('owner');
    // The provider decides, also about the last owner.
    await world.run(signOn());
    expect((await store.read((rows) => rows.account(account.id)))?.role).toBe('admin');
  });

  test('without a role is refused, and has no session any more', async () => {
    const { account, refreshToken } = await world.run(signOn());
    const [session] = await sessionsOf(account.id);
    expect(await refused({ roleValues: ['Admins', 'admin'] })).toBe('no_role');
    expect(await sessionsOf(account.id)).toEqual([]);
    expect((await world.failure(refresh(world.accounts, refreshToken, from))).code).toBe('session_ended');
    expect(world.ended).toEqual([session?.id]);
  });

  test('gets the default role where there is one', async () => {
    const defaultRole = { role: 'viewer', orgId: 'acme', teamId: null } as const;
    world = await testAccounts({ oidc: { ...rules, defaultRole } });
    expect((await world.run(signOn({ roleValues: [] }))).account).toMatchObject(defaultRole);
    expect((await world.run(signOn())).account).toMatchObject({ role: 'admin', orgId: null });
  });

  test.each([null, '', 'ada', 'ada@', 'ada\u200b@example.com', '\u202eada@example.com'])(
    'with the email %j is refused',
    async (email) => {
      expect(await refused({ email })).toBe('email_missing');
    },
  );

  test('whose account is disabled is refused', async () => {
    const { account } = await world.run(signOn());
    await world.run(changeAccount(world.accounts, operator, account.id, { status: 'disabled' }, from));
    expect(await refused()).toBe('account_disabled');
  });

  test('has no password: none matches, none can be set by mail or changed', async () => {
    const { account } = await world.run(signOn());
    for (const password of ['', goodPassword]) {
      const attempt = logIn(
        world.accounts,
        { email: 'ada@example.com', password: `${password}x`, rememberMe: false },
        from,
      );
      expect((await world.failure(attempt)).code).toBe('wrong_credentials');
    }
    await world.run(requestReset(world.accounts, 'ada@example.com', from));
    expect(await world.accounts.store.read((rows) => rows.dueLetters(world.clock.now(), 10))).toEqual([]);
    const change = { currentPassword: '', password: goodPassword };
    const changing = changePassword(world.accounts, world.asPerson(account), change, from);
    expect((await world.failure(changing)).code).toBe('password_off');
  });

  test('who comes ten times at once has one account', async () => {
    const grants = await world.run(Promise.all(Array.from({ length: 10 }, () => signOn())));
    expect(new Set(grants.map(({ account }) => account.id)).size).toBe(1);
  });
});

describe('an account with the same email', () => {
  const owner = { email: 'owner@example.com', roleValues: ['admins'] };

  test('stays apart, verified or not, unless linking is on', async () => {
    await world.owner();
    expect(await refused(owner)).toBe('email_taken');
    expect(await refused({ ...owner, email: 'OWNER@Example.com' })).toBe('email_taken');
  });

  test('is not linked by an email that the provider has not verified', async () => {
    await linking();
    await world.owner();
    expect(await refused({ ...owner, isEmailVerified: false })).toBe('email_taken');
  });

  test('is linked by a verified one, and what opened it before opens it no more', async () => {
    await linking();
    const before = await world.owner();
    const { account } = await world.run(signOn(owner));
    expect(account).toMatchObject({ id: before.account.id, role: 'admin' });
    expect(await sessionsOf(account.id)).toHaveLength(1);
    expect((await world.failure(refresh(world.accounts, before.refreshToken, from))).code).toBe('session_ended');
    const password = { email: 'owner@example.com', password: goodPassword, rememberMe: false };
    expect((await world.failure(logIn(world.accounts, password, from))).code).toBe('wrong_credentials');
    expect((await world.run(signOn(owner))).account.id).toBe(account.id);
  });

  test.each(['\u212Aate@example.com', 'ｋate@example.com', 'kate@ｅxample.com'])(
    'is not linked by %j, which only compares like its own',
    async (email) => {
      await linking();
      await invited((await world.owner()).account, 'kate@example.com');
      expect(await refused({ email })).toBe('email_taken');
      expect((await world.run(signOn({ email: 'Kate@Example.com' }))).account.email).toBe('kate@example.com');
    },
  );

  test('is not linked to a second person of the provider: addresses pass on', async () => {
    await linking();
    await world.run(signOn());
    expect(await refused({ subject: 'successor' })).toBe('email_taken');
  });

  test('is not linked and brought back where it is disabled', async () => {
    await linking();
    const { account } = await world.run(signOn());
    await world.run(changeAccount(world.accounts, operator, account.id, { status: 'disabled' }, from));
    expect(await refused({ issuer: 'https://other.example.com' })).toBe('account_disabled');
  });
});

test('an invite gives the account to whoever reads its mail, and not to the person who had it before', async () => {
  const owner = await world.owner();
  const { account } = await world.run(signOn());
  await world.run(changeAccount(world.accounts, operator, account.id, { status: 'disabled' }, from));
  await invited(owner.account, 'ada@example.com');
  expect(await refused()).toBe('email_taken');
});

test('everything is on record, and nothing of what the provider said but the email of an account', async () => {
  await linking();
  await world.run(signOn({ roleValues: ['acme', 'secret-group'] }));
  await world.run(signOn());
  await refused({ subject: 'stranger', email: 'stranger@example.com', name: 'Stranger', roleValues: ['strangers'] });
  const other = { issuer: 'https://other.example.com' };
  await world.run(signOn(other));
  const entries = (await world.audit()).slice(1);
  expect(entries.map(({ event_type, reason }) => [event_type, reason])).toEqual([
    ['AccountRegistered', null],
    ['LoginSucceeded', null],
    ['AccountChanged', 'single sign-on'],
    ['LoginSucceeded', null],
    ['LoginFailed', 'no_role'],
    ['AccountLinked', null],
    ['LoginSucceeded', null],
  ]);
  expect(entries[2]?.payload).toMatchObject({ role: 'admin', was: { role: 'developer', org_id: 'acme' } });
  expect(entries[1]?.payload).toMatchObject({ method: 'oidc', address: '192.0.2.7' });
  expect(JSON.stringify(entries)).not.toMatch(/stranger|secret-group|id\.example\.com/i);
});

test('where passwords are off, the sessions that one has opened end', async () => {
  const { refreshToken, account } = await world.owner();
  const [session] = await sessionsOf(account.id);
  const off = { ...world.accounts, settings: { ...world.accounts.settings, passwords: false } };
  expect(await findLoginIn(off.store, world.clock, off.settings)(session?.id ?? '')).toBeUndefined();
  expect((await world.failure(refresh(off, refreshToken, from))).code).toBe('session_ended');
  const attempt = logIn(off, { email: 'owner@example.com', password: goodPassword, rememberMe: false }, from);
  expect((await world.failure(attempt)).code).toBe('password_off');
});
