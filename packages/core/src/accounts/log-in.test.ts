import { beforeEach, describe, expect, test } from 'vitest';
import type { TestAccounts } from '../testkit/test-accounts.ts';
import { from, goodPassword, testAccounts } from '../testkit/test-accounts.ts';
import { operator } from '../testkit/requests.ts';
import { changeAccount } from './manage-accounts.ts';
import { logIn } from './log-in.ts';
import { register } from './register.ts';

let world: TestAccounts;

beforeEach(async () => {
  world = await testAccounts();
  await world.owner();
});

const attempt = (password: string, email = 'owner@example.com', rememberMe = false) =>
  logIn(world.accounts, { email, password, rememberMe }, from);
const wrong = (email?: string) => world.failure(attempt('not the password', email));

describe('logging in', () => {
  test('gives an access token for the account and a refresh token for twelve hours', async () => {
    const grant = await world.run(attempt(goodPassword));
    expect(grant.account).toMatchObject({ email: 'owner@example.com', role: 'owner' });
    expect([grant.expiresInSecs, grant.refreshTtlSecs]).toEqual([900, 43_200]);
    expect(grant.refreshToken).toMatch(/^rvr_/);
  });

  test('lasts thirty days with remember_me', async () => {
    const { refreshTtlSecs } = await world.run(attempt(goodPassword, 'owner@example.com', true));
    expect(refreshTtlSecs).toBe(2_592_000);
  });

  test.each(['OWNER@Example.COM', '  owner@example.com ', 'ｏwner@example.com'])(
    'takes the email as %s',
    async (email) => {
      expect((await world.run(attempt(goodPassword, email))).account.email).toBe('owner@example.com');
    },
  );

  test('refuses an unknown email exactly like a wrong password, having verified as much', async () => {
    const known = await wrong();
    const unknown = await wrong('nobody@example.com');
    expect(unknown).toEqual(known);
    expect(known.code).toBe('wrong_credentials');
    expect(world.hasher.verified).toHaveLength(2);
  });

  test('refuses a disabled account like a wrong password', async () => {
    const open = await testAccounts({ openRegistration: true });
    world = open;
    await open.owner();
    const { account } = await open.run(
      register(open.accounts, { email: 'dev@example.com', password: goodPassword, name: '' }, from),
    );
    await open.run(changeAccount(open.accounts, operator, account.id, { status: 'disabled' }, from));
    expect((await open.failure(attempt(goodPassword, 'dev@example.com'))).code).toBe('wrong_credentials');
    expect(open.hasher.verified).toEqual([`now:${goodPassword}`]);
  });

  test('hashes anew what was hashed with other parameters', async () => {
    const { store } = world.accounts;
    const before = await store.transaction([], async (rows) => {
      const account = await rows.accountByEmail('owner@example.com');
      if (account === undefined) throw new Error('there is no owner');
      await rows.saveAccount({ ...account, passwordHash: `then:${goodPassword}` });
      return account;
    });
    await world.run(attempt(goodPassword));
    const after = await store.read((rows) => rows.account(before.id));
    expect(after?.passwordHash).toBe(`now:${goodPassword}`);
  });
});

describe('a lock', () => {
  async function lock(email?: string): Promise<void> {
    for (let failures = 0; failures < 5; failures++) expect((await wrong(email)).code).toBe('wrong_credentials');
  }

  test.each(['owner@example.com', 'nobody@example.com'])(
    'follows five failures under %s and says for how long',
    async (email) => {
      await lock(email);
      const refused = await wrong(email);
      expect(refused).toMatchObject({ code: 'account_locked', facts: { retry_after_secs: 900 } });
    },
  );

  test('keeps the right password out, too', async () => {
    await lock();
    expect((await world.failure(attempt(goodPassword))).code).toBe('account_locked');
  });

  test('is not made longer by attempts, ends by itself and clears the count', async () => {
    await lock();
    world.clock.advance(899_000);
    expect(await wrong()).toMatchObject({ code: 'account_locked', facts: { retry_after_secs: 1 } });
    world.clock.advance(1000);
    await lock();
    expect((await wrong()).code).toBe('account_locked');
  });

  test('is cleared of its count by a success', async () => {
    for (let round = 0; round < 3; round++) {
      for (let failures = 0; failures < 4; failures++) await wrong();
      await world.run(attempt(goodPassword));
    }
  });

  test('does not outlast a clock that was set back', async () => {
    await lock();
    world.clock.setWallClock(-86_400_000);
    await world.run(attempt(goodPassword));
  });

  test('comes after exactly five of fifty at once', async () => {
    const outcomes = await world.run(
      Promise.all(
        Array.from({ length: 50 }, () => attempt('not the password').catch((error: { code: string }) => error.code)),
      ),
    );
    expect(outcomes.filter((code) => code === 'wrong_credentials')).toHaveLength(5);
    expect(outcomes.filter((code) => code === 'account_locked')).toHaveLength(45);
  });

  test('does not come of fifty right passwords at once', async () => {
    await world.run(Promise.all(Array.from({ length: 50 }, () => attempt(goodPassword))));
  });
});

test('every attempt is on record with the address, and none with the password or an unknown email', async () => {
  for (let failures = 0; failures < 5; failures++) await wrong('nobody@example.com');
  await wrong('nobody@example.com');
  await world.run(attempt(goodPassword));
  const entries = await world.audit();
  expect(entries.map((entry) => entry.event_type)).toEqual([
    'SigningKeyRotated',
    'AccountRegistered',
    ...Array.from({ length: 5 }, () => 'LoginFailed'),
    'AccountLocked',
    'LoginFailed',
    'LoginSucceeded',
  ]);
  expect(entries.at(-1)?.payload).toMatchObject({ address: '192.0.2.7', request_id: 'r1', remember_me: false });
  expect(entries.at(-1)?.actor).toMatchObject({ kind: 'account', label: 'owner@example.com' });
  const text = JSON.stringify(entries);
  expect(text).not.toContain('not the password');
  expect(text).not.toContain(goodPassword);
  expect(text).not.toContain('nobody@example.com');
});
