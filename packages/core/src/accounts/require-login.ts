import type { Login, Principal } from '../access/principal.ts';
import { requireAuthority, standingOf } from '../access/require-authority.ts';
import { ReeveError } from '../kernel/errors.ts';

/** The person who calls; an API key is none. */
export function requireLogin(by: Principal): Login {
  if (by.login !== undefined) return by.login;
  throw new ReeveError('account_required', 'this is about your own account; log in with email and password');
}

/** Only an owner makes, demotes, disables or invites an owner; an API key acts as an admin, never as an owner. */
export function requireOwner(by: Principal): void {
  requireAuthority(standingOf(noKeys, by), 'owner_account');
}

/** Where no agent is concerned it does not matter which credential comes from which. */
const noKeys = { find: () => undefined };
