import type { Approval } from '../approvals/approval.ts';
import type { StandingGrant } from '../approvals/grant.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import { longest } from '../kernel/bounds.ts';
import { keptText } from '../kernel/text-size.ts';
import type { SavedOp } from './change.ts';

/*
 * What earlier versions have stored may hold texts of any length. It is read as long as such texts may be now, so that
 * nothing that is stored fills the memory of a gateway that starts.
 */

/** More than any action takes that is described today. */
const longestAction = 256 * 1024;

export function boundedOp(op: SavedOp): SavedOp {
  return withKept(op, ['resource', 'summary', 'reason']);
}

export function boundedApproval(approval: Approval): Approval {
  const { action, actionType } = approval;
  const kept = withKept(approval, ['resource', 'covers', 'summary', 'reason']);
  if (action.length <= longestAction) return kept;
  return { ...kept, action: canonicalJson({ omitted_characters: action.length, type: actionType }) };
}

export function boundedGrant(grant: StandingGrant): StandingGrant {
  return withKept(grant, ['resource', 'covers']);
}

function withKept<Record extends object>(record: Record, members: readonly (keyof Record)[]): Record {
  const long = members.flatMap((member) => {
    const value = record[member];
    return typeof value === 'string' && value.length > longest.text ? [[member, keptText(value)] as const] : [];
  });
  return long.length === 0 ? record : { ...record, ...Object.fromEntries(long) };
}
