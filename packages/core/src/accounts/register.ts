import type { Account } from './account.ts';
import type { Accounts, Origin } from './accounts.ts';
import { emailHashOf, lock, requirePasswords } from './accounts.ts';
import { changeAccounts, personOf } from './change-accounts.ts';
import { requireEmail } from './email.ts';
import { checkNewPassword, normalisePassword } from './password-rules.ts';
import type { SessionGrant } from './sessions.ts';
import { grantFor, openSession } from './sessions.ts';
import { redactText } from '../audit/index.ts';
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
  const open = await changeAccounts(accounts, null, locks, async (rows, audit) => {
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
    await audit('AccountRegistered', { actor: personOf(account), from }, details);
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
