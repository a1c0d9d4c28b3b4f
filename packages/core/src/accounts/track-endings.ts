import { isSameBinding } from '../access/index.ts';
import type { Account } from './account.ts';
import type { AccountRows } from './account-store.ts';

/** The same rows. Whatever is done to them, `ended` gets the accounts whose rights change and the sessions that end. */
export function trackEndings(rows: AccountRows, ended: Set<string>): AccountRows {
  const tracking: Pick<AccountRows, 'saveAccount' | 'saveSession' | 'endSessions'> = {
    saveAccount: async (account) => {
      const before = await rows.account(account.id);
      await rows.saveAccount(account);
      if (before !== undefined && !hasSameRights(before, account)) ended.add(account.id);
    },
    saveSession: async (session) => {
      await rows.saveSession(session);
      if (session.endedAt !== null) ended.add(session.id);
    },
    endSessions: async (accountId, at) => {
      const ids = await rows.endSessions(accountId, at);
      for (const id of ids) ended.add(id);
      return ids;
    },
  };
  return new Proxy(rows, {
    get: (target, name) => {
      const value: unknown = name in tracking ? Reflect.get(tracking, name) : Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

function hasSameRights(before: Account, after: Account): boolean {
  return before.role === after.role && before.status === after.status && isSameBinding(before, after);
}
