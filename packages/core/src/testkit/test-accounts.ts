import { expect } from 'vitest';
import type { Person } from '../access/principal.ts';
import { makeSigningKey } from '../access/manage-keys.ts';
import type { Account, Session } from '../accounts/account.ts';
import { scopesOfRole } from '../access/principal.ts';
import type { Accounts, AccountSettings, Origin, PasswordHasher } from '../accounts/accounts.ts';
import type { SessionGrant } from '../accounts/sessions.ts';
import { register } from '../accounts/register.ts';
import { MemoryAccountStore } from '../memory/memory-account-store.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import type { LoggedEntry } from './logged-entry.ts';
import type { ManualClock } from './manual-clock.ts';
import { plainMint } from './plain-mint.ts';
import { portsOf } from './ports-of.ts';
import { testGovernance } from './test-governance.ts';

export const from: Origin = { address: '192.0.2.7', userAgent: 'a browser', requestId: 'r1' };

export const goodPassword = 'seven quiet lamps';

/** Passwords that take no time to hash: the tests are about what happens around them. */
export function plainHasher(): PasswordHasher & { readonly verified: string[] } {
  const verified: string[] = [];
  return {
    decoy: 'now:nobody',
    verified,
    hash: (password) => Promise.resolve(`now:${password}`),
    verify: (password, hash) => {
      verified.push(hash);
      const [version = '', ...rest] = hash.split(':');
      return Promise.resolve({ ok: rest.join(':') === password, outdated: version !== 'now' });
    },
  };
}

export interface TestAccounts {
  readonly accounts: Accounts;
  readonly clock: ManualClock;
  readonly hasher: ReturnType<typeof plainHasher>;
  /** What has lost rights, in order: of each change the first account or session. */
  readonly ended: string[];
  /** Waits for work and ends turns of the event loop meanwhile. */
  run<Result>(work: Promise<Result>): Promise<Result>;
  /** The error that the work fails with. */
  failure(
    work: Promise<unknown>,
  ): Promise<{ readonly code: string; readonly facts: Readonly<Record<string, unknown>> }>;
  owner(): Promise<SessionGrant>;
  /** The account as a caller, with a session of its own unless one is named. */
  asPerson(account: Account, sessionId?: string): Person;
  audit(): Promise<LoggedEntry[]>;
}

const settings: AccountSettings = {
  accessTokenTtlMs: 900_000,
  refreshTtlMs: 43_200_000,
  refreshTtlRememberMs: 2_592_000_000,
  inviteTtlMs: 604_800_000,
  resetTtlMs: 3_600_000,
  lockoutAttempts: 5,
  lockoutMs: 900_000,
  openRegistration: false,
  passwords: true,
  oidc: null,
};

export async function testAccounts(changed: Partial<AccountSettings> = {}): Promise<TestAccounts> {
  const store = new MemoryAccountStore();
  const world = await testGovernance({ store: new MemoryStore(0, store) });
  const { gov, clock } = world;
  const hasher = plainHasher();
  const ended: string[] = [];
  gov.ended.subscribe((id) => ended.push(id));
  const run = async <Result>(work: Promise<Result>): Promise<Result> => {
    const state = { done: false };
    const watched = work.finally(() => {
      state.done = true;
    });
    watched.catch(() => undefined);
    while (!state.done) {
      await new Promise((resolve) => setImmediate(resolve));
      world.turn();
    }
    return watched;
  };
  const access = {
    ...portsOf(gov),
    keys: gov.keys,
    callers: gov.callers,
    signingKeys: gov.callers.signingKeys,
    mint: plainMint(),
    tokenTtlMs: 86_400_000,
    ended: gov.ended,
  };
  const accounts: Accounts = {
    access,
    store,
    hasher,
    settings: { ...settings, ...changed },
  };
  await run(makeSigningKey(access));
  return {
    accounts,
    clock,
    hasher,
    ended,
    run,
    failure: async (work) => {
      const outcome = await run(
        work.then(
          () => undefined,
          (error: unknown) => error,
        ),
      );
      expect(outcome).toMatchObject({ name: 'ReeveError' });
      return outcome as { code: string; facts: Record<string, unknown> };
    },
    owner: () => run(register(accounts, { email: 'owner@example.com', password: goodPassword, name: 'Olga' }, from)),
    asPerson: (account, sessionId) => {
      const now = clock.now();
      const session: Session = {
        id: sessionId ?? `ses_of_${account.id}`,
        accountId: account.id,
        via: 'password',
        rememberMe: false,
        createdAt: now,
        lastUsedAt: now,
        expiresAt: now + settings.refreshTtlMs,
        endedAt: null,
        address: '',
        userAgent: '',
      };
      // Transactions run one after the other, so it is there before anybody looks.
      if (sessionId === undefined) void store.transaction([], (rows) => rows.saveSession(session));
      return asPerson(account, session.id);
    },
    audit: world.audit,
  };
}

/** The account as a caller. */
function asPerson(account: Account, sessionId: string): Person {
  return {
    actor: { id: account.id, kind: 'account', label: account.email },
    credentialId: account.id,
    login: { accountId: account.id, sessionId, role: account.role },
    scopes: scopesOfRole[account.role],
    orgId: account.orgId,
    teamId: account.teamId,
    expiresAt: null,
    asOf: 0,
  };
}
