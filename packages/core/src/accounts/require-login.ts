import type { Login, Principal } from '../access/principal.ts';
import { ReeveError } from '../kernel/errors.ts';

/** The person who calls; an API key is none. */
export function requireLogin(by: Principal): Login {
  if (by.login !== undefined) return by.login;
  throw new ReeveError('account_required', 'this is about your own account; log in with email and password');
}

/** Only an owner makes, demotes or disables an owner; an API key acts as an admin, never as an owner. */
export function requireOwner(by: Principal): void {
  if (by.login?.role === 'owner') return;
  throw new ReeveError('owner_required', 'only an owner may do this');
}
