import { beforeEach, describe, expect, test } from 'vitest';
import { createKey, revokeKey, rotateKey } from '../access/manage-keys.ts';
import type { Binding } from '../access/authority.ts';
import type { Principal, Role } from '../access/principal.ts';
import { operator } from '../testkit/requests.ts';
import { sampleAccount } from '../testkit/account-samples.ts';
import type { TestAccounts } from '../testkit/test-accounts.ts';
import { from, goodPassword, testAccounts } from '../testkit/test-accounts.ts';
import { acceptInvite } from './accept-invite.ts';
import { createInvite, listInvites, resendInvite, revokeInvite } from './invites.ts';
import type { Account } from './account.ts';
import { logIn } from './log-in.ts';
import { changeAccount } from './manage-accounts.ts';

let world: TestAccounts;
let owner: Principal;

beforeEach(async () => {
  world = await testAccounts();
  owner = world.asPerson((await world.owner()).account);
});

const invite = (email = 'dev@example.com', role: Role = 'developer', by = owner, binding: Partial<Binding> = {}) =>
  createInvite(world.accounts, by, { email, role, ...binding }, from);
const accept = (token: string, password = goodPassword) =>
  acceptInvite(world.accounts, { token, password, name: 'Dev' }, from);
const open = () => world.run(listInvites(world.accounts, owner, null, 50));

describe('an invite', () => {
  test('is accepted once, makes the account with its role, and logs it in', async () => {
    const { invite: made, token } = await world.run(invite('Dev@Example.com', 'viewer'));
    const grant = await world.run(accept(token));
    expect(grant.account).toMatchObject({ email: 'Dev@Example.com', role: 'viewer', status: 'active', name: 'Dev' });
    expect(grant.refreshToken).toMatch(/^rvr_/);
    expect((await world.failure(accept(token))).code).toBe('invalid_token');
    expect((await open()).total).toBe(0);
    const accepted = (await world.audit()).find((entry) => entry.event_type === 'InviteAccepted');
    expect(accepted?.payload).toMatchObject({ invite_id: made.id, role: 'viewer' });
  });

  test('is kept as a hash, and is in no entry of the log', async () => {
    const { token } = await world.run(invite());
    const { hash, stored } = await world.accounts.store.read(async (rows) => ({
      hash: world.accounts.access.sha256(token),
      stored: await rows.sentToken(world.accounts.access.sha256(token)),
    }));
    expect(stored?.hash).toBe(hash);
    expect(JSON.stringify(stored)).not.toContain(token);
    expect(JSON.stringify(await world.audit())).not.toContain(token);
  });

  test('is over after seven days', async () => {
    const { token } = await world.run(invite());
    world.clock.advance(604_800_000 - 1);
    expect((await open()).total).toBe(1);
    world.clock.advance(1);
    expect((await open()).total).toBe(0);
    expect((await world.failure(accept(token))).code).toBe('invalid_token');
  });

  test('is not consumed by a weak password', async () => {
    const { token } = await world.run(invite());
    expect((await world.failure(accept(token, 'short'))).code).toBe('weak_password');
    await world.run(accept(token));
  });

  test('is accepted by one of twenty at once', async () => {
    const { token } = await world.run(invite());
    const outcomes = await world.run(
      Promise.all(
        Array.from({ length: 20 }, () =>
          accept(token).then(
            () => 'accepted',
            (error: { code: string }) => error.code,
          ),
        ),
      ),
    );
    expect(outcomes.toSorted()).toEqual(['accepted', ...Array.from({ length: 19 }, () => 'invalid_token')]);
  });

  test('is replaced by another to the same email, and by being sent again', async () => {
    const first = await world.run(invite());
    const second = await world.run(invite('DEV@example.com', 'admin'));
    const third = await world.run(resendInvite(world.accounts, owner, second.invite.id, from));
    expect(third.invite).toMatchObject({ email: 'DEV@example.com', role: 'admin' });
    expect((await open()).total).toBe(1);
    for (const { token } of [first, second]) expect((await world.failure(accept(token))).code).toBe('invalid_token');
    await world.run(accept(third.token));
  });

  test('that is revoked opens nothing and is gone', async () => {
    const { invite: made, token } = await world.run(invite());
    await world.run(revokeInvite(world.accounts, owner, made.id, from));
    expect((await world.failure(accept(token))).code).toBe('invalid_token');
    expect((await world.failure(revokeInvite(world.accounts, owner, made.id, from))).code).toBe('invite_not_found');
    expect((await world.failure(resendInvite(world.accounts, owner, made.id, from))).code).toBe('invite_not_found');
  });

  test('goes to no email that has an active account; a disabled one comes back by it', async () => {
    expect((await world.failure(invite('owner@example.com'))).code).toBe('email_taken');
    const { token } = await world.run(invite());
    const { account } = await world.run(accept(token));
    expect((await world.failure(invite())).code).toBe('email_taken');
    await world.run(changeAccount(world.accounts, owner, account.id, { status: 'disabled' }, from));
    const again = await world.run(invite('dev@example.com', 'viewer'));
    const back = await world.run(accept(again.token, 'another quiet lamp'));
    expect(back.account).toMatchObject({ id: account.id, role: 'viewer', status: 'active' });
  });
});

