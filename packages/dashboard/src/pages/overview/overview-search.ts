import type { RawSearch } from '../../shell/search.ts';
import { text } from '../../shell/search.ts';

/** The page state in the URL. */
export interface OverviewSearch {
  readonly org_id?: string | undefined;
}

export function parseOverviewSearch(raw: RawSearch): OverviewSearch {
  return { org_id: text(raw['org_id']) };
}
