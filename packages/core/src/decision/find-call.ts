import type { AuditPage, AuditReader } from '../audit/index.ts';
import type { Op } from '../ops/index.ts';
import type { RecordedDecision } from './recorded-decision.ts';
import { recordedDecision } from './recorded-decision.ts';

/** An operation that was checked again and again has many entries. The search reads at most this many pages. */
const [perPage, mostPages] = [100, 100];

/** The call that an operation is about, as the log has it. Undefined if the log does not have it any more. */
export async function findCall(log: AuditReader, op: Op): Promise<RecordedDecision | undefined> {
  const { orgId, teamId, agentId } = op.owner.record.id;
  const filter = { ...(orgId === '' ? {} : { orgId, teamId }), agentId, opId: op.opId, limit: perPage };
  let before: number | null | undefined;
  for (let page = 0; page < mostPages && before !== null; page++) {
    const { entries, next }: AuditPage = await log.latest(before === undefined ? filter : { ...filter, before });
    for (const entry of entries) {
      const decision = recordedDecision(entry);
      // An earlier one is about another operation with the same id, which has ended.
      if (decision !== undefined && isOf(decision, op)) return decision;
    }
    before = next;
  }
  return undefined;
}

function isOf({ agent }: RecordedDecision, { owner }: Op): boolean {
  const { orgId, teamId, agentId } = owner.record.id;
  return agent.agentId === agentId && agent.teamId === teamId && agent.orgId === orgId;
}
