import { canonicalJson } from '../audit/index.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';
import { withKeptTexts } from '../kernel/index.ts';
import type { Approval } from './approval.ts';
import type { StandingGrant } from './grant.ts';

/** The facts of approvals that no live view gets. */
export type ApprovalsChange =
  | { readonly kind: 'approval_saved'; readonly approval: Approval }
  | { readonly kind: 'grant_saved'; readonly grant: StandingGrant }
  /**
   * Retention removes up to `most` finished approvals decided before `before`, as many beyond the newest `kept`, and as
   * many grants that ended before `before`.
   */
  | {
      readonly kind: 'approvals_removed';
      readonly before: EpochMs;
      readonly kept: number;
      readonly most: number;
    };

/** Longer than any action description of today. */
const longestAction = 256 * 1024;

/** Bounds an approval as it is read, so that stored texts cannot fill the memory of a starting gateway. */
export function boundedApproval(approval: Approval): Approval {
  const { action, actionType } = approval;
  const kept = withKeptTexts(approval, ['resource', 'covers', 'summary', 'reason']);
  if (action.length <= longestAction) return kept;
  return { ...kept, action: canonicalJson({ omitted_characters: action.length, type: actionType }) };
}

/** The same for a grant. */
export function boundedGrant(grant: StandingGrant): StandingGrant {
  return withKeptTexts(grant, ['resource', 'covers']);
}

/** The approvals and grants that a start loads. */
export interface ApprovalsSnapshot {
  /** The approvals that have something left to do. */
  readonly approvals: readonly Approval[];
  /** The grants that were not revoked. */
  readonly grants: readonly StandingGrant[];
}

/** An approval was requested, got a verdict, or was decided. */
export interface ApprovalEvent {
  readonly type: 'approval';
  readonly at: EpochMs;
  readonly agent: AgentId;
  readonly change: ApprovalChange;
  readonly approval: Approval;
}

/** `verdict`: one of several needed verdicts. */
export type ApprovalChange = 'requested' | 'verdict' | Exclude<Approval['state'], 'open'>;
