import type { RawSearch } from '../../shell/search.ts';
import { oneOf, text } from '../../shell/search.ts';

export interface SignInSearch {
  /** The path to open afterwards. */
  readonly next?: string | undefined;
  /** Why a single sign-on has failed: the code of a problem. */
  readonly error?: string | undefined;
  /** The way to sign in, if not the one that the gateway suggests. */
  readonly by?: 'password' | 'key' | 'registration' | undefined;
}

export function parseSignInSearch(raw: RawSearch): SignInSearch {
  return {
    next: text(raw['next']),
    error: text(raw['error']),
    by: oneOf(['password', 'key', 'registration'], raw['by']),
  };
}
