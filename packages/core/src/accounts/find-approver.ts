import type { Principal } from '../access/index.ts';
import { principalOfAccount, within } from '../access/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { Accounts } from './accounts.ts';
import { invalidToken, parseEmail } from './email.ts';

/**
 * The person in whose name a link gives a verdict. A link can be passed on, so it never has the scope `admin`, and with
 * it no exemption from the rules of approvals. A person who is not active any more, or not there, has no links.
 */
export async function findApprover({ access, store }: Accounts, email: string, expiresAt: EpochMs): Promise<Principal> {
  const { asOf } = access.callers;
  const key = parseEmail(email)?.key;
  const account = key === undefined ? undefined : await store.read((rows) => rows.accountByEmail(key));
  if (account?.status !== 'active') throw invalidToken();
  const principal = principalOfAccount({ ...account, accountId: account.id }, expiresAt, asOf);
  return { ...principal, scopes: within(principal.scopes, ['write']) };
}
