import type { Principal } from '../access/principal.ts';
import { mayReach, requireScope } from '../access/principal.ts';
import type { Approvals } from './approvals.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { Op } from '../ops/op.ts';
import type { Approval } from './approval.ts';

/** The operation that an approval is about, where it is still known. */
export function opAskedAbout(gov: Approvals, { agent, opId }: Pick<Approval, 'agent' | 'opId'>): Op | undefined {
  const owner = gov.directory.find(agent);
  return owner === undefined ? undefined : gov.ops.find(owner, opId);
}

/** An approval that the caller may see, once it is durable. To a tenant, another tenant's does not exist. */
export async function findApproval(gov: Approvals, by: Principal, id: string): Promise<Approval> {
  requireScope(by, 'read');
  await gov.journal.committed();
  const approval = gov.approvals.find(id) ?? (await gov.approvals.reader.approval(id));
  if (approval !== undefined && mayReach(by, approval.agent)) return approval;
  throw new ReeveError('approval_not_found', `there is no approval "${id}"`);
}
