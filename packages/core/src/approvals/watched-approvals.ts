import type { Noting } from '../journal/index.ts';
import { eachNoted, watched } from '../journal/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { ApprovalRegistry, KnownApprovals } from './approval-registry.ts';

/** An approval or a grant, under the name by which turns rest on it before they know whose it is. */
export function approvalName(id: string): string {
  return `approval ${id}`;
}

/** Not noted: ports, the clock, and what is forgotten by it. */
type Unnoted = 'findAccounts' | 'forgetExpiredGrants' | 'isDue' | 'openCount' | 'owing' | 'reader' | 'settings';

/** Notes what rules read of approvals and grants. They are the state of their agent. */
export function watchedApprovals(approvals: ApprovalRegistry, journal: Noting): ApprovalRegistry {
  const note = ({ agent }: { readonly agent: AgentId }) => journal.reads({ agent: agentKey(agent) });
  const named = <Found extends { readonly agent: AgentId }>(id: string, found: Found | undefined) => {
    if (found === undefined) journal.reads({ name: approvalName(id) });
    else note(found);
    return found;
  };
  const seen: Omit<KnownApprovals, Unnoted> = {
    openCountOf: (key) => {
      journal.reads({ agent: key });
      return approvals.openCountOf(key);
    },
    find: (id) => named(id, approvals.find(id)),
    findGrant: (id) => named(id, approvals.findGrant(id)),
    ofOp: (agent, opId) => {
      note({ agent });
      return approvals.ofOp(agent, opId);
    },
    ofSignal: (agent, sequence) => {
      note({ agent });
      return approvals.ofSignal(agent, sequence);
    },
    grantFor: (subject, asking, runId, now) => {
      note(subject);
      return approvals.grantFor(subject, asking, runId, now);
    },
    due: () => eachNoted(approvals.due(), note),
  };
  return watched(approvals, seen);
}
