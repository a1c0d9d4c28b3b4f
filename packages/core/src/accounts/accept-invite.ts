import { isInForceSince } from '../access/credential-lineage.ts';
import { covers, scopesOfRole } from '../access/scope.ts';
import { redactText } from '../audit/redact.ts';
import type { Account, Invite } from './account.ts';
import type { AccountRows } from './account-store.ts';
import type { Accounts, Origin } from './accounts.ts';
import { emailHashOf, lock } from './accounts.ts';
import { changeAccounts, personOf } from './change-accounts.ts';
import { activeRoles } from './find-login.ts';
import type { SessionGrant } from './open-session.ts';
import { grantFor, openSession } from './open-session.ts';
import { checkNewPassword, normalisePassword } from './password-rules.ts';
import { invalidToken, openedBy } from './sent-token.ts';

export interface Acceptance {
  readonly token: string;
  readonly password: string;
  readonly name: string;
}

/** Makes the invited account, or brings a disabled one back, and logs it in. A weak password leaves the invite open. */
export async function acceptInvite(accounts: Accounts, request: Acceptance, from: Origin): Promise<SessionGrant> {
  checkNewPassword(request.password, { name: request.name });
  const invite = await accounts.store.read((rows) => invited(accounts, rows, request.token));
  if (invite === undefined) throw invalidToken();
  checkNewPassword(request.password, { email: invite.email, name: request.name });
  const passwordHash = await accounts.hasher.hash(normalisePassword(request.password));
  const emailHash = emailHashOf(accounts, invite.emailKey);
  const before = await accounts.store.read((rows) => rows.accountByEmail(invite.emailKey));
  const locks = [lock.firstAccount, lock.invite(invite.id), lock.email(emailHash)];
  if (before !== undefined) locks.push(lock.account(before.id));
  const open = await changeAccounts(accounts, locks, async (rows, note) => {
    const current = await invited(accounts, rows, request.token);
    const known = await rows.accountByEmail(invite.emailKey);
    if (current?.id !== invite.id || known?.status === 'active' || known?.id !== before?.id) throw invalidToken();
    if (!(await isStillGood(accounts, rows, current, known))) throw invalidToken();
    const now = accounts.access.clock.now();
    const account: Account = {
      id: known?.id ?? `acc_${accounts.access.randomness.hex(12)}`,
      email: invite.email,
      emailKey: invite.emailKey,
      name: redactText(request.name),
      role: invite.role,
      status: 'active',
      passwordHash,
      createdAt: known?.createdAt ?? now,
      lastLoginAt: now,
    };
    await rows.saveAccount(account);
    await rows.removeInvite(invite.id);
    await rows.removeAttempts(emailHash);
    const opened = await openSession(accounts, rows, account, false, from);
    const { id, email, role } = account;
    const details = { account_id: id, email, invite_id: invite.id, role, session_id: opened.session.id };
    await note('InviteAccepted', { actor: personOf(account), from }, details);
    return opened;
  });
  return grantFor(accounts, open);
}

/**
 * Whether whoever made an invite could still make it: an account that is active and an admin, or a key that is in force,
 * or was rotated to one that is. Nobody but an owner makes an owner or brings one back.
 */
async function isStillGood(
  { access }: Accounts,
  rows: AccountRows,
  { madeBy, asOwner, role }: Invite,
  known: Account | undefined,
): Promise<boolean> {
  if (known?.role === 'owner' && !asOwner) return false;
  if (madeBy === null) return true;
  const isKey = madeBy.kind === 'api_key';
  if (isKey && !isInForceSince(access.keys, madeBy.id)) return false;
  const roles = await activeRoles(rows, isKey ? access.keys.accountsBehind(madeBy.id) : [madeBy.id]);
  if (roles?.every((each) => covers(scopesOfRole[each], 'admin')) !== true) return false;
  const isOwnersBusiness = role === 'owner' || known?.role === 'owner';
  return isKey || !isOwnersBusiness || roles[0] === 'owner';
}

async function invited(accounts: Accounts, rows: AccountRows, token: string): Promise<Invite | undefined> {
  const sent = await openedBy(accounts, rows, 'invite', token);
  const invite = sent === undefined ? undefined : await rows.invite(sent.subjectId);
  return invite !== undefined && accounts.access.clock.now() < invite.expiresAt ? invite : undefined;
}
