import { expect, test } from 'vitest';
import { from, goodPassword, testAccounts } from '../testkit/test-accounts.ts';
import { drainOutbox } from './change-accounts.ts';
import { createOwner } from './create-owner.ts';
import { logIn } from './log-in.ts';
import { logInWithOidc } from './log-in-with-oidc.ts';
import { changeAccount } from './manage-accounts.ts';
import { confirmReset } from './passwords.ts';
import { operator } from '../testkit/requests.ts';
import { register } from './register.ts';

async function newWorld(settings: Parameters<typeof testAccounts>[0] = {}) {
  const world = await testAccounts({ openRegistration: true, ...settings });
  const { store, access } = world.accounts;
  const { clock, randomness, sha256 } = access;
  const create = (email: string) =>
    world.run(createOwner({ store, clock, randomness, sha256, resetTtlMs: 3_600_000 }, email));
  const attempt = (email: string, password: string) =>
    logIn(world.accounts, { email, password, rememberMe: false }, from);
  return { world, create, attempt };
}

test('makes an owner whose token sets a password, and gateways put that on record', async () => {
  const { world, create, attempt } = await newWorld();
  const { account, isNew, token } = await create('olga@example.com');
  expect(account).toMatchObject({ role: 'owner', status: 'active', orgId: null });
  expect(isNew).toBe(true);
  await world.run(confirmReset(world.accounts, { token, password: goodPassword }, from));
  expect((await world.run(attempt('olga@example.com', goodPassword))).account.id).toBe(account.id);
  world.clock.advance(61_000);
  await world.run(drainOutbox(world.accounts));
  const entry = (await world.audit()).find(({ event_type }) => event_type === 'AccountRegistered');
  expect(entry).toMatchObject({ actor: { kind: 'system' }, reason: 'reeve accounts create-owner' });
  expect(JSON.stringify(await world.audit())).not.toContain(token);
});

test('makes an owner of an account that exists, and whoever opened it before opens it no more', async () => {
  const { world, create, attempt } = await newWorld();
  await world.owner();
  const stranger = { email: 'olga@example.com', password: goodPassword, name: 'Not Olga' };
  const { account } = await world.run(register(world.accounts, stranger, from));
  await world.run(changeAccount(world.accounts, operator, account.id, { status: 'disabled' }, from));
  const made = await create('OLGA@example.com');
  expect(made).toMatchObject({ isNew: false, account: { id: account.id, role: 'owner', status: 'active' } });
  expect((await world.failure(attempt('olga@example.com', goodPassword))).code).toBe('wrong_credentials');
  const live = await world.accounts.store.read((rows) => rows.liveSessions(account.id, world.clock.now()));
  expect(live).toEqual([]);
});

test('a person of a single sign-on who had the account before neither opens nor demotes it', async () => {
  const oidc = { roles: [], defaultRole: { role: 'viewer', orgId: null, teamId: null }, linkByEmail: false } as const;
  const { world, create } = await newWorld({ oidc });
  const claims = { subject: 'x', email: 'olga@example.com', isEmailVerified: false, name: '', roleValues: [] };
  const signOn = () => logInWithOidc(world.accounts, { issuer: 'https://id.example.com', ...claims }, from);
  const { account } = await world.run(signOn());
  await create('olga@example.com');
  expect((await world.failure(signOn())).code).toBe('email_taken');
  expect(await world.accounts.store.read((rows) => rows.account(account.id))).toMatchObject({ role: 'owner' });
});

test('takes nothing but an email', async () => {
  const { create } = await newWorld();
  await expect(create('olga')).rejects.toMatchObject({ code: 'invalid_argument' });
});
