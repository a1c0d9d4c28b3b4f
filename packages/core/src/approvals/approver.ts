import type { FindAccounts, KnownAccount, Principal, Role } from '../access/index.ts';
import { covers, emailKeyOf, isKey, plainEmail } from '../access/index.ts';
import type { UserId } from '../action/index.ts';
import { keptUser } from '../action/index.ts';
import { compileGlob, ReeveError } from '../kernel/index.ts';
import type { ApproverTerms } from '../policy/index.ts';
import type { Approval } from './approval.ts';
import type { Approvals } from './approvals.ts';

/** Who is behind a caller that wants to decide. */
export interface Approver {
  readonly by: Principal;
  /** The accounts behind the caller. Empty for a key that no account has made. */
  readonly accounts: readonly KnownAccount[];
  /** An account behind the caller could not be read, so nobody knows who it is. */
  readonly isUnknown: boolean;
}

/** What an approval says about who may decide. */
type ApprovalRequirement = Pick<Approval, 'by' | 'notUser' | 'user'>;

/** Whether it takes the accounts behind a caller to say whether its verdict counts. */
export function asksWho({ by, notUser }: ApprovalRequirement): boolean {
  return by !== undefined || notUser === true;
}

/**
 * Reads who is behind a caller, if one of these approvals asks. A turn for the caller fails if an account behind it has
 * got other rights since.
 */
export async function readApprover(
  gov: Approvals,
  by: Principal,
  approvals: readonly ApprovalRequirement[],
): Promise<Approver> {
  const nobodyAsks = { by, accounts: [], isUnknown: true };
  if (!approvals.some(asksWho)) return nobodyAsks;
  const ids = isKey(by) ? gov.keys.accountsBehind(by.credentialId) : [by.login?.accountId ?? by.credentialId];
  if (ids.length === 0) return { by, accounts: [], isUnknown: false };
  const find: FindAccounts = gov.approvals.findAccounts;
  const accounts = await find(ids);
  return { by, accounts, isUnknown: accounts.length < ids.length };
}

/** Why the verdict of this approver does not count; undefined if it does. */
export function refusalOfApprover(
  { by, notUser, user }: ApprovalRequirement,
  approver: Approver,
): ReeveError | undefined {
  if (notUser === true && user !== null && isUser(approver, user)) {
    return new ReeveError('own_request', 'the agent acts for you; a verdict must come from somebody else');
  }
  const unmet = by?.find((terms) => !meets(terms, approver));
  if (unmet === undefined) return undefined;
  return new ReeveError('not_an_approver', `your verdict does not count: a rule asks for ${approverWords(unmet)}`);
}

/** Somebody may hold a key of each account behind it, so each of them must not be the user. Both are compared as approvals keep them. */
function isUser({ accounts, isUnknown }: Approver, user: UserId): boolean {
  if (isUnknown) return true;
  const key = emailKeyOf(user.email);
  return accounts.some(({ email, identities }) => {
    const linked = identities.map(({ issuer, subject: sub }) => keptUser({ issuer, sub, email }));
    if (key !== '' && emailKeyOf(keptUser({ issuer: '', sub: '', email }).email) === key) return true;
    return linked.some(({ issuer, sub }) => issuer === user.issuer && sub === user.sub);
  });
}

/** Each account behind a key must count. A key without one has a role by its scope, and no email. */
function meets({ roles, emails }: ApproverTerms, { by, accounts, isUnknown }: Approver): boolean {
  if (isUnknown) return false;
  if (accounts.length === 0) return emails === undefined && covers(by.scopes, 'admin') && hasRole(roles, 'admin');
  const globs = emails?.map((email) => compileGlob(email));
  return accounts.every(({ role, email }) => {
    const plain = plainEmail(email);
    return hasRole(roles, role) && (globs === undefined || globs.some((glob) => glob.matches(plain)));
  });
}

function hasRole(roles: readonly Role[] | undefined, role: Role): boolean {
  return roles === undefined || roles.includes(role);
}

/** Whose verdicts count, in words. */
function approverWords({ roles, emails }: ApproverTerms): string {
  if (roles?.length === 0) return 'more approvers than one person can be';
  const role = roles === undefined ? [] : [`the role ${roles.join(' or ')}`];
  const email = emails === undefined ? [] : [`an email like ${emails.slice(0, mostNamed).join(' or ')}`];
  return `somebody with ${[...role, ...email].join(' and ')}`;
}

const mostNamed = 5;

/** Whose verdicts an approval takes, in words. Empty if those of everybody who may decide. */
export function approversWords({ by = [], notUser }: ApprovalRequirement): string {
  const named = by.map(approverWords);
  if (notUser === true) named.push('somebody for whom the agent does not act');
  return named.join(', and ');
}
