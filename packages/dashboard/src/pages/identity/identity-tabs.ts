import type { Grant } from '../../api/grant.ts';
import type { IdentityTab } from './identity-search.ts';

export interface ShownTab {
  readonly value: IdentityTab;
  readonly label: string;
}

/** How people sign in to the gateway. */
export interface People {
  readonly hasAccounts: boolean;
  readonly hasPasswords: boolean;
}

type Caller = Pick<Grant, 'kind' | 'scopes' | 'orgId'>;

/** The tabs that the signed-in person can use. The others would only show a refusal. */
export function tabsFor({ kind, scopes, orgId }: Caller, { hasAccounts, hasPasswords }: People): ShownTab[] {
  const isAdmin = scopes.includes('admin');
  // Accounts belong to no tenant. An admin of one invites into it.
  const managesPeople = isAdmin && orgId === null && hasAccounts;
  const isPerson = kind === 'account';
  return [
    ...(managesPeople ? [{ value: 'members', label: 'Members' } as const] : []),
    ...(isAdmin && hasPasswords ? [{ value: 'invites', label: 'Invites' } as const] : []),
    ...(isAdmin ? [{ value: 'keys', label: 'API keys' } as const] : []),
    ...(isPerson ? [{ value: 'sessions', label: 'Your sessions' } as const] : []),
    { value: 'account', label: isPerson ? 'Your account' : 'This key' },
  ];
}

/** Why a linked tab is not there. */
export function whyHidden(
  tab: IdentityTab,
  { kind, scopes, orgId }: Caller,
  { hasAccounts, hasPasswords }: People,
): string {
  if (tab === 'sessions') return 'Sessions are those of people. An API key has none.';
  if (!scopes.includes('admin')) return 'This is for administrators. Ask one of them for a role that includes it.';
  if (!hasAccounts) return 'This gateway has no account store, hence no members: API keys are its only credentials.';
  if (tab === 'invites' && !hasPasswords)
    return 'Passwords are off on this gateway, so nobody can accept an invite: people come by single sign-on.';
  if (orgId !== null) return `Members belong to the whole gateway, and you are signed in for “${orgId}” only.`;
  return kind === 'api_key' ? 'An API key does not see this.' : 'You may not see this.';
}
