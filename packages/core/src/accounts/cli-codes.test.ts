import { beforeEach, expect, test } from 'vitest';
import type { TestAccounts } from '../testkit/test-accounts.ts';
import { from, testAccounts } from '../testkit/test-accounts.ts';
import { makeCliCode, openCliSession } from './cli-codes.ts';
import { refresh } from './refresh.ts';
import { logOut } from './sessions.ts';

const verifier = 'what only the command knows';

let world: TestAccounts;
let refreshToken: string;
let ask: (refreshToken: string | undefined) => ReturnType<typeof makeCliCode>;
beforeEach(async () => {
  world = await testAccounts();
  const { account, refreshToken: token } = await world.owner();
  refreshToken = token;
  const [session] = await world.accounts.store.read((rows) => rows.liveSessions(account.id, world.clock.now()));
  const challenge = world.accounts.access.sha256(verifier);
  ask = (given) => makeCliCode(world.accounts, world.asPerson(account, session?.id), challenge, given);
});
const make = async () => (await world.run(ask(refreshToken))).code;

const open = (code: string, proof = verifier) => openCliSession(world.accounts, { code, verifier: proof }, from);
const refusal = async (code: string, proof?: string) => (await world.failure(open(code, proof))).code;

test('a code opens one session of its own, once', async () => {
  const code = await make();
  const grant = await world.run(open(code));
  expect(grant.account.email).toBe('owner@example.com');
  expect(grant.refreshToken).not.toBe(refreshToken);
  expect(await refusal(code)).toBe('invalid_token');
  expect((await world.audit()).at(-1)).toMatchObject({ event_type: 'LoginSucceeded', payload: { method: 'cli' } });
});

test('a code is nothing without what it was made for', async () => {
  const code = await make();
  expect(await refusal(code, 'a guess')).toBe('invalid_token');
  expect(await refusal(refreshToken)).toBe('invalid_token');
  await world.run(open(code));
});

test('an access token alone makes no code: it must not outlive its few minutes', async () => {
  const other = await world.run(open(await make()));
  for (const given of [undefined, '', other.refreshToken]) {
    expect((await world.failure(ask(given))).code).toBe('session_ended');
  }
  await world.run(refresh(world.accounts, refreshToken, from));
  expect((await world.failure(ask(refreshToken))).code).toBe('session_ended');
});

test('of many at once one gets the session', async () => {
  const code = await make();
  const outcomes = await world.run(Promise.allSettled(Array.from({ length: 10 }, () => open(code))));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('a code ends after a minute, with the next one, and with the session of the browser', async () => {
  const first = await make();
  world.clock.advance(60_000);
  expect(await refusal(first)).toBe('invalid_token');
  const second = await make();
  const third = await make();
  expect(await refusal(second)).toBe('invalid_token');
  await world.run(logOut(world.accounts, refreshToken, from));
  expect(await refusal(third)).toBe('invalid_token');
});
