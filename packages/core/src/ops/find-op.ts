import type { Principal } from '../access/principal.ts';
import { mayReach, requireScope } from '../access/principal.ts';
import type { Operations } from './operations.ts';
import { ReeveError } from '../kernel/errors.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import type { Op, OpRecord } from './op.ts';
import { recordOf } from './op.ts';

/** How many of those that an ambiguous id may mean are named. */
const mostCandidates = 20;

/**
 * The operation that an id means among those the caller may reach: `trace:span`, or `org/team/agent/trace:span` with `-`
 * for an empty org or team. To a tenant, another tenant's operation does not exist, and makes no id ambiguous.
 */
export function findOp(gov: Operations, by: Principal, id: string): Op {
  const found = opsMeant(gov, id).filter((op) => mayReach(by, op.owner.record.id));
  const [op] = found;
  if (op === undefined) throw new ReeveError('op_not_found', `there is no operation "${id}"`);
  if (found.length === 1) return op;
  throw new ReeveError(
    'ambiguous_op',
    `${found.length} agents have an operation "${id}"; say whose as org/team/agent/${id}`,
    { candidates: found.slice(0, mostCandidates).map(fullId) },
  );
}

/** What is known of an operation, once that is durable. */
export async function readOp(gov: Operations, by: Principal, id: string): Promise<OpRecord> {
  requireScope(by, 'read');
  const record = recordOf(findOp(gov, by, id));
  await gov.journal.committed();
  return record;
}

function opsMeant(gov: Operations, id: string): readonly Op[] {
  const [org, team, agentId, opId, ...rest] = id.split('/');
  if (org === id) return gov.ops.withId(id);
  if (org === undefined || team === undefined || agentId === undefined || opId === undefined || rest.length > 0) {
    return [];
  }
  const owner = gov.directory.find({ orgId: emptyOr(org), teamId: emptyOr(team), agentId });
  const op = owner === undefined ? undefined : gov.ops.find(owner, opId);
  return op === undefined ? [] : [op];
}

function emptyOr(part: string): string {
  return part === '-' ? '' : part;
}

function fullId({ owner, opId }: Op): string {
  const { orgId, teamId, agentId }: AgentId = owner.record.id;
  return `${orgId || '-'}/${teamId || '-'}/${agentId}/${opId}`;
}
