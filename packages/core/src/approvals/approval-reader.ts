import type { EpochMs } from '../kernel/index.ts';
import type { Approval, ApprovalState } from './approval.ts';
import type { GrantState, StandingGrant } from './grant.ts';

interface TenantQuery {
  readonly orgId?: string;
  readonly teamId?: string;
  readonly agentId?: string;
  /** Where the last page ended. */
  readonly after?: PageEnd;
  readonly limit: number;
}

/** The last record of a page: the time that the list is sorted by, and the id. */
export interface PageEnd {
  readonly at: EpochMs;
  readonly id: string;
}

/**
 * Open approvals are sorted by expiry, the earliest first. Decided approvals are sorted by their decision, and all
 * together by their request, the newest first.
 */
export interface ApprovalQuery extends TenantQuery {
  readonly runId?: string;
  /** `decided`: approved or rejected. */
  readonly state: ApprovalState | 'decided' | 'all';
  /** The author of one of the verdicts, by id or label. Letter case does not count. */
  readonly decidedBy?: string;
  /** Decided at this time or later. */
  readonly from?: EpochMs;
  /** Decided at this time or earlier. */
  readonly to?: EpochMs;
}

/** Grants are sorted by when they were given, the newest first. */
export interface GrantQuery extends TenantQuery {
  readonly state: GrantState | 'all';
  /** Expiry is judged at this time. */
  readonly now: EpochMs;
}

export interface Found<Item> {
  readonly items: readonly Item[];
  /** The number of items on all pages. */
  readonly total: number;
  /** More items exist, but they would have made the page too large. */
  readonly cut?: boolean;
}

/** Reads approvals from the store. Memory holds only those with something left to do. */
export interface ApprovalReader {
  approval(id: string): Promise<Approval | undefined>;
  approvals(query: ApprovalQuery): Promise<Found<Approval>>;
  grant(id: string): Promise<StandingGrant | undefined>;
  grants(query: GrantQuery): Promise<Found<StandingGrant>>;
}

/** The time that a list of approvals is sorted by. */
export function sortedBy(state: ApprovalQuery['state']): 'expiresAt' | 'decidedAt' | 'requestedAt' {
  if (state === 'open') return 'expiresAt';
  return state === 'all' ? 'requestedAt' : 'decidedAt';
}
