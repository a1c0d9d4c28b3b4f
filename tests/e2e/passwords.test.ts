import { argon2Sync } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestGateway } from '../harness/gateway.ts';
import { password, Person } from '../harness/person.ts';

const env = { SVC_RATE_LIMIT_AUTH_PER_MIN: '0', SVC_LOCKOUT_ATTEMPTS: '1000', SVC_AUTH_OPEN_REGISTRATION: 'true' };

describe('a new password', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await TestGateway.start({ env, fromSources: true });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());
  let people = 0;
  const register = (given: string) =>
    new Person(gateway).register(`person${++people}@example.com`, { password: given });

  test.each([
    ['e with an accent, as one', 'é'],
    ['e with an accent, as two', 'e\u0301'],
    ['an emoji', '🦊'],
    ['Chinese beyond the first plane', '𠮷'],
  ])('has 12 to 256 characters, as Unicode composes them: %s', async (_, character) => {
    const answers = [];
    for (const length of [11, 12, 256, 257]) answers.push(await register(character.repeat(length)));
    expect(answers.map(({ status }) => status)).toEqual([422, 201, 201, 422]);
    expect(answers[0]?.body).toMatchObject({
      code: 'weak_password',
      detail: 'password: must have at least 12 characters; this one has 11',
      errors: [{ pointer: '/password' }],
    });
    expect(answers[3]?.body).toMatchObject({
      code: 'weak_password',
      detail: 'password: must have at most 256 characters',
    });
  });

  test.each(['password1234', 'PASSWORD1234', 'P4$$w0rd1234', '123456789012', 'qwertyuiop12', 'passwordpassword'])(
    'is not one that everybody tries: %s',
    async (given) => {
      const { status, body, text } = await register(given);
      expect([status, body.code]).toEqual([422, 'weak_password']);
      expect(body.detail).toContain('four or five unrelated words');
      expect(text).not.toContain(given);
    },
  );

  test('is not the email', async () => {
    const { status, body } = await new Person(gateway).register('some.body.else@example.com', {
      password: 'Some.Body.Else@example.com',
    });
    expect([status, body.code]).toEqual([422, 'weak_password']);
  });

  test('is text: half of an emoji is refused, not replaced', async () => {
    const { status, body } = await gateway.api.send<{ code: string }>('POST', '/api/v1/auth/register', {
      headers: { 'content-type': 'application/json' },
      body: '{"email":"half@example.com","password":"a long enough one \\ud83e"}',
    });
    expect([status, body.code]).toEqual([422, 'weak_password']);
  });

  test('logs in however its accents are typed, and in no other case', async () => {
    const email = `person${++people}@example.com`;
    const given = 'sept élèves naïfs';
    expect((await new Person(gateway).register(email, { password: given.normalize('NFD') })).status).toBe(201);
    for (const [typed, status] of [
      [given.normalize('NFC'), 200],
      [given.normalize('NFD'), 200],
      [given.toUpperCase(), 401],
      [`${given} `, 401],
      ['sept eleves naifs', 401],
    ] as const) {
      expect((await new Person(gateway).logIn(email, { password: typed })).status).toBe(status);
    }
  });

  test('of half a megabyte is refused, and is a wrong one at login', async () => {
    const email = `person${++people}@example.com`;
    await new Person(gateway).register(email);
    for (const long of ['x'.repeat(500_000), `a${'\u0301\u0327'.repeat(80_000)}`]) {
      expect((await register(long)).status).toBe(422);
      expect((await new Person(gateway).logIn(email, { password: long })).status).toBe(401);
    }
  });
});

test('a hash with other parameters than today’s is made anew at the next login that succeeds', async () => {
  // The embedded store, because the test writes to its file.
  const embedded = { ...env, SVC_DATABASE_URL: '' };
  const first = await TestGateway.start({ env: embedded });
  await new Person(first).register('owner@example.com');
  await first.kill('SIGTERM');
  const salt = Buffer.from('0123456789abcdef');
  const weaker = { message: password, nonce: salt, parallelism: 1, tagLength: 32, memory: 8192, passes: 1 };
  const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  const old = `$argon2id$v=19$m=8192,t=1,p=1$${unpadded(salt)}$${unpadded(argon2Sync('argon2id', weaker))}`;
  expect(replaceHash(first.folder, old)).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);

  await using gateway = await TestGateway.start({ env: embedded, folder: first.folder });
  expect((await new Person(gateway).logIn('owner@example.com', { password: `not ${password}` })).status).toBe(401);
  expect(hashIn(gateway.folder)).toBe(old);
  expect((await new Person(gateway).logIn('owner@example.com')).status).toBe(200);
  const renewed = hashIn(gateway.folder);
  expect(renewed).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect((await new Person(gateway).logIn('owner@example.com')).status).toBe(200);
  expect(hashIn(gateway.folder)).toBe(renewed);
});

function hashIn(folder: string): string {
  const db = new DatabaseSync(join(folder, 'reeve.db'), { readOnly: true });
  try {
    return String(db.prepare('SELECT password_hash FROM accounts').get()?.['password_hash']);
  } finally {
    db.close();
  }
}

/** Returns the former hash. */
function replaceHash(folder: string, hash: string): string {
  const before = hashIn(folder);
  const db = new DatabaseSync(join(folder, 'reeve.db'));
  db.prepare('UPDATE accounts SET password_hash = ?').run(hash);
  db.close();
  return before;
}
