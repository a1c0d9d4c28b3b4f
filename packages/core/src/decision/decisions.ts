import type { Approvals } from '../approvals/approvals.ts';
import type { ApprovalEvent, ApprovalsChange } from '../approvals/approvals-slice.ts';
import type { RunTally } from '../budget/run-tally.ts';
import type { ControlChange } from '../control/control-slice.ts';
import type { JournalOf } from '../journal/journal.ts';
import type { OperationsChange, OperationsEvent } from '../ops/operations.ts';
import type { PoliciesChange, PolicyEvent } from '../policy/policy-slice.ts';
import type { DecisionEvent } from './answer.ts';

/** What decisions work on: all that is below them. */
export interface Decisions extends Approvals {
  /** What has happened in the runs of agents. */
  readonly runs: RunTally;
  readonly journal: JournalOf<
    OperationsChange | ControlChange | PoliciesChange | ApprovalsChange,
    OperationsEvent | PolicyEvent | ApprovalEvent | DecisionEvent
  >;
}
