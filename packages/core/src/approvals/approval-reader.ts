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
 * Open ones are listed by when they expire, the first at the top; decided ones by when they were, and all of them
 * together by when they were requested, both the newest first.
 */
export interface ApprovalQuery extends TenantQuery {
  readonly runId?: string;
  readonly state: ApprovalState | 'all';
}

/** Listed by when they were given, the newest first. */
export interface GrantQuery extends TenantQuery {
  readonly state: GrantState | 'all';
  /** What is expired is so as of this time. */
  readonly now: EpochMs;
}

export interface Found<Item> {
  readonly items: readonly Item[];
  /** How many there are in all, on whatever page. */
  readonly total: number;
  /** There are more, which would have made the page too large. */
  readonly cut?: boolean;
}

/** Reads what the store remembers of approvals: only what is still to do something is kept in memory. */
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
