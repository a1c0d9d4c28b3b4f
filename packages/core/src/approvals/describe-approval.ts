import type { EntryDraft } from '../audit/entry.ts';
import type { Approvals } from './approvals.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { ApprovalChange, ApprovalEvent } from './approvals-slice.ts';
import { lineageOfId } from '../audit/lineage.ts';
import type { Approval } from './approval.ts';
import { traceIdsIn } from '../kernel/op-id.ts';

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
