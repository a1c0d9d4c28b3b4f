import type { Approval, ApprovalNotice } from './approval.ts';
import type { ApprovalChange, ApprovalEvent } from './approvals-slice.ts';
import type { Approvals } from './approvals.ts';
import type { StandingGrant } from './grant.ts';
import type { EntryDraft } from '../audit/entry.ts';
import { lineageOfId } from '../audit/lineage.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import type { EpochMs } from '../kernel/clock.ts';
import { traceIdsIn } from '../kernel/op-id.ts';

/** Puts an approval in the place of what it was, in memory and in this turn. */
export function saveApproval(gov: Approvals, before: Approval | null, after: Approval): void {
  gov.approvals.place(after);
  gov.journal.onFailure(() => {
    if (before === null) gov.approvals.drop(after.id);
    else gov.approvals.place(before);
  });
  gov.journal.write({ kind: 'approval_saved', approval: after });
}

/** The same for a grant. */
export function saveGrant(gov: Approvals, before: StandingGrant | null, after: StandingGrant): void {
  gov.approvals.placeGrant(after);
  gov.journal.onFailure(() => {
    if (before === null) gov.approvals.dropGrant(after);
    else gov.approvals.placeGrant(before);
  });
  gov.journal.write({ kind: 'grant_saved', grant: after });
}

type Place = Pick<EntryDraft, 'at' | 'lineage' | 'opId' | 'traceId' | 'spanId' | 'policyRule' | 'policyVersion'>;

/** When, whose and about which operation an entry about an approval is. */
export function entryPlace(gov: Approvals, approval: Approval, at: EpochMs): Place {
  const { agent, opId, policyRule, policyVersion } = approval;
  const lineage = gov.directory.find(agent)?.lineage ?? lineageOfId(agent);
  return { at, lineage, opId, ...traceIdsIn(opId), policyRule, policyVersion };
}

export function approvalEvent(approval: Approval, change: ApprovalChange, at: EpochMs): ApprovalEvent {
  return { type: 'approval', at, agent: approval.agent, change, approval };
}

/** Somebody was told of an approval, or telling was given up: it is not told again. */
export function noteNotified(gov: Approvals, id: string, notice: ApprovalNotice): void {
  const approval = gov.approvals.find(id);
  if (approval === undefined) return;
  saveApproval(gov, approval, { ...approval, notices: approval.notices.filter((each) => each !== notice) });
}

/** The message that told an agent what became of its approval has left its outbox: it is not sent again. */
export function noteSignalled(
  gov: Approvals,
  { agent, sequence }: { readonly agent: AgentId; readonly sequence: number },
): void {
  const approval = gov.approvals.ofSignal(agent, sequence);
  if (approval !== undefined) saveApproval(gov, approval, { ...approval, signalSequence: null });
}
