import type { Principal, Role } from '../access/index.ts';
import { requireScope, requireUnbound } from '../access/index.ts';
import type { AccountRows, Page, PageCursor } from './account-store.ts';
import type { Account, AccountStatus } from './account.ts';
import type { Accounts, Origin } from './accounts.ts';
import { lock, requireOwner } from './accounts.ts';
import { inviteDetails } from './invites.ts';
import type { AuditWriter, AuditSource } from './change-accounts.ts';
import { changeAccounts, drainOutbox } from './change-accounts.ts';
import { redactText } from '../audit/index.ts';
import { invalid, ReeveError } from '../kernel/index.ts';

export function listAccounts(
  accounts: Accounts,
  by: Principal,
  after: PageCursor | null,
  limit: number,
): Promise<Page<Account>> {
  requireAdministrator(by);
  return accounts.store.read((rows) => rows.accounts(after, limit));
}

/** The caller's own account. */
export function findAccount(accounts: Accounts, id: string): Promise<Account | undefined> {
  return accounts.store.read((rows) => rows.account(id));
}

/** Changes role or status. There is always an active owner. Disabling ends the account's sessions. */
export async function changeAccount(
  accounts: Accounts,
  by: Principal,
  id: string,
  change: { readonly role?: Role | undefined; readonly status?: AccountStatus | undefined },
  from: Origin,
): Promise<Account> {
  requireAdministrator(by);
  return await changeAccounts(accounts, by, [lock.owners, lock.account(id)], async (rows, audit) => {
    const account = await rows.account(id);
    if (account === undefined) throw new ReeveError('account_not_found', `there is no account "${redactText(id)}"`);
    const next: Account = { ...account, role: change.role ?? account.role, status: change.status ?? account.status };
    if (next.role === account.role && next.status === account.status) return account;
    if (account.role === 'owner' || next.role === 'owner') requireOwner(by);
    if (change.role === 'owner' && account.orgId !== null) throw invalid('role', 'an owner is bound to no org');
    await keepAnOwner(rows, account, next);
    await rows.saveAccount(next);
    if (next.status === 'disabled') {
      await rows.endSessions(id, accounts.access.clock.now());
      await rows.removeSentTokens('reset', id);
      await endInvite(rows, audit, account, { actor: by.actor, from });
    }
    const was = { role: account.role, status: account.status };
    const details = { account_id: id, email: account.email, role: next.role, status: next.status, was };
    await audit('AccountChanged', { actor: by.actor, from }, details);
    return next;
  });
}

/** An invite from before the account would bring it back. */
async function endInvite(rows: AccountRows, audit: AuditWriter, { emailKey }: Account, by: AuditSource): Promise<void> {
  const invite = await rows.inviteByEmail(emailKey);
  if (invite === undefined) return;
  await rows.removeInvite(invite.id);
  await audit('InviteRevoked', { ...by, reason: 'the account was disabled' }, inviteDetails(invite));
}

async function keepAnOwner(rows: AccountRows, account: Account, next: Account): Promise<void> {
  const isActiveOwner = (one: Account) => one.role === 'owner' && one.status === 'active' && one.orgId === null;
  if (!isActiveOwner(account) || isActiveOwner(next) || (await rows.countActiveOwners()) > 1) return;
  throw new ReeveError('last_owner', 'this is the last owner; make another account an owner first');
}

function requireAdministrator(by: Principal): void {
  requireScope(by, 'admin');
  requireUnbound(by);
}

/** The store keeps ended sessions this long, so that a stolen token that comes back late is still noticed. */
const rememberedMs = 24 * 3_600_000;

/** Periodic upkeep: records entries that are still in the outbox, and removes what is over. */
export async function keepAccounts(accounts: Accounts): Promise<void> {
  await drainOutbox(accounts);
  const now = accounts.access.clock.now();
  await accounts.store.transaction([], (rows) => rows.removeStale(now - rememberedMs, now));
}
