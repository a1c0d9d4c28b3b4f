import type { RawSearch } from '../../shell/search.ts';
import { oneOf, text } from '../../shell/search.ts';

export type ApprovalsTab = 'waiting' | 'decided' | 'grants';

/** The page state in the URL. */
export interface ApprovalsSearch {
  /** The approval whose details are open. */
  readonly id?: string | undefined;
  readonly tab?: Exclude<ApprovalsTab, 'waiting'> | undefined;
  readonly org_id?: string | undefined;
}

export function parseApprovalsSearch(raw: RawSearch): ApprovalsSearch {
  return { id: text(raw['id']), tab: oneOf(['decided', 'grants'], raw['tab']), org_id: text(raw['org_id']) };
}
