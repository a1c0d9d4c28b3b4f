import type { RawSearch } from '../../shell/search.ts';
import { oneOf, text } from '../../shell/search.ts';

export const policyTabs = ['edit', 'versions', 'simulate', 'backtest', 'cases'] as const;
export type PolicyTab = (typeof policyTabs)[number];

/** The page state in the URL. */
export interface PoliciesSearch {
  /** The open document. None if there are no documents. */
  readonly name?: string | undefined;
  readonly tab?: PolicyTab | undefined;
  /** A document that is being written and is not stored yet. */
  readonly draft?: 'new' | undefined;
}

export function parsePoliciesSearch(raw: RawSearch): PoliciesSearch {
  return { name: text(raw['name']), tab: oneOf(policyTabs, raw['tab']), draft: oneOf(['new'], raw['draft']) };
}
