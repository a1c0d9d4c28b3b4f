import type { FindAccounts, FindLogin, FindRoles, HeldRole, KnownAccount } from '../access/index.ts';
import type { Clock, EpochMs } from '../kernel/index.ts';
import type { Session } from './account.ts';
import type { AccountRows, AccountStore } from './account-store.ts';
import type { AccountSettings } from './accounts.ts';

export function isOpen(session: Session, now: EpochMs): boolean {
  return session.endedAt === null && now < session.expiresAt;
}

/** Where passwords are off, the sessions that one has opened are over, too. */
export function isAdmitted({ via }: Session, { passwords }: Pick<AccountSettings, 'passwords'>): boolean {
  return passwords || via !== 'password';
}

/** Asks the store at every call, so a session that another gateway has ended is over here, too. */
export function findLoginIn(
  store: AccountStore,
  clock: Clock,
  settings: Pick<AccountSettings, 'passwords'>,
): FindLogin {
  return async (sessionId) => {
    const found = await store.read((rows) => rows.sessionWithAccount(sessionId));
    if (found === undefined || found.account.status !== 'active') return undefined;
    if (!isOpen(found.session, clock.now()) || !isAdmitted(found.session, settings)) return undefined;
    const { id, role, email, orgId, teamId } = found.account;
    return { accountId: id, sessionId, role, email, orgId, teamId };
  };
}

/** The same for the accounts behind keys. An unknown account is not active. */
export function findRolesIn(store: AccountStore): FindRoles {
  return (accountIds) => store.read((rows) => activeRoles(rows, accountIds));
}

/** The active ones among these accounts, with the people of single sign-ons that they are linked to. */
export function findAccountsIn(store: AccountStore): FindAccounts {
  return (accountIds) =>
    store.read(async (rows) => {
      const found: KnownAccount[] = [];
      for (const id of accountIds) {
        const account = await rows.account(id);
        if (account?.status !== 'active') continue;
        const { role, email } = account;
        found.push({ id, role, email, identities: await rows.identitiesOf(id) });
      }
      return found;
    });
}

/** The roles of accounts, with their tenants. Undefined if one of them is not active. */
export async function activeRoles(
  rows: Pick<AccountRows, 'account'>,
  accountIds: readonly string[],
): Promise<readonly HeldRole[] | undefined> {
  const held: HeldRole[] = [];
  for (const id of accountIds) {
    const account = await rows.account(id);
    if (account?.status !== 'active') return undefined;
    held.push(account);
  }
  return held;
}
