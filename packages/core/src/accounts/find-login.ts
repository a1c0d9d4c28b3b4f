import type { FindLogin, FindRoles } from '../access/authenticator.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Role } from '../access/scope.ts';
import type { AccountRows, AccountStore } from './account-store.ts';
import { isOpen } from './sessions.ts';

/** Asks the store at every call: what another gateway on it has ended has ended here, too. */
export function findLoginIn(store: AccountStore, clock: Clock): FindLogin {
  return async (sessionId) => {
    const found = await store.read((rows) => rows.sessionWithAccount(sessionId));
    if (found === undefined || !isOpen(found.session, clock.now()) || found.account.status !== 'active')
      return undefined;
    const { id, role, email } = found.account;
    return { accountId: id, sessionId, role, email };
  };
}

/** The same of the accounts that keys come from: one that is not known is not active. */
export function findRolesIn(store: AccountStore): FindRoles {
  return (accountIds) => store.read((rows) => activeRoles(rows, accountIds));
}

/** The roles of accounts; undefined where one of them is not active. */
export async function activeRoles(
  rows: Pick<AccountRows, 'account'>,
  accountIds: readonly string[],
): Promise<readonly Role[] | undefined> {
  const roles: Role[] = [];
  for (const id of accountIds) {
    const account = await rows.account(id);
    if (account?.status !== 'active') return undefined;
    roles.push(account.role);
  }
  return roles;
}
