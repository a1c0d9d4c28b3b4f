import { beforeEach, describe, expect, test } from 'vitest';
import type { Letter } from '../mail/mailer.ts';
import { MailError } from '../mail/mailer.ts';
import type { TestAccounts } from '../testkit/test-accounts.ts';
import { from, goodPassword, testAccounts } from '../testkit/test-accounts.ts';
import { acceptInvite } from './accept-invite.ts';
import { createInvite, revokeInvite } from './invites.ts';
import type { Account } from './account.ts';
import type { FailedLetter, PostOffice } from './deliver-mail.ts';
import { deliverMail } from './deliver-mail.ts';
import { logIn } from './log-in.ts';
import { confirmReset, requestReset } from './passwords.ts';

let world: TestAccounts;
let owner: Account;
let office: PostOffice;
let sent: Letter[];
let failures: FailedLetter[];
let refusal: Error | undefined;

beforeEach(async () => {
  world = await testAccounts();
  owner = (await world.owner()).account;
  sent = [];
  failures = [];
  refusal = undefined;
  office = {
    accounts: world.accounts,
    mailer: {
      delivers: true,
      send: (letter) => {
        if (refusal !== undefined) return Promise.reject(refusal);
        sent.push(letter);
        return Promise.resolve();
      },
    },
    publicUrl: 'https://reeve.example',
    jitter: () => 0,
    onFailure: (failure) => failures.push(failure),
  };
});

const deliver = () => world.run(deliverMail(office));
const tokenIn = (letter: Letter | undefined) => /#token=([\w-]+)/.exec(letter?.text ?? '')?.[1] ?? '';
const askReset = (email = 'owner@example.com') => world.run(requestReset(world.accounts, email, from));
const confirm = (token: string, password = 'another quiet lamp') =>
  confirmReset(world.accounts, { token, password }, from);

describe('a reset', () => {
  test('goes by mail to the account, sets the password once, and ends sessions and locks', async () => {
    for (let count = 0; count < 5; count++) {
      await world.failure(logIn(world.accounts, { email: owner.email, password: 'wrong', rememberMe: false }, from));
    }
    await askReset('OWNER@example.com');
    await deliver();
    expect(sent.map(({ to }) => to)).toEqual(['owner@example.com']);
    expect(sent[0]?.text).toContain('https://reeve.example/reset#token=');
    const [session] = await world.accounts.store.read((rows) => rows.liveSessions(owner.id, world.clock.now()));
    await world.run(confirm(tokenIn(sent[0])));
    expect(world.ended).toEqual([session?.id]);
    await world.run(
      logIn(world.accounts, { email: owner.email, password: 'another quiet lamp', rememberMe: false }, from),
    );
    expect((await world.failure(confirm(tokenIn(sent[0])))).code).toBe('invalid_token');
  });

  test.each(['nobody@example.com', 'not an email', ''])('for %j sends nothing and says nothing', async (email) => {
    const before = (await world.audit()).length;
    await askReset(email);
    await deliver();
    expect(sent).toEqual([]);
    expect(await world.audit()).toHaveLength(before);
  });

  test('is over after its time, counted from when the letter left', async () => {
    await askReset();
    world.clock.advance(3_600_000);
    await deliver();
    world.clock.advance(3_599_999);
    expect((await world.failure(confirm(tokenIn(sent[0]), 'weak'))).code).toBe('weak_password');
    world.clock.advance(1);
    expect((await world.failure(confirm(tokenIn(sent[0])))).code).toBe('invalid_token');
  });

  test('by the token of an invite is refused, and the other way round', async () => {
    const { token } = await world.run(
      createInvite(world.accounts, world.asPerson(owner), { email: 'dev@example.com', role: 'viewer' }, from),
    );
    await askReset();
    await deliver();
    const letter = sent.find(({ to }) => to === owner.email);
    expect((await world.failure(confirm(token))).code).toBe('invalid_token');
    const acceptance = { token: tokenIn(letter), password: goodPassword, name: '' };
    expect((await world.failure(acceptInvite(world.accounts, acceptance, from))).code).toBe('invalid_token');
  });
});

describe('an invite', () => {
  const invite = () =>
    world.run(createInvite(world.accounts, world.asPerson(owner), { email: 'dev@example.com', role: 'viewer' }, from));

  test('is mailed with a token of its own; either token accepts it, and then neither does', async () => {
    const { token } = await invite();
    await deliver();
    const mailed = tokenIn(sent[0]);
    expect(mailed).not.toBe(token);
    await world.run(acceptInvite(world.accounts, { token: mailed, password: goodPassword, name: '' }, from));
    const again = { token, password: goodPassword, name: '' };
    expect((await world.failure(acceptInvite(world.accounts, again, from))).code).toBe('invalid_token');
  });

  test('that was revoked meanwhile is not mailed', async () => {
    const { invite: made } = await invite();
    await world.run(revokeInvite(world.accounts, world.asPerson(owner), made.id, from));
    await deliver();
    expect(sent).toEqual([]);
  });
});

describe('a letter that is not taken', () => {
  test('is tried again within fifteen seconds, then less and less often, and the last token works', async () => {
    await askReset();
    refusal = new MailError('451 try later', true);
    await deliver();
    expect(failures[0]?.retryInMs).toBeLessThanOrEqual(15_000);
    world.clock.advance(failures[0]?.retryInMs ?? 0);
    await deliver();
    expect(failures[1]?.retryInMs).toBeGreaterThan(failures[0]?.retryInMs ?? 0);
    refusal = undefined;
    await deliver();
    expect(sent).toEqual([]);
    world.clock.advance(failures[1]?.retryInMs ?? 0);
    await deliver();
    await deliver();
    expect(sent).toHaveLength(1);
    await world.run(confirm(tokenIn(sent[0])));
  });

  test('is given up at once where the relay says that it never will be', async () => {
    await askReset();
    refusal = new MailError('550 no such user', false);
    await deliver();
    refusal = undefined;
    world.clock.advance(3_600_000);
    await deliver();
    expect([sent, failures.map(({ retryInMs }) => retryInMs)]).toEqual([[], [null]]);
  });

  test('is left alone by another gateway while one is sending it, and taken up where that one died', async () => {
    await askReset();
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow = { ...office, mailer: { delivers: true, send: () => promise } };
    const sending = deliverMail(slow);
    await new Promise((next) => setImmediate(next));
    await deliver();
    expect(sent).toEqual([]);
    world.clock.advance(120_000);
    await deliver();
    expect(sent).toHaveLength(1);
    resolve();
    await world.run(sending);
  });
});

test('no token stands in the queue or in the log', async () => {
  await askReset();
  const queued = await world.accounts.store.read((rows) => rows.dueLetters(world.clock.now(), 10));
  await deliver();
  const token = tokenIn(sent[0]);
  expect(token).toMatch(/^rvp_/);
  expect(JSON.stringify([queued, await world.audit()])).not.toContain(token);
});