describe('who may invite', () => {
  test('an owner is invited by an owner only; an API key acts as an admin', async () => {
    const admin = await world.run(invite('admin@example.com', 'admin').then(({ token }) => accept(token)));
    for (const by of [operator, world.asPerson(admin.account)]) {
      expect((await world.failure(invite('new@example.com', 'owner', by))).code).toBe('owner_required');
      await world.run(invite('new@example.com', 'admin', by));
    }
    const { invite: made } = await world.run(invite('second@example.com', 'owner'));
    expect((await world.failure(revokeInvite(world.accounts, operator, made.id, from))).code).toBe('owner_required');
  });

  test('a developer does not', async () => {
    const developer: Principal = { ...owner, scopes: ['write'] };
    expect((await world.failure(invite('x@example.com', 'viewer', developer))).code).toBe('insufficient_scope');
  });
});

describe('an invite into a tenant', () => {
  const shop: Binding = { orgId: 'acme', teamId: 'shop' };

  test('binds the account as a key is bound, also after it was sent again, and is on record with it', async () => {
    const first = await world.run(invite('dev@example.com', 'developer', owner, shop));
    const { invite: made, token } = await world.run(resendInvite(world.accounts, owner, first.invite.id, from));
    expect(made).toMatchObject(shop);
    expect((await world.run(accept(token))).account).toMatchObject({ ...shop, role: 'developer' });
    for (const type of ['InviteCreated', 'InviteAccepted']) {
      const entry = (await world.audit()).find(({ event_type: each }) => each === type);
      expect(entry?.payload).toMatchObject({ org_id: 'acme', team_id: 'shop', role: 'developer' });
    }
  });

  test('makes no owner, and no team without its org; the account becomes none later', async () => {
    for (const [role, binding] of [
      ['owner', shop],
      ['viewer', { teamId: 'shop' }],
    ] as const) {
      expect((await world.failure(invite('x@example.com', role, owner, binding))).code).toBe('invalid_argument');
    }
    const { token } = await world.run(invite('x@example.com', 'admin', owner, shop));
    const { account } = await world.run(accept(token));
    const promoted = changeAccount(world.accounts, owner, account.id, { role: 'owner' }, from);
    expect((await world.failure(promoted)).code).toBe('invalid_argument');
  });
});

