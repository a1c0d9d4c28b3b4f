import { beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { operator } from '../testkit/requests.ts';
import type { TestAccounts } from '../testkit/test-accounts.ts';
import { from, goodPassword, testAccounts } from '../testkit/test-accounts.ts';
import type { Account } from './account.ts';
import { acceptInvite } from './accept-invite.ts';
import { createInvite } from './invites.ts';
import { findLoginIn } from './find-people.ts';
import { register } from './register.ts';
import { changeAccount, listAccounts } from './manage-accounts.ts';
import { refresh } from './refresh.ts';

let world: TestAccounts;
let owner: Account;
let developer: Account;
let developersToken: string;

beforeEach(async () => {
  world = await testAccounts({ openRegistration: true });
  owner = (await world.owner()).account;
  world.clock.advance(1);
  const grant = await world.run(
    register(world.accounts, { email: 'dev@example.com', password: goodPassword, name: '' }, from),
  );
  developer = grant.account;
  developersToken = grant.refreshToken;
});

type Change = Parameters<typeof changeAccount>[3];
const change = (of: Account, to: Change, by: Principal = world.asPerson(owner)) =>
  changeAccount(world.accounts, by, of.id, to, from);

describe('changing an account', () => {
  test('gives it another role, which is on record with what it was', async () => {
    expect((await world.run(change(developer, { role: 'viewer' }))).role).toBe('viewer');
    const entry = (await world.audit()).at(-1);
    expect(entry).toMatchObject({
      event_type: 'AccountChanged',
      actor: { kind: 'account', label: 'owner@example.com' },
      payload: { role: 'viewer', was: { role: 'developer', status: 'active' }, address: '192.0.2.7' },
    });
  });

  test('applies to sessions at once: a role to the next call, disabling to all of them', async () => {
    const find = findLoginIn(world.accounts.store, world.clock, world.accounts.settings);
    const [session] = await world.accounts.store.read((rows) => rows.liveSessions(developer.id, world.clock.now()));
    await world.run(change(developer, { role: 'viewer' }));
    expect(await find(session?.id ?? '')).toMatchObject({ role: 'viewer' });
    expect(world.ended).toEqual([developer.id]);
    await world.run(change(developer, { status: 'disabled' }));
    expect(await find(session?.id ?? '')).toBeUndefined();
    expect(world.ended).toEqual([developer.id, developer.id]);
    expect((await world.failure(refresh(world.accounts, developersToken, from))).code).toBe('session_ended');
  });

  test('ends an invite from before the account: it must not bring back whom somebody has disabled', async () => {
    const invited = { email: 'late@example.com', role: 'admin' } as const;
    const { token } = await world.run(createInvite(world.accounts, world.asPerson(owner), invited, from));
    const registration = { email: 'Late@example.com', password: goodPassword, name: '' };
    const late = (await world.run(register(world.accounts, registration, from))).account;
    await world.run(change(late, { status: 'disabled' }));
    const acceptance = { token, password: goodPassword, name: '' };
    expect((await world.failure(acceptInvite(world.accounts, acceptance, from))).code).toBe('invalid_token');
  });

  test('changes and records nothing where nothing is new', async () => {
    const before = (await world.audit()).length;
    await world.run(change(developer, { role: 'developer', status: 'active' }));
    await world.run(change(developer, {}));
    expect(await world.audit()).toHaveLength(before);
  });

  test('of an owner is an owner’s business', async () => {
    for (const to of [{ role: 'owner' }, { role: 'admin' }] as const) {
      const target = to.role === 'owner' ? developer : owner;
      expect((await world.failure(change(target, to, operator))).code).toBe('owner_required');
    }
    await world.run(change(developer, { role: 'owner' }));
    await world.run(change(owner, { role: 'admin' }));
  });

  test.each([{ role: 'admin' }, { status: 'disabled' }] as const)('never takes the last owner away: %j', async (to) => {
    expect((await world.failure(change(owner, to))).code).toBe('last_owner');
    await world.run(change(developer, { role: 'owner', status: 'disabled' }));
    expect((await world.failure(change(owner, to))).code).toBe('last_owner');
  });

  test('leaves one owner where two demote each other at once', async () => {
    await world.run(change(developer, { role: 'owner' }));
    const outcomes = await world.run(
      Promise.allSettled([change(owner, { role: 'viewer' }), change(developer, { role: 'viewer' })]),
    );
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('of nobody is account_not_found', async () => {
    expect((await world.failure(change({ ...developer, id: 'acc_none' }, { role: 'viewer' }))).code).toBe(
      'account_not_found',
    );
  });
});

test('accounts are listed oldest first, in pages, to administrators that are bound to no tenant', async () => {
  const page = await world.run(listAccounts(world.accounts, operator, null, 1));
  expect([page.items.map(({ id }) => id), page.total]).toEqual([[owner.id], 2]);
  const next = await world.run(listAccounts(world.accounts, operator, owner, 10));
  expect(next.items.map(({ id }) => id)).toEqual([developer.id]);
  expect(() => listAccounts(world.accounts, { ...operator, orgId: 'acme' }, null, 1)).toThrow(/bound to no org/);
  expect(() => listAccounts(world.accounts, { ...operator, scopes: ['write'] }, null, 1)).toThrow(/scope "admin"/);
});
