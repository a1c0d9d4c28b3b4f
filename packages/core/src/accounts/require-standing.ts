import type { Access, Principal } from '../access/index.ts';
import { isKey, isSameBinding, leaveAll } from '../access/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { AccountRows } from './account-store.ts';
import type { Accounts } from './accounts.ts';
import { lock } from './accounts.ts';
import { activeRoles, isAdmitted, isOpen } from './find-people.ts';

/** The locks under which nobody changes the accounts and the session behind a caller. */
export function locksBehind({ keys }: Access, { credentialId, login }: Principal): string[] {
  if (login !== undefined) return [lock.account(login.accountId), lock.session(login.sessionId)];
  return keys.accountsBehind(credentialId).map((id) => lock.account(id));
}

/** Refuses a caller whose account or session is not what it was when the caller was authenticated. */
export async function requirePeople(accounts: Accounts, rows: AccountRows, by: Principal): Promise<void> {
  const { access, settings } = accounts;
  const { login } = by;
  if (login === undefined) {
    const held = await activeRoles(rows, access.keys.accountsBehind(by.credentialId));
    if (held === undefined || !leaveAll(by, held)) throw ended();
    return;
  }
  const found = await rows.sessionWithAccount(login.sessionId);
  if (found === undefined) throw ended();
  const { session, account } = found;
  const isSame = account.role === login.role && account.status === 'active' && isSameBinding(account, by);
  if (!isSame || !isOpen(session, access.clock.now()) || !isAdmitted(session, settings)) throw ended();
}

/** Refuses a caller whose key is not in force, by memory or by the store. */
export async function requireKey({ access }: Accounts, rows: AccountRows, by: Principal): Promise<void> {
  access.callers.require(by);
  if (!isKey(by)) return;
  if (!(await rows.holdKey(by.credentialId, access.clock.now()))) throw ended();
}

function ended(): ReeveError {
  return new ReeveError('unauthenticated', 'the credential has ended, or its rights have changed; nothing was done');
}
