import type { FindLogin, FindRoles, HeldRole } from '../access/index.ts';
import type { AccountRows, AccountStore } from './account-store.ts';
import type { Account } from './account.ts';
import type { Accounts, AccountSettings, Origin } from './accounts.ts';
import { emailHashOf, lock, requirePasswords } from './accounts.ts';
import { changeAccounts, personOf } from './change-accounts.ts';
import { requireEmail } from './email.ts';
import { checkNewPassword, normalisePassword } from './password-rules.ts';
import type { SessionGrant } from './sessions.ts';
import { grantFor, openSession, isAdmitted, isOpen } from './sessions.ts';
import { redactText } from '../audit/index.ts';
import type { Clock } from '../kernel/index.ts';
import { ReeveError } from '../kernel/index.ts';

export interface Registration {
  readonly email: string;
  readonly password: string;
  readonly name: string;
}

/** Registers the first account as the owner, or any further account if registration is open. */
export async function register(accounts: Accounts, request: Registration, from: Origin): Promise<SessionGrant> {
  const { access, settings, hasher, store } = accounts;
  requirePasswords(accounts);
  const email = requireEmail(request.email);
  checkNewPassword(request.password, { email: email.text, name: request.name });
  if (!settings.openRegistration && (await store.read((rows) => rows.countAccounts())) > 0) throw closed();
  const passwordHash = await hasher.hash(normalisePassword(request.password));
  const locks = [lock.firstAccount, lock.email(emailHashOf(accounts, email.key))];
  const open = await changeAccounts(accounts, locks, async (rows, note) => {
    const isFirst = (await rows.countAccounts()) === 0;
    if (!isFirst && !settings.openRegistration) throw closed();
    if ((await rows.accountByEmail(email.key)) !== undefined) {
      throw new ReeveError('email_taken', 'there is an account with this email; log in or reset its password');
    }
    const now = access.clock.now();
    const account: Account = {
      id: `acc_${access.randomness.hex(12)}`,
      email: email.text,
      emailKey: email.key,
      name: redactText(request.name),
      role: isFirst ? 'owner' : 'developer',
      status: 'active',
      orgId: null,
      teamId: null,
      passwordHash,
      createdAt: now,
      lastLoginAt: now,
    };
    await rows.saveAccount(account);
    const opened = await openSession(accounts, rows, account, { rememberMe: false, via: 'password' }, from);
    const { id, role } = account;
    const details = { account_id: id, email: account.email, role, session_id: opened.session.id };
    await note('AccountRegistered', { actor: personOf(account), from }, details);
    return opened;
  });
  return grantFor(accounts, open);
}

function closed(): ReeveError {
  return new ReeveError('registration_closed', 'registration is closed; ask an administrator for an invite');
}

/** Who may register: the first person of a new gateway, anybody, or nobody without an invite. */
export type RegistrationState = 'first' | 'open' | 'closed';

/** Whether registration is open. The answer reveals no more than an attempt would. */
export async function registrationState({ settings, store }: Accounts): Promise<RegistrationState> {
  if (!settings.passwords) return 'closed';
  const count = await store.read((rows) => rows.countAccounts());
  if (count === 0) return 'first';
  return settings.openRegistration ? 'open' : 'closed';
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
