import { canonicalJson } from '../audit/index.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';
import { withKeptTexts } from '../kernel/index.ts';
import type { Approval } from './approval.ts';
import type { StandingGrant } from './grant.ts';

/** The rows that approvals write. */
export type ApprovalsChange =
  | { readonly kind: 'approval_saved'; readonly approval: Approval }
  | { readonly kind: 'grant_saved'; readonly grant: StandingGrant }
  /**
   * Retention: up to `most` approvals that have nothing left to do are given up, those decided before and those beyond
   * the newest `kept`; and as many grants that have ended before.
   */
  | {
      readonly kind: 'approvals_removed';
      readonly before: EpochMs;
      readonly kept: number;
      readonly most: number;
    };

/** More than any action takes that is described today. */
const longestAction = 256 * 1024;

/** As it is read: nothing that is stored fills the memory of a gateway that starts. */
export function boundedApproval(approval: Approval): Approval {
  const { action, actionType } = approval;
  const kept = withKeptTexts(approval, ['resource', 'covers', 'summary', 'reason']);
  if (action.length <= longestAction) return kept;
  return { ...kept, action: canonicalJson({ omitted_characters: action.length, type: actionType }) };
}

/** The same of a grant. */
export function boundedGrant(grant: StandingGrant): StandingGrant {
  return withKeptTexts(grant, ['resource', 'covers']);
}

/** What a start brings back of approvals. */
export interface ApprovalsSnapshot {
  /** The approvals that have something left to do. */
  readonly approvals: readonly Approval[];
  /** The grants that were not revoked. */
  readonly grants: readonly StandingGrant[];
}

/** Somebody is asked about an action, or it is decided. */
export interface ApprovalEvent {
  readonly type: 'approval';
  readonly at: EpochMs;
  readonly agent: AgentId;
  readonly change: ApprovalChange;
  readonly approval: Approval;
}

/** `verdict`: one of several that are needed. */
export type ApprovalChange = 'requested' | 'verdict' | Exclude<Approval['state'], 'open'>;
