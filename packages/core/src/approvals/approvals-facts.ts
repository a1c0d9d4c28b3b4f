import { sendAll } from '../control/index.ts';
import type { Applying, Meanings, Undo } from '../journal/index.ts';
import { nothingToApply, prune, put, shownOnly, storedOnly } from '../journal/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { Approval } from './approval.ts';
import { messageOf } from './approval.ts';
import type { Approvals } from './approvals.ts';
import { approvalsTable, grantsTable } from './approvals-rows.ts';
import type { ApprovalEvent, ApprovalsChange } from './approvals-slice.ts';

const byDecision = ['decided_at', 'id'];

export const approvalFacts: Meanings<Approvals, ApprovalsChange | ApprovalEvent> = {
  approval_saved: {
    apply: (gov, { approval }, how) => {
      const told = gov.approvals.find(approval.id)?.signalSequence ?? null;
      const undo = gov.approvals.place(approval);
      if (told === approval.signalSequence) return undo;
      const [takeBack, untell] = [
        told === null ? nothingToApply() : withdraw(gov, approval, told),
        tell(gov, approval, how),
      ];
      return () => {
        untell();
        takeBack();
        undo();
      };
    },
    touch: ({ approval }) => ({ agent: agentKey(approval.agent) }),
    rows: ({ approval }) => [put(approvalsTable, approval)],
  },
  grant_saved: {
    apply: (gov, { grant }) => gov.approvals.placeGrant(grant),
    touch: ({ grant }) => ({ agent: agentKey(grant.agent) }),
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

/** Puts the outcome into the agent's outbox. It leaves once it is durable, wherever the agent listens. */
function tell(gov: Approvals, approval: Approval, { isHere, onDurable }: Applying): Undo {
  const { agent, signalSequence: sequence } = approval;
  if (sequence === null) return nothingToApply();
  const outbox = gov.control.outbox(agent);
  const { lastSequence } = outbox;
  const queued = { message: messageOf(approval, sequence), receipt: null, released: !isHere, gone: false };
  outbox.put(queued);
  onDurable(() => {
    // Set here, not by number: a later turn may have discarded the message, and may be undone.
    queued.released = true;
    sendAll(gov, outbox);
  });
  return () => {
    outbox.remove(sequence);
    if (outbox.lastSequence === sequence) outbox.lastSequence = lastSequence;
  };
}

/** The agent has acknowledged the outcome, or need not hear it. */
function withdraw(gov: Approvals, { agent }: Approval, sequence: number): Undo {
  const outbox = gov.control.outbox(agent);
  const queued = outbox.find(sequence);
  outbox.remove(sequence);
  return () => {
    if (queued !== undefined) outbox.put({ ...queued, gone: false });
  };
}
