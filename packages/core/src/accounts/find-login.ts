import type { FindLogin } from '../access/authenticator.ts';
import type { Clock } from '../kernel/clock.ts';
import type { AccountStore } from './account-store.ts';
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
