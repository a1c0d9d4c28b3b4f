import { expect, test } from 'vitest';
import { Authenticator } from '../access/authenticator.ts';
import { makeSigningKey } from '../access/manage-keys.ts';
import { SigningKeyRing } from '../access/signing-key.ts';
import { from, testAccounts } from '../testkit/test-accounts.ts';
import { operator } from '../testkit/requests.ts';
import { createInvite, listInvites } from './invites.ts';
import { recordRestore } from './record-restore.ts';
import { findLoginIn, findRolesIn } from './find-people.ts';
import { refresh } from './refresh.ts';

const head = { seq: 7, hash: 'f'.repeat(64) };

test('a restore ends sessions, tokens and invites, and is on record with what it ended', async () => {
  const world = await testAccounts();
  const { accounts } = world;
  const { access } = accounts;
  const grant = await world.owner();
  await world.run(createInvite(accounts, operator, { email: 'bob@example.com', role: 'viewer' }, from));
  await world.run(makeSigningKey(access));
  const findLogin = findLoginIn(accounts.store, access.clock, accounts.settings);
  const people = { findLogin, findRoles: findRolesIn(accounts.store) };
  const authenticate = (token: string) => new Authenticator(access, people).authenticate(`Bearer ${token}`);
  expect(await authenticate(grant.accessToken)).toMatchObject({ login: { accountId: grant.account.id } });

  const before = access.signingKeys.all();
  await world.run(recordRestore(accounts, { backupAt: 1000, restoredAt: 2000, head }));

  await expect(authenticate(grant.accessToken)).rejects.toThrow('not valid');
  expect((await world.failure(refresh(accounts, grant.refreshToken, from))).code).toBe('session_ended');
  expect((await world.run(listInvites(accounts, operator, null, 10))).total).toBe(0);
  expect((await world.audit()).at(-1)).toMatchObject({
    event_type: 'BackupRestored',
    payload: {
      backup_at: '1970-01-01T00:00:01.000Z',
      head_seq: 7,
      restored_at: '1970-01-01T00:00:02.000Z',
      sessions_ended: 1,
      invites_removed: 1,
      kid: access.signingKeys.current?.kid,
    },
  });
  // What earlier keys have signed in the log still verifies.
  expect(access.signingKeys.all().filter(({ privateJwk }) => privateJwk === '')).toHaveLength(before.length);
  expect(before.map(({ kid }) => kid)).not.toContain(access.signingKeys.current?.kid);
});

test('the key that signs has its private half, even if the clock was set back before it was made', () => {
  const key = { publicJwk: '{}', privateJwk: 'private' };
  const ring = new SigningKeyRing([
    { ...key, kid: 'new', createdAt: 1 },
    { ...key, kid: 'old', createdAt: 2, privateJwk: '' },
  ]);
  expect(ring.current?.kid).toBe('new');
  expect([ring.findForTokens('new')?.kid, ring.findForTokens('old')]).toEqual(['new', undefined]);
});