describe('an admin of a tenant', () => {
  const acme: Binding = { orgId: 'acme', teamId: null };
  const shop: Binding = { orgId: 'acme', teamId: 'shop' };

  async function adminOf(binding: Binding, email = 'admin@example.com') {
    const { token } = await world.run(invite(email, 'admin', owner, binding));
    return world.asPerson((await world.run(accept(token))).account);
  }

  test('invites into its tenant, which is the default, and no wider', async () => {
    const admin = await adminOf(acme);
    expect((await world.run(invite('a@example.com', 'viewer', admin))).invite).toMatchObject(acme);
    const narrower = await world.run(invite('b@example.com', 'admin', admin, { teamId: 'shop' }));
    expect(narrower.invite).toMatchObject(shop);
    expect((await world.run(accept(narrower.token))).account).toMatchObject(shop);
    const lead = await adminOf(shop, 'lead@example.com');
    expect((await world.run(invite('c@example.com', 'viewer', lead, { orgId: 'acme' }))).invite).toMatchObject(shop);
    for (const [by, binding] of [
      [admin, { orgId: 'other' }],
      [admin, { orgId: 'other', teamId: 'shop' }],
      [lead, { orgId: 'acme', teamId: 'other' }],
      [lead, { teamId: 'other' }],
    ] as const) {
      expect((await world.failure(invite('x@example.com', 'viewer', by, binding))).code).toBe('tenant_bound');
    }
  });

  test('makes no owner, not even as one whom the provider of a sign-on has bound', async () => {
    const admin = await adminOf(acme);
    expect((await world.failure(invite('x@example.com', 'owner', admin))).code).toBe('owner_required');
    const bound: Principal = { ...owner, ...acme };
    expect((await world.failure(invite('x@example.com', 'owner', bound))).code).toBe('invalid_argument');
  });

  test('sees, sends again and revokes the invites into its tenant, and no others', async () => {
    const admin = await adminOf(acme);
    const inside = await world.run(invite('in@example.com', 'viewer', admin, shop));
    const outside = await world.run(invite('out@example.com', 'viewer', owner, { orgId: 'other' }));
    await world.run(invite('free@example.com', 'viewer'));
    const seen = await world.run(listInvites(world.accounts, admin, null, 50));
    expect([seen.items.map(({ email }) => email), seen.total]).toEqual([['in@example.com'], 1]);
    for (const act of [resendInvite, revokeInvite]) {
      expect((await world.failure(act(world.accounts, admin, outside.invite.id, from))).code).toBe('invite_not_found');
    }
    const again = await world.run(resendInvite(world.accounts, admin, inside.invite.id, from));
    expect(again.invite).toMatchObject(shop);
    await world.run(revokeInvite(world.accounts, admin, again.invite.id, from));
  });

  test('takes no invite from a wider credential: it neither revokes, nor replaces, nor gets the token of it', async () => {
    const admin = await adminOf(acme);
    const lead = await adminOf(shop, 'lead@example.com');
    const byOwner = await world.run(invite('boss@example.com', 'admin', owner, shop));
    const byAdmin = await world.run(invite('dev@example.com', 'viewer', admin, shop));
    for (const [by, { invite: made }] of [
      [admin, byOwner],
      [lead, byOwner],
      [lead, byAdmin],
    ] as const) {
      for (const act of [
        () => resendInvite(world.accounts, by, made.id, from),
        () => revokeInvite(world.accounts, by, made.id, from),
        () => invite(made.email, 'viewer', by),
      ]) {
        expect((await world.failure(act())).code).toBe('imposed_by_wider');
      }
    }
    await world.run(accept(byOwner.token));
    await world.run(revokeInvite(world.accounts, owner, byAdmin.invite.id, from));
    world.clock.advance(604_800_000);
    await world.run(invite('dev@example.com', 'viewer', world.asPerson((await adminAgain(lead)).account)));
  });

  /** Sessions end within seven days, too. */
  async function adminAgain({ actor }: Principal) {
    return world.run(logIn(world.accounts, { email: actor.label, password: goodPassword, rememberMe: false }, from));
  }

  test('gets one answer for an email of others: of an account, whatever its status, or of an invite', async () => {
    const admin = await adminOf(acme);
    const { token } = await world.run(invite('gone@example.com', 'viewer', owner, acme));
    const { account } = await world.run(accept(token));
    await world.run(changeAccount(world.accounts, owner, account.id, { status: 'disabled' }, from));
    await world.run(invite('asked@example.com', 'viewer', owner, { orgId: 'other' }));
    await world.run(invite('asked-for-all@example.com', 'viewer'));
    const answers = [];
    for (const name of ['owner', 'gone', 'asked', 'asked-for-all']) {
      const error = await world.failure(invite(`${name}@example.com`, 'viewer', admin));
      answers.push([error.code, error instanceof Error ? error.message : '', error.facts]);
    }
    expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(answers[0]?.[0]).toBe('tenant_bound');
  });

  test('brings nobody back, not by an invite from before the account was made and disabled either', async () => {
    const admin = await adminOf(acme);
    const { access } = world.accounts;
    const key = { label: 'ci', scopes: ['admin'] as const, ...acme, ttlMs: null };
    const { record } = await world.run(createKey(access, operator, key));
    const byAccount = await world.run(invite('late@example.com', 'viewer', admin));
    const byKey = await world.run(
      invite('later@example.com', 'viewer', { ...operator, ...acme, credentialId: record.id }),
    );
    const late = sampleAccount('late', { email: 'late@example.com', emailKey: 'late@example.com', status: 'disabled' });
    await world.accounts.store.transaction([], async (rows) => {
      await rows.saveAccount(late);
      await rows.saveAccount({ ...late, id: 'later', email: 'later@example.com', emailKey: 'later@example.com' });
    });
    for (const { token } of [byAccount, byKey]) {
      expect((await world.failure(accept(token))).code).toBe('invalid_token');
    }
  });

  test('has invited for as long as it is an admin there', async () => {
    const admin = await adminOf(acme);
    const { token } = await world.run(invite('dev@example.com', 'viewer', admin));
    const change = (members: Partial<Account>) =>
      world.accounts.store.transaction([], async (rows) => {
        const account = await rows.account(admin.credentialId);
        if (account !== undefined) await rows.saveAccount({ ...account, ...members });
      });
    for (const elsewhere of [{ orgId: 'other' }, shop, { role: 'developer' }, { status: 'disabled' }] as const) {
      await change({ ...acme, role: 'admin', status: 'active', ...elsewhere });
      expect((await world.failure(accept(token))).code).toBe('invalid_token');
    }
    await change({ ...acme, role: 'admin', status: 'active' });
    expect((await world.run(accept(token))).account).toMatchObject(acme);
  });

  test('that is a key has invited for as long as the key, or one that it was rotated to, is in force', async () => {
    const { access } = world.accounts;
    const key = { label: 'ci', scopes: ['admin'] as const, ...acme, ttlMs: null };
    const { record } = await world.run(createKey(access, operator, key));
    const asKey: Principal = { ...operator, ...acme, credentialId: record.id };
    const one = await world.run(invite('one@example.com', 'viewer', asKey));
    const two = await world.run(invite('two@example.com', 'viewer', asKey));
    const rotated = await world.run(rotateKey(access, asKey, record.id));
    expect((await world.run(accept(one.token))).account).toMatchObject(acme);
    await world.run(revokeKey(access, operator, rotated.record.id));
    await world.run(revokeKey(access, operator, record.id).catch(() => undefined));
    expect((await world.failure(accept(two.token))).code).toBe('invalid_token');
  });
});

