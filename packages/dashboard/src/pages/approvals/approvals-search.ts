import type { RawSearch } from '../../shell/search.ts';
import { oneOf, text } from '../../shell/search.ts';
import { moment } from '../audit/audit-search.ts';

/** `decided`: approved or rejected. */
export const verdictStates = ['decided', 'approved', 'rejected', 'expired', 'cancelled'] as const;

export type ApprovalsTab = 'waiting' | 'decided' | 'grants';

/** The page state in the URL. */
export interface ApprovalsSearch {
  /** The approval whose details are open. */
  readonly id?: string | undefined;
  readonly tab?: Exclude<ApprovalsTab, 'waiting'> | undefined;
  readonly org_id?: string | undefined;
  /** Of decided approvals: what became of them, who gave a verdict, and when. */
  readonly verdict?: (typeof verdictStates)[number] | undefined;
  readonly decided_by?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export function parseApprovalsSearch(raw: RawSearch): ApprovalsSearch {
  return {
    id: text(raw['id']),
    tab: oneOf(['decided', 'grants'], raw['tab']),
    org_id: text(raw['org_id']),
    verdict: oneOf(verdictStates, raw['verdict']),
    decided_by: text(raw['decided_by']),
    from: moment(raw['from']),
    to: moment(raw['to']),
  };
}
