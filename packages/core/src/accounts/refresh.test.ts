import { beforeEach, describe, expect, test } from 'vitest';
import type { TestAccounts } from '../testkit/test-accounts.ts';
import { from, goodPassword, testAccounts } from '../testkit/test-accounts.ts';
import { listSessions, logOut, revokeSession } from './sessions.ts';
import { findLoginIn } from './find-people.ts';
import { logIn } from './log-in.ts';
import type { SessionGrant } from './sessions.ts';
import { changePassword } from './passwords.ts';
import { refresh } from './refresh.ts';

let world: TestAccounts;
let grant: SessionGrant;

beforeEach(async () => {
  world = await testAccounts();
  grant = await world.owner();
});

const renew = (token: string | undefined) => refresh(world.accounts, token, from);
const sessions = () => world.run(listSessions(world.accounts, world.asPerson(grant.account, 'any')));
const login = (rememberMe = false) =>
  world.run(logIn(world.accounts, { email: 'owner@example.com', password: goodPassword, rememberMe }, from));

describe('a refresh token', () => {
  test('is exchanged for the next one of the same session', async () => {
    const [before] = await sessions();
    const next = await world.run(renew(grant.refreshToken));
    expect(next.refreshToken).not.toBe(grant.refreshToken);
    expect((await sessions()).map(({ id }) => id)).toEqual([before?.id]);
    await world.run(renew(next.refreshToken));
  });

  test('that comes again within ten seconds has lost a race, and the session goes on', async () => {
    const next = await world.run(renew(grant.refreshToken));
    world.clock.advance(10_000);
    expect((await world.failure(renew(grant.refreshToken))).code).toBe('refresh_raced');
    await world.run(renew(next.refreshToken));
  });

  test('that comes again later was stolen: the whole session ends, and that is on record', async () => {
    const [session] = await sessions();
    const next = await world.run(renew(grant.refreshToken));
    world.clock.advance(10_001);
    expect((await world.failure(renew(grant.refreshToken))).code).toBe('session_ended');
    expect((await world.failure(renew(next.refreshToken))).code).toBe('session_ended');
    expect(world.ended).toEqual([session?.id]);
    const reused = (await world.audit()).filter((entry) => entry.event_type === 'RefreshTokenReused');
    expect(reused).toHaveLength(1);
    expect(JSON.stringify(reused)).not.toContain(grant.refreshToken);
  });

  test.each([1, 5])('that is %i rotations old ends the session just the same', async (rotations) => {
    let token = grant.refreshToken;
    for (let turn = 0; turn < rotations; turn++) ({ refreshToken: token } = await world.run(renew(token)));
    world.clock.advance(60_000);
    expect((await world.failure(renew(grant.refreshToken))).code).toBe('session_ended');
    expect((await world.failure(renew(token))).code).toBe('session_ended');
  });

  test('of twenty at once makes one winner; the others have lost a race', async () => {
    const outcomes = await world.run(
      Promise.all(
        Array.from({ length: 20 }, () =>
          renew(grant.refreshToken).then(
            () => 'renewed',
            (error: { code: string }) => error.code,
          ),
        ),
      ),
    );
    expect(outcomes.toSorted()).toEqual([...Array.from({ length: 19 }, () => 'refresh_raced'), 'renewed']);
  });

  test('lives for as long as it is refreshed, and remember_me survives that', async () => {
    let remembered = await login(true);
    let plain = await login(false);
    for (let day = 0; day < 3; day++) {
      world.clock.advance(11 * 3_600_000);
      plain = await world.run(renew(plain.refreshToken));
      world.clock.advance(29 * 86_400_000);
      remembered = await world.run(renew(remembered.refreshToken));
      expect(remembered.refreshTtlSecs).toBe(2_592_000);
      plain = await login(false);
    }
    world.clock.advance(12 * 3_600_000);
    expect((await world.failure(renew(plain.refreshToken))).code).toBe('session_ended');
  });

  test.each([undefined, '', 'rvr_x', 'rvi_other'])('that is %o opens nothing', async (token) => {
    expect((await world.failure(renew(token))).code).toBe('session_ended');
  });

  test('that was rotated before the clock was set back has lost a race, and logs nobody out', async () => {
    const next = await world.run(renew(grant.refreshToken));
    world.clock.setWallClock(-3_600_000);
    expect((await world.failure(renew(grant.refreshToken))).code).toBe('refresh_raced');
    await world.run(renew(next.refreshToken));
  });
});

describe('a session', () => {
  const isLoggedIn = async (id: string) => {
    const { store, settings } = world.accounts;
    return (await findLoginIn(store, world.clock, settings)(id)) !== undefined;
  };

  test('ends by logging out, with its access tokens; logging out again changes nothing', async () => {
    const [session] = await sessions();
    expect(await isLoggedIn(session?.id ?? '')).toBe(true);
    await world.run(logOut(world.accounts, grant.refreshToken, from));
    await world.run(logOut(world.accounts, grant.refreshToken, from));
    await world.run(logOut(world.accounts, undefined, from));
    expect(await isLoggedIn(session?.id ?? '')).toBe(false);
    expect(world.ended).toEqual([session?.id]);
    expect((await world.audit()).filter((entry) => entry.event_type === 'SessionEnded')).toHaveLength(1);
  });

  test('is ended by its owner alone, who sees those that are open', async () => {
    world.clock.advance(1);
    const other = await login();
    const [newest, first] = await sessions();
    expect(newest?.address).toBe('192.0.2.7');
    const stranger = {
      ...world.asPerson(grant.account, 's'),
      login: { accountId: 'acc_x', sessionId: 's', role: 'owner' as const },
    };
    expect((await world.failure(revokeSession(world.accounts, stranger, first?.id ?? '', from))).code).toBe(
      'session_not_found',
    );
    await world.run(revokeSession(world.accounts, world.asPerson(grant.account, newest?.id), first?.id ?? '', from));
    expect((await sessions()).map(({ id }) => id)).toEqual([newest?.id]);
    await world.run(renew(other.refreshToken));
    expect((await world.failure(renew(grant.refreshToken))).code).toBe('session_ended');
    expect(
      (
        await world.failure(
          revokeSession(world.accounts, world.asPerson(grant.account, newest?.id), first?.id ?? '', from),
        )
      ).code,
    ).toBe('session_not_found');
  });

  test('ends with a change of the password, wherever it is open', async () => {
    const other = await login();
    const by = world.asPerson(grant.account, (await sessions())[0]?.id);
    const change = (currentPassword: string) =>
      changePassword(world.accounts, by, { currentPassword, password: 'another quiet lamp' }, from);
    expect((await world.failure(change('a wrong password'))).code).toBe('wrong_password');
    expect(await sessions()).toHaveLength(2);
    await world.run(change(goodPassword));
    expect(await sessions()).toEqual([]);
    expect((await world.failure(renew(other.refreshToken))).code).toBe('session_ended');
  });
});
