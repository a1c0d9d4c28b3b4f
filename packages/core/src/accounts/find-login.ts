import type { AreActive, FindLogin } from '../access/authenticator.ts';
import type { Clock } from '../kernel/clock.ts';
import type { AccountRows, AccountStore } from './account-store.ts';
import { isOpen } from './end-sessions.ts';

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
export function areActiveIn(store: AccountStore): AreActive {
  return (accountIds) => store.read((rows) => areActive(rows, accountIds));
}

export async function areActive(rows: Pick<AccountRows, 'account'>, accountIds: readonly string[]): Promise<boolean> {
  for (const id of accountIds) if ((await rows.account(id))?.status !== 'active') return false;
  return true;
}
