import { queueMessage } from '../control/index.ts';
import type { Applying, Meanings, Undo } from '../journal/index.ts';
import { nothingToApply, prune, put, shownOnly, storedOnly, undoAll } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { Approval } from './approval.ts';
import { messageOf } from './approval.ts';
import type { ApprovalsState } from './approvals.ts';
import { approvalsTable, grantsTable } from './approvals-rows.ts';
import type { ApprovalEvent, ApprovalsChange } from './approvals-slice.ts';
import { approvalName } from './watched-approvals.ts';

const byDecision = ['decided_at', 'id'];

export const approvalFacts: Meanings<ApprovalsState, ApprovalsChange | ApprovalEvent> = {
  approval_saved: {
    apply: (gov, { approval }, how) => {
      const before = gov.approvals.find(approval.id);
      const undo = gov.approvals.place(approval);
      const told = before?.signalSequence ?? null;
      if (told === approval.signalSequence && isSameOutcome(before, approval)) return undo;
      // The agent has acknowledged the outcome, need not hear it, or hears another one.
      const withdraw = told === null ? nothingToApply() : gov.control.outbox(approval.agent).remove(told);
      return undoAll(undo, withdraw, tell(gov, approval, how));
    },
    touch: ({ approval }) => ({ agent: agentKey(approval.agent) }),
    alters: ({ approval }) => [approvalName(approval.id)],
    rows: ({ approval }) => [put(approvalsTable, approval)],
  },
  grant_saved: {
    apply: (gov, { grant }) => gov.approvals.placeGrant(grant),
    touch: ({ grant }) => ({ agent: agentKey(grant.agent) }),
    alters: ({ grant }) => [approvalName(grant.id)],
    rows: ({ grant }) => [put(grantsTable, grant)],
  },
  approvals_removed: {
    ...storedOnly,
    rows: ({ before, kept, most }) => [
      prune(
        approvalsTable,
        [
          { column: 'is_live', is: 'off' },
          { column: 'decided_at', is: '<', value: before },
        ],
        { order: byDecision, most },
      ),
      prune(approvalsTable, [{ column: 'is_live', is: 'off' }], { order: byDecision, most, beyond: kept }),
      prune(grantsTable, [{ column: 'ends_at', is: '<', value: before }], { order: ['ends_at'], most }),
    ],
  },
  approval: shownOnly,
};

/** A gateway that could not read all may decide once more. The agent hears what the log says last, as after a restart. */
function isSameOutcome(before: Approval | undefined, after: Approval): boolean {
  return before?.state === after.state && before.decidedAt === after.decidedAt;
}

/** The agent is told the outcome. It leaves once it is durable, wherever the agent listens. */
function tell(gov: ApprovalsState, approval: Approval, how: Applying): Undo {
  const { agent, signalSequence: sequence } = approval;
  if (sequence === null) return nothingToApply();
  return queueMessage(gov, agent, { message: messageOf(approval, sequence), receipt: null }, how);
}
