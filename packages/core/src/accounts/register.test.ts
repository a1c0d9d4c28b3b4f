import { describe, expect, test } from 'vitest';
import { from, goodPassword, testAccounts } from '../testkit/test-accounts.ts';
import { register } from './register.ts';

const person = (email: string, password = goodPassword) => ({ email, password, name: '' });

describe('the first account', () => {
  test('becomes the owner; after it registration is closed', async () => {
    const world = await testAccounts();
    expect((await world.owner()).account).toMatchObject({ role: 'owner', status: 'active', name: 'Olga' });
    const refused = await world.failure(register(world.accounts, person('next@example.com'), from));
    expect(refused.code).toBe('registration_closed');
  });

  test('is one, however many register at once', async () => {
    const world = await testAccounts();
    const outcomes = await world.run(
      Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          register(world.accounts, person(`p${index}@example.com`), from).then(
            ({ account }) => account.role as string,
            (error: { code: string }) => error.code,
          ),
        ),
      ),
    );
    expect(outcomes.filter((role) => role === 'owner')).toHaveLength(1);
    expect(outcomes.filter((code) => code === 'registration_closed')).toHaveLength(19);
  });
});

describe('open registration', () => {
  test('makes developers', async () => {
    const world = await testAccounts({ openRegistration: true });
    await world.owner();
    const { account } = await world.run(register(world.accounts, person('dev@example.com'), from));
    expect(account.role).toBe('developer');
  });

  test('takes an email once, in whatever case', async () => {
    const world = await testAccounts({ openRegistration: true });
    await world.owner();
    const again = await world.failure(register(world.accounts, person('OWNER@example.com'), from));
    expect(again.code).toBe('email_taken');
  });

  test('makes one account of twenty registrations of one email at once', async () => {
    const world = await testAccounts({ openRegistration: true });
    const outcomes = await world.run(
      Promise.all(
        Array.from({ length: 20 }, () =>
          register(world.accounts, person('same@example.com'), from).then(
            () => 'made',
            (error: { code: string }) => error.code,
          ),
        ),
      ),
    );
    expect(outcomes.toSorted()).toEqual([...Array.from({ length: 19 }, () => 'email_taken'), 'made']);
  });
});

test('a weak password is answered before anything else, and nothing is hashed', async () => {
  const world = await testAccounts();
  await world.owner();
  const refused = await world.failure(register(world.accounts, person('x@example.com', 'eleven char'), from));
  expect(refused.code).toBe('weak_password');
});

test.each([
  '',
  'nobody',
  'a@',
  '@b',
  'a b@example.com',
  'a@exa mple.com',
  'a@-x.com',
  `${'x'.repeat(300)}@example.com`,
  'a\n@b.com',
])('%j is not an email', async (email) => {
  const world = await testAccounts();
  expect(await world.failure(register(world.accounts, person(email), from))).toMatchObject({
    code: 'invalid_argument',
    facts: { field: 'email' },
  });
});

test.each([
  'a+tag@example.com',
  "o'brien@example.co.uk",
  'grüße@bücher.example',
  'A@localhost',
  'x_y-z.1@sub.example.com',
])('%s is an email', async (email) => {
  const world = await testAccounts();
  const { account } = await world.run(register(world.accounts, person(email), from));
  expect(account.email).toBe(email);
});

test('no secret stands in the log', async () => {
  const world = await testAccounts();
  const { refreshToken, accessToken } = await world.owner();
  const text = JSON.stringify(await world.audit());
  for (const secret of [goodPassword, refreshToken, accessToken]) expect(text).not.toContain(secret);
});
