import type { Approvals } from './approvals.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import { saveApproval } from './save-approval.ts';

/** The message that told an agent what became of its approval has left its mailbox: it is not sent again. */
export function noteSignalled(
  gov: Approvals,
  { agent, sequence }: { readonly agent: AgentId; readonly sequence: number },
): void {
  const approval = gov.approvals.ofSignal(agent, sequence);
  if (approval !== undefined) saveApproval(gov, approval, { ...approval, signalSequence: null });
}
