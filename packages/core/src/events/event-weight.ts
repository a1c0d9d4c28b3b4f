import type { Approval } from '../approvals/approval.ts';
import type { DomainEvent } from '../store.ts';
import type { OpRecord } from '../ops/op.ts';

/** What an event holds beside the texts that others have written. */
const bare = 512;

/** About how much memory an event takes, in characters. An event never changes, and neither does its weight. */
export function weightOf(event: DomainEvent): number {
  switch (event.type) {
    case 'ops_change':
      return bare + textsOfOp(event.op);
    case 'approval':
      return bare + textsOfApproval(event.approval);
    case 'decision':
      return bare + event.reason.length;
    case 'policy':
      return bare + (event.error?.length ?? 0);
    case 'audit_alert':
      return bare + JSON.stringify(event.details).length;
    case 'agent':
    case 'budget':
      return bare;
  }
}

function textsOfOp({ resource, summary, reason, control }: OpRecord): number {
  const told = control === null ? 0 : control.reason.length + control.detail.length;
  return resource.length + summary.length + reason.length + told;
}

function textsOfApproval({ resource, summary, action, reason, verdicts }: Approval): number {
  const given = verdicts.reduce((sum, verdict) => sum + verdict.reason.length, 0);
  return resource.length + summary.length + action.length + reason.length + given;
}
