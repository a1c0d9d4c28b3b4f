import type { Approvals } from './approvals.ts';
import type { ApprovalsChange } from './approvals-slice.ts';
import type { Approval } from './approval.ts';
import { messageOf } from './restore-approvals.ts';
import { sendAll } from '../control/index.ts';

/** Follows an approval or a grant of another gateway. An agent that listens here is told the outcome here. */
export function followApproval(gov: Approvals, change: ApprovalsChange): void {
  if (change.kind === 'grant_saved') gov.approvals.placeGrant(change.grant);
  if (change.kind === 'approval_saved') follow(gov, change.approval);
}

function follow(gov: Approvals, approval: Approval): void {
  const before = gov.approvals.find(approval.id);
  gov.approvals.place(approval);
  const { agent, signalSequence: sequence } = approval;
  const outbox = gov.control.outbox(agent);
  if (before?.signalSequence != null && sequence === null) outbox.remove(before.signalSequence);
  if (sequence === null || before?.signalSequence === sequence) return;
  outbox.put({ message: messageOf(approval, sequence), receipt: null, released: true, gone: false });
  sendAll(gov, outbox);
}
