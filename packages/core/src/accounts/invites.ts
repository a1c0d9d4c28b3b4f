import { makerOf, keyInForceSince, requireScope, requireUnbound, covers, scopesOfRole } from '../access/index.ts';
import type { Binding, HeldRole, Principal, Role } from '../access/index.ts';
import type { AccountRows, Page } from './account-store.ts';
import type { Account, Invite } from './account.ts';
import type { Accounts, Origin } from './accounts.ts';
import { emailHashOf, lock, requireOwner, requirePasswords } from './accounts.ts';
import type { Note } from './change-accounts.ts';
import { changeAccounts, personOf } from './change-accounts.ts';
import { requireEmail, sendableToken, invalidToken, openedBy } from './email.ts';
import { activeRoles } from './find-people.ts';
import { checkNewPassword, normalisePassword } from './password-rules.ts';
import type { SessionGrant } from './sessions.ts';
import { grantFor, openSession } from './sessions.ts';
import { redactText } from '../audit/index.ts';
import { invalid, ReeveError } from '../kernel/index.ts';

/** An invite that was just made. Its maker sees the token once, and nobody sees it again. */
export interface MadeInvite {
  readonly invite: Invite;
  readonly token: string;
}

/** Whom to invite, as what, and which tenant the account is to be bound to. The default is none. */
export interface InviteRequest extends Partial<Binding> {
  readonly email: string;
  readonly role: Role;
}

/** Invites someone. This replaces an earlier invite to the same email and ends its tokens. */
export async function createInvite(
  accounts: Accounts,
  by: Principal,
  request: InviteRequest,
  from: Origin,
): Promise<MadeInvite> {
  requireAdministrator(by);
  requirePasswords(accounts);
  const email = requireEmail(request.email);
  if (request.role === 'owner') requireOwner(by);
  const about = { email: email.text, emailKey: email.key, role: request.role, ...bindingIn(request) };
  return changeAccounts(accounts, by, [lock.email(emailHashOf(accounts, email.key))], async (rows, note) => {
    const account = await rows.accountByEmail(email.key);
    if (account?.status === 'active') {
      throw new ReeveError('email_taken', 'there is an active account with this email');
    }
    requireRightOver(by, account);
    const earlier = await rows.inviteByEmail(email.key);
    if (earlier !== undefined) await replace(rows, by, earlier);
    return make(accounts, rows, note, by, about, from);
  });
}

/** Sends an invite once more, with new tokens and a new time to live. */
export async function resendInvite(accounts: Accounts, by: Principal, id: string, from: Origin): Promise<MadeInvite> {
  requireAdministrator(by);
  requirePasswords(accounts);
  const known = await accounts.store.read((rows) => openInvite(accounts, rows, id));
  const locks = [lock.invite(id), lock.email(emailHashOf(accounts, known.emailKey))];
  return changeAccounts(accounts, by, locks, async (rows, note) => {
    const invite = await openInvite(accounts, rows, id);
    requireRightOver(by, await rows.accountByEmail(invite.emailKey));
    await replace(rows, by, invite);
    return make(accounts, rows, note, by, invite, from);
  });
}

export function listInvites(
  accounts: Accounts,
  by: Principal,
  after: { readonly createdAt: number; readonly id: string } | null,
  limit: number,
): Promise<Page<Invite>> {
  requireAdministrator(by);
  return accounts.store.read((rows) => rows.invites(accounts.access.clock.now(), after, limit));
}

export async function revokeInvite(accounts: Accounts, by: Principal, id: string, from: Origin): Promise<void> {
  requireAdministrator(by);
  await changeAccounts(accounts, by, [lock.invite(id)], async (rows, note) => {
    const invite = await openInvite(accounts, rows, id);
    await replace(rows, by, invite);
    await note('InviteRevoked', { actor: by.actor, from }, inviteDetails(invite));
  });
}

function requireAdministrator(by: Principal): void {
  requireScope(by, 'admin');
  requireUnbound(by);
}

function bindingIn({ role, orgId = null, teamId = null }: InviteRequest): Binding {
  if (teamId !== null && orgId === null) throw invalid('team_id', 'an account bound to a team needs the org_id, too');
  if (role === 'owner' && orgId !== null) throw invalid('role', 'an owner is bound to no org');
  return { orgId, teamId };
}

/** An invite to somebody with an account changes that account. Only an owner may bring an owner back. */
function requireRightOver(by: Principal, account: Account | undefined): void {
  if (account?.role === 'owner') requireOwner(by);
}

async function openInvite({ access }: Accounts, rows: AccountRows, id: string): Promise<Invite> {
  const invite = await rows.invite(id);
  if (invite !== undefined && access.clock.now() < invite.expiresAt) return invite;
  throw new ReeveError('invite_not_found', `there is no open invite "${redactText(id)}"`);
}

/** Only an owner may touch an invite to become an owner. */
async function replace(rows: AccountRows, by: Principal, invite: Invite): Promise<void> {
  if (invite.role === 'owner') requireOwner(by);
  await rows.removeInvite(invite.id);
}

async function make(
  accounts: Accounts,
  rows: AccountRows,
  note: Note,
  by: Principal,
  about: Pick<Invite, 'email' | 'emailKey' | 'role' | 'orgId' | 'teamId'>,
  from: Origin,
): Promise<MadeInvite> {
  const { access } = accounts;
  const now = access.clock.now();
  const invite: Invite = {
    id: `inv_${access.randomness.hex(12)}`,
    email: about.email,
    emailKey: about.emailKey,
    role: about.role,
    invitedBy: by.actor.label === '' ? by.actor.id : by.actor.label,
    madeBy: makerOf(by),
    asOwner: by.login?.role === 'owner',
    orgId: about.orgId,
    teamId: about.teamId,
    createdAt: now,
    expiresAt: now + accounts.settings.inviteTtlMs,
  };
  await rows.saveInvite(invite);
  const { id, expiresAt } = invite;
  const token = await sendableToken(accounts, rows, { purpose: 'invite', subjectId: id, expiresAt });
  await rows.saveLetter({
    id: access.randomness.hex(16),
    kind: 'invite',
    subjectId: id,
    createdAt: now,
    dueAt: now,
    failures: 0,
  });
  await note('InviteCreated', { actor: by.actor, from }, inviteDetails(invite));
  return { invite, token };
}

/** What the log says of an invite. */
export function inviteDetails({ id, email, role, orgId, teamId }: Invite) {
  return { email, invite_id: id, role, org_id: orgId, team_id: teamId };
}

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
  const open = await changeAccounts(accounts, null, locks, async (rows, note) => {
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
    await note('InviteAccepted', { actor: personOf(account), from }, details);
    return opened;
  });
  return grantFor(accounts, open);
}

/**
 * Whether the maker of an invite could still make it. An account must be active and an admin. A key, or a key that it
 * was rotated to, must be in force. Only an owner makes an owner or brings one back.
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
  if (isKey && !(await isKeyInForce(access, rows, madeBy.id))) return false;
  const held = await activeRoles(rows, isKey ? access.keys.accountsBehind(madeBy.id) : [madeBy.id]);
  const isAdmin = ({ role: each, orgId }: HeldRole) => covers(scopesOfRole[each], 'admin') && orgId === null;
  if (held?.every(isAdmin) !== true) return false;
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
