import type { Issuers, SubjectIssuer } from '../access/index.ts';
import type { Approvals, ApprovalEvent, ApprovalsChange } from '../approvals/index.ts';
import type { KnownRates, RatesChange } from '../budget/index.ts';
import type { ControlChange } from '../control/index.ts';
import type { JournalOf } from '../journal/index.ts';
import type { OperationsChange, OperationsEvent } from '../ops/index.ts';
import type { PoliciesChange, PolicyEvent } from '../policy/index.ts';
import type { Workloads } from '../tenancy/index.ts';
import type { DecisionEvent } from './answer.ts';
import type { HeldRewrites } from './held-rewrites.ts';

/** What decisions work on: every layer below them. */
export interface Decisions extends Approvals {
  /** What the JWTs of workloads prove, that come with checks. */
  readonly workloads: Workloads;
  /** Who vouches for the users for whom agents act. */
  readonly subjects: Issuers<SubjectIssuer>;
  /** What counts for rates. */
  readonly rates: KnownRates;
  /** What replays of rewritten calls need that no fact may hold. */
  readonly rewrites: HeldRewrites;
  readonly journal: JournalOf<
    OperationsChange | ControlChange | PoliciesChange | ApprovalsChange | RatesChange,
    OperationsEvent | PolicyEvent | ApprovalEvent | DecisionEvent
  >;
}
