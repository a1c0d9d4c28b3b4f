import type { RawSearch } from '../../shell/search.ts';
import { oneOf, text } from '../../shell/search.ts';

export interface SignInSearch {
  /** Where to go on afterwards. */
  readonly next?: string | undefined;
  /** With what, where that is not what the gateway suggests. */
  readonly by?: 'password' | 'key' | 'registration' | undefined;
}

export function parseSignInSearch(raw: RawSearch): SignInSearch {
  return { next: text(raw['next']), by: oneOf(['password', 'key', 'registration'], raw['by']) };
}