describe('an invite to an address that has an account', () => {
  const change = (by: Principal, id: string, members: Parameters<typeof changeAccount>[3]) =>
    world.run(changeAccount(world.accounts, by, id, members, from));

  /** Adds another owner by an invite of the first. */
  async function second(role: Role = 'owner', email = 'second@example.com') {
    const { token } = await world.run(invite(email, role));
    return (await world.run(accept(token))).account;
  }

  test('needs what changing that account needs: only an owner brings an owner back', async () => {
    const boss = await second();
    const admin = world.asPerson(await second('admin', 'admin@example.com'));
    await change(owner, boss.id, { status: 'disabled' });
    for (const by of [admin, operator]) {
      for (const role of ['viewer', 'admin'] as const) {
        expect((await world.failure(invite('Second@example.com', role, by))).code).toBe('owner_required');
      }
    }
    const { invite: made, token } = await world.run(invite('second@example.com', 'viewer'));
    expect((await world.failure(resendInvite(world.accounts, admin, made.id, from))).code).toBe('owner_required');
    expect((await world.run(accept(token))).account).toMatchObject({ id: boss.id, role: 'viewer', status: 'active' });
  });

  test('does not bring back one that has become an owner since, unless an owner made it', async () => {
    const boss = await second('developer');
    const admin = world.asPerson(await second('admin', 'admin@example.com'));
    await change(owner, boss.id, { status: 'disabled' });
    const byAdmin = await world.run(invite('second@example.com', 'developer', admin));
    await change(owner, boss.id, { role: 'owner' });
    expect((await world.failure(accept(byAdmin.token))).code).toBe('invalid_token');
    // The invite stays invalid if its maker becomes an owner: the maker was none at the time.
    await change(owner, admin.credentialId, { role: 'owner' });
    expect((await world.failure(accept(byAdmin.token))).code).toBe('invalid_token');
    const byOwner = await world.run(invite('second@example.com', 'developer'));
    expect((await world.run(accept(byOwner.token))).account.id).toBe(boss.id);
  });

  test('from before it was noted who made it brings no owner back', async () => {
    const boss = await second();
    await change(owner, boss.id, { status: 'disabled' });
    const { invite: made, token } = await world.run(invite('second@example.com', 'developer'));
    await world.accounts.store.transaction([], (rows) => rows.saveInvite({ ...made, madeBy: null, asOwner: false }));
    expect((await world.failure(accept(token))).code).toBe('invalid_token');
  });

  test('made by an owner who is one no longer makes no owner and brings none back', async () => {
    const boss = world.asPerson(await second());
    const fresh = await world.run(invite('fresh@example.com', 'owner', boss));
    const plain = await world.run(invite('plain@example.com', 'viewer', boss));
    await change(owner, boss.credentialId, { role: 'admin' });
    expect((await world.failure(accept(fresh.token))).code).toBe('invalid_token');
    expect((await world.run(accept(plain.token))).account.role).toBe('viewer');
  });
});

describe('an invite of a disabled account', () => {
  test('does not work until the account is active again, and so with what its keys have made', async () => {
    const { token } = await world.run(invite('admin@example.com', 'admin'));
    const admin = world.asPerson((await world.run(accept(token))).account);
    const { access } = world.accounts;
    const grant = { label: 'ci', scopes: ['admin'] as const, orgId: null, teamId: null, ttlMs: null };
    const mother = (await world.run(createKey(access, admin, grant))).record;
    const asKey = (id: string): Principal => ({ ...operator, credentialId: id });
    const daughter = (await world.run(createKey(access, asKey(mother.id), grant))).record;
    const invites = [
      await world.run(invite('one@example.com', 'viewer', admin)),
      await world.run(invite('two@example.com', 'viewer', asKey(daughter.id))),
    ];
    const change = (status: 'active' | 'disabled') =>
      world.run(changeAccount(world.accounts, owner, admin.credentialId, { status }, from));
    await change('disabled');
    for (const made of invites) expect((await world.failure(accept(made.token))).code).toBe('invalid_token');
    await change('active');
    for (const made of invites) expect((await world.run(accept(made.token))).account.role).toBe('viewer');
  });
});
