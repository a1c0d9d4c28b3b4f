import { covers, keyInForceSince, mayReach, scopesOfRole } from '../access/index.ts';
import type { Binding, HeldRole } from '../access/index.ts';
import { redactText } from '../audit/index.ts';
import type { AccountRows } from './account-store.ts';
import type { Account, Invite } from './account.ts';
import type { Accounts, Origin } from './accounts.ts';
import { emailHashOf, lock, requirePasswords } from './accounts.ts';
import { changeAccounts, personOf } from './change-accounts.ts';
import { invalidToken, openedBy } from './email.ts';
import { activeRoles } from './find-people.ts';
import { inviteDetails } from './invites.ts';
import { checkNewPassword, normalisePassword } from './password-rules.ts';
import type { SessionGrant } from './sessions.ts';
import { grantFor, openSession } from './sessions.ts';

export interface Acceptance {
  readonly token: string;
  readonly password: string;
  readonly name: string;
}

/** Makes the invited account, or brings a disabled one back, and logs it in. A weak password leaves the invite open. */
export async function acceptInvite(accounts: Accounts, request: Acceptance, from: Origin): Promise<SessionGrant> {
  requirePasswords(accounts);
  checkNewPassword(request.password, { name: request.name });
  const invite = await accounts.store.read((rows) => invited(accounts, rows, request.token));
  if (invite === undefined) throw invalidToken();
  checkNewPassword(request.password, { email: invite.email, name: request.name });
  const passwordHash = await accounts.hasher.hash(normalisePassword(request.password));
  const emailHash = emailHashOf(accounts, invite.emailKey);
  const before = await accounts.store.read((rows) => rows.accountByEmail(invite.emailKey));
  const locks = [lock.firstAccount, lock.invite(invite.id), lock.email(emailHash)];
  if (before !== undefined) locks.push(lock.account(before.id));
  const open = await changeAccounts(accounts, null, locks, async (rows, audit) => {
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
      orgId: invite.orgId,
      teamId: invite.teamId,
      passwordHash,
      createdAt: known?.createdAt ?? now,
      lastLoginAt: now,
    };
    await rows.saveAccount(account);
    // The account is now of whoever reads its mail. A person of a single sign-on may only have claimed the address.
    await rows.removeIdentities(account.id);
    await rows.removeInvite(invite.id);
    await rows.removeAttempts(emailHash);
    const opened = await openSession(accounts, rows, account, { rememberMe: false, via: 'password' }, from);
    const details = { ...inviteDetails(invite), account_id: account.id, session_id: opened.session.id };
    await audit('InviteAccepted', { actor: personOf(account), from }, details);
    return opened;
  });
  return grantFor(accounts, open);
}

/**
 * Whether the maker of an invite could still make it. An account must be active, and an admin of the invite's tenant. A
 * key, or a key that it was rotated to, must be in force. Only an owner makes an owner or brings one back, and only who
 * is bound to no tenant brings anybody back.
 */
async function isStillGood(
  { access }: Accounts,
  rows: AccountRows,
  invite: Invite,
  known: Account | undefined,
): Promise<boolean> {
  const { madeBy, asOwner, role } = invite;
  if (known?.role === 'owner' && !asOwner) return false;
  if (madeBy === null) return true;
  const isKey = madeBy.kind === 'api_key';
  if (isKey && !(await isKeyInForce(access, rows, madeBy.id))) return false;
  const held = await activeRoles(rows, isKey ? access.keys.accountsBehind(madeBy.id) : [madeBy.id]);
  const isAdmin = (each: HeldRole) => covers(scopesOfRole[each.role], 'admin') && mayReach(each, invite);
  if (held?.every(isAdmin) !== true) return false;
  const makers: readonly (Binding | undefined)[] = isKey ? [...held, access.keys.find(madeBy.id)] : held;
  if (known !== undefined && !makers.every((maker) => maker?.orgId === null)) return false;
  const isOwnersBusiness = role === 'owner' || known?.role === 'owner';
  return isKey || !isOwnersBusiness || held[0]?.role === 'owner';
}

/** Asks the store, too: this gateway may not have heard yet that the key was revoked. */
async function isKeyInForce({ keys, clock }: Accounts['access'], rows: AccountRows, keyId: string): Promise<boolean> {
  const id = keyInForceSince(keys, keyId);
  return id !== undefined && (await rows.holdKey(id, clock.now()));
}

async function invited(accounts: Accounts, rows: AccountRows, token: string): Promise<Invite | undefined> {
  const sent = await openedBy(accounts, rows, 'invite', token);
  const invite = sent === undefined ? undefined : await rows.invite(sent.subjectId);
  return invite !== undefined && accounts.access.clock.now() < invite.expiresAt ? invite : undefined;
}
