import {
  commonBinding,
  makerOf,
  mayReach,
  requireAuthority,
  requireScope,
  requireUnbound,
  standingOf,
  widthOf,
} from '../access/index.ts';
import type { Access, Binding, Principal, Role } from '../access/index.ts';
import type { AccountRows, Page, PageCursor } from './account-store.ts';
import type { Account, Invite } from './account.ts';
import type { Accounts, Origin } from './accounts.ts';
import { emailHashOf, lock, requireOwner, requirePasswords } from './accounts.ts';
import type { AuditWriter } from './change-accounts.ts';
import { changeAccounts } from './change-accounts.ts';
import { requireEmail, sendableToken } from './email.ts';
import { redactText } from '../audit/index.ts';
import { invalid, ReeveError } from '../kernel/index.ts';

/** An invite that was just made. Its maker sees the token once, and nobody sees it again. */
export interface MadeInvite {
  readonly invite: Invite;
  readonly token: string;
}

/** Whom to invite, as what, and which tenant the account is to be bound to. The caller's own is the default. */
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
  requireScope(by, 'admin');
  requirePasswords(accounts);
  const email = requireEmail(request.email);
  if (request.role === 'owner') requireOwner(by);
  const about = { email: email.text, emailKey: email.key, role: request.role, ...bindingFor(by, request) };
  return changeAccounts(accounts, by, [lock.email(emailHashOf(accounts, email.key))], async (rows, audit) => {
    const earlier = await rows.inviteByEmail(email.key);
    await requireFreeEmail(accounts, rows, by, email.key, earlier);
    if (earlier !== undefined) await replace(accounts, rows, by, earlier);
    return make(accounts, rows, audit, by, about, from);
  });
}

/** Sends an invite once more, with new tokens and a new time to live. */
export async function resendInvite(accounts: Accounts, by: Principal, id: string, from: Origin): Promise<MadeInvite> {
  requireScope(by, 'admin');
  requirePasswords(accounts);
  const known = await accounts.store.read((rows) => openInvite(accounts, rows, by, id));
  const locks = [lock.invite(id), lock.email(emailHashOf(accounts, known.emailKey))];
  return changeAccounts(accounts, by, locks, async (rows, audit) => {
    const invite = await openInvite(accounts, rows, by, id);
    requireRightOver(by, await rows.accountByEmail(invite.emailKey));
    await replace(accounts, rows, by, invite);
    return make(accounts, rows, audit, by, invite, from);
  });
}

/** The open invites into the caller's tenant. */
export function listInvites(
  accounts: Accounts,
  by: Principal,
  after: PageCursor | null,
  limit: number,
): Promise<Page<Invite>> {
  requireScope(by, 'admin');
  return accounts.store.read((rows) => rows.invites(by, accounts.access.clock.now(), after, limit));
}

export async function revokeInvite(accounts: Accounts, by: Principal, id: string, from: Origin): Promise<void> {
  requireScope(by, 'admin');
  await changeAccounts(accounts, by, [lock.invite(id)], async (rows, audit) => {
    const invite = await openInvite(accounts, rows, by, id);
    await replace(accounts, rows, by, invite);
    await audit('InviteRevoked', { actor: by.actor, from }, inviteDetails(invite));
  });
}

/** The tenant of an invited account: what was asked for, within the caller's own. */
function bindingFor(by: Principal, { role, orgId = null, teamId = null }: InviteRequest): Binding {
  const binding = commonBinding(by, { orgId, teamId });
  if (binding === undefined) {
    throw new ReeveError('tenant_bound', 'a credential that is bound to a tenant invites into that tenant only');
  }
  if (binding.teamId !== null && binding.orgId === null) {
    throw invalid('team_id', 'an account bound to a team needs the org_id, too');
  }
  if (role === 'owner' && binding.orgId !== null) throw invalid('role', 'an owner is bound to no org');
  return binding;
}

/**
 * Refuses an email that has an active account. A tenant's credential gets the same answer if the account is disabled,
 * or if somebody else has invited that person: it learns neither.
 */
async function requireFreeEmail(
  { access }: Accounts,
  rows: AccountRows,
  by: Principal,
  emailKey: string,
  earlier: Invite | undefined,
): Promise<void> {
  const account = await rows.accountByEmail(emailKey);
  if (by.orgId === null) {
    if (account?.status === 'active') {
      throw new ReeveError('email_taken', 'there is an active account with this email');
    }
    requireRightOver(by, account);
    return;
  }
  const isOthers = earlier !== undefined && access.clock.now() < earlier.expiresAt && !mayReach(by, earlier);
  if (account === undefined && !isOthers) return;
  throw new ReeveError(
    'tenant_bound',
    'this email has an account or an invite; only a credential that is bound to no org may change that',
  );
}

/**
 * An invite to somebody with an account changes that account. Only an owner may bring an owner back. Accounts belong to
 * the whole gateway, so a tenant's credential brings nobody back.
 */
function requireRightOver(by: Principal, account: Account | undefined): void {
  if (account === undefined) return;
  requireUnbound(by);
  if (account.role === 'owner') requireOwner(by);
}

/** An invite outside the caller's tenant is not there. */
async function openInvite({ access }: Accounts, rows: AccountRows, by: Principal, id: string): Promise<Invite> {
  const invite = await rows.invite(id);
  if (invite !== undefined && access.clock.now() < invite.expiresAt && mayReach(by, invite)) return invite;
  throw new ReeveError('invite_not_found', `there is no open invite "${redactText(id)}"`);
}

/** Only an owner may touch an invite to become an owner, and nobody one that a wider credential made. */
async function replace({ access }: Accounts, rows: AccountRows, by: Principal, invite: Invite): Promise<void> {
  if (invite.role === 'owner') requireOwner(by);
  if (access.clock.now() < invite.expiresAt) {
    requireAuthority(standingOf(access.keys, by), 'invite', widthOf(await makerBinding(access, rows, invite)));
  }
  await rows.removeInvite(invite.id);
}

/** What the maker of an invite is bound to. An unknown maker counts as bound to nothing. */
async function makerBinding({ keys }: Access, rows: AccountRows, { madeBy }: Invite): Promise<Binding> {
  const maker = madeBy?.kind === 'api_key' ? keys.find(madeBy.id) : await rows.account(madeBy?.id ?? '');
  return maker ?? { orgId: null, teamId: null };
}

async function make(
  accounts: Accounts,
  rows: AccountRows,
  audit: AuditWriter,
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
  await audit('InviteCreated', { actor: by.actor, from }, inviteDetails(invite));
  return { invite, token };
}

/** What the log says of an invite. */
export function inviteDetails({ id, email, role, orgId, teamId }: Invite) {
  return { email, invite_id: id, role, org_id: orgId, team_id: teamId };
}
