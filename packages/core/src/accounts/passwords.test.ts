import { beforeEach, describe, expect, test } from 'vitest';
import type { Person } from '../access/principal.ts';
import type { TestAccounts } from '../testkit/test-accounts.ts';
import { from, goodPassword, testAccounts } from '../testkit/test-accounts.ts';
import { logIn } from './log-in.ts';
import { changePassword } from './passwords.ts';

let world: TestAccounts;
let owner: Person;

beforeEach(async () => {
  world = await testAccounts();
  owner = world.asPerson((await world.owner()).account);
});

const change = (currentPassword: string) =>
  changePassword(world.accounts, owner, { currentPassword, password: 'nine loud lanterns' }, from);
const login = (password: string) =>
  logIn(world.accounts, { email: 'owner@example.com', password, rememberMe: false }, from);

describe('a wrong current password', () => {
  test('counts towards the lock, which keeps the right one out here and at the login', async () => {
    for (let attempt = 1; attempt <= 5; attempt++)
      expect((await world.failure(change('wrong'))).code).toBe('wrong_password');
    expect((await world.failure(change(goodPassword))).code).toBe('account_locked');
    expect((await world.failure(login(goodPassword))).code).toBe('account_locked');
    world.clock.advance(900_000);
    await world.run(change(goodPassword));
    await world.run(login('nine loud lanterns'));
  });

  test('counts together with failed logins, whichever comes first', async () => {
    for (const attempt of [login, change, login, change, login]) {
      expect((await world.failure(attempt('wrong'))).code).toMatch(/^wrong_/);
    }
    expect((await world.failure(change(goodPassword))).code).toBe('account_locked');
  });

  test('locks after five of fifty at once, and is on record with who tried', async () => {
    const outcomes = await world.run(
      Promise.all(Array.from({ length: 50 }, () => change('wrong').catch((error: { code: string }) => error.code))),
    );
    expect(outcomes.filter((code) => code === 'wrong_password')).toHaveLength(5);
    expect(outcomes.filter((code) => code === 'account_locked')).toHaveLength(45);
    const entries = (await world.audit()).filter(({ event_type: type }) => /LoginFailed|AccountLocked/.test(type));
    expect(entries.filter(({ event_type: type }) => type === 'AccountLocked')).toHaveLength(1);
    expect(entries[0]).toMatchObject({ reason: 'wrong current password', actor: { id: owner.credentialId } });
  });

  test('is forgotten with a success', async () => {
    for (let attempt = 1; attempt <= 4; attempt++) await world.failure(change('wrong'));
    await world.run(change(goodPassword));
    for (let attempt = 1; attempt <= 4; attempt++)
      expect((await world.failure(login('wrong'))).code).toBe('wrong_credentials');
    await world.run(login('nine loud lanterns'));
  });
});
