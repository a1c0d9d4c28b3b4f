import type { RawSearch } from '../../shell/search.ts';
import { oneOf, text } from '../../shell/search.ts';

export type IdentityTab = 'members' | 'invites' | 'keys' | 'sessions' | 'account';

/** The page state in the URL. */
export interface IdentitySearch {
  readonly tab?: IdentityTab | undefined;
  /** The search for members or keys. */
  readonly q?: string | undefined;
  /** For keys: whether to show revoked and expired ones, too. */
  readonly show?: 'all' | undefined;
}

export function parseIdentitySearch(raw: RawSearch): IdentitySearch {
  return {
    tab: oneOf(['members', 'invites', 'keys', 'sessions', 'account'], raw['tab']),
    q: text(raw['q']),
    show: oneOf(['all'], raw['show']),
  };
}
