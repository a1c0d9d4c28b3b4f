import type { ControlChange, ControlRegistry, Controls } from '../control/index.ts';
import type { JournalOf } from '../journal/index.ts';
import type { OperationsChange, OperationsEvent } from '../ops/index.ts';
import type { PoliciesChange, PolicyEvent, Policies } from '../policy/index.ts';
import type { ApprovalRegistry, KnownApprovals } from './approval-registry.ts';
import type { ApprovalEvent, ApprovalsChange } from './approvals-slice.ts';

/** The dependencies of the approval use cases. */
export interface Approvals extends Controls, Policies {
  readonly keys: Policies['keys'];
  readonly ledger: Policies['ledger'];
  readonly policies: Policies['policies'];
  /** What people are asked about, and what they have granted. */
  readonly approvals: KnownApprovals;
  readonly journal: JournalOf<
    OperationsChange | ControlChange | PoliciesChange | ApprovalsChange,
    OperationsEvent | PolicyEvent | ApprovalEvent
  >;
}

/** What facts change: an outcome is told by a control message. */
export interface ApprovalsState extends Approvals {
  readonly control: ControlRegistry;
  readonly approvals: ApprovalRegistry;
}
