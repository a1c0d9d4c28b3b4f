import type { RawSearch } from '../../shell/search.ts';
import { oneOf, text } from '../../shell/search.ts';

export type IdentityTab = 'members' | 'invites' | 'keys' | 'sessions' | 'account';

/** What of the page lives in its URL. */
export interface IdentitySearch {
  readonly tab?: IdentityTab | undefined;
  /** What members or keys are looked for. */
  readonly q?: string | undefined;
  /** Of the keys: revoked and expired ones, too. */
  readonly show?: 'all' | undefined;
}

export function parseIdentitySearch(raw: RawSearch): IdentitySearch {
  return {
    tab: oneOf(['members', 'invites', 'keys', 'sessions', 'account'], raw['tab']),
    q: text(raw['q']),
    show: oneOf(['all'], raw['show']),
  };
}
