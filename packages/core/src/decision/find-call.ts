import type { AuditReader } from '../audit/index.ts';
import type { Op } from '../ops/index.ts';
import { inRun } from '../ops/index.ts';
import { keyOfPlace, placeOfRun } from '../runs/index.ts';
import type { RecordedDecision } from './recorded-decision.ts';
import { recordedDecision } from './recorded-decision.ts';

/**
 * The call that an operation is about, as the log has it. Undefined if the log does not have it any more. Of all entries
 * of an operation only the one that decided has a run, and it is among the first: however many replays and results
 * follow, one entry is read.
 */
export async function findCall(log: AuditReader, op: Op): Promise<RecordedDecision | undefined> {
  const { orgId, teamId, agentId } = op.owner.record.id;
  const run = keyOfPlace(placeOfRun(inRun(op)));
  const filter = { ...(orgId === '' ? {} : { orgId, teamId }), agentId, opId: op.opId, run, limit: 1 };
  // What is older is about another operation with the same id, which has ended and is forgotten.
  const since = await log.oldest({ ...filter, from: op.registeredAt });
  // The clock may have been set back since the operation was registered, or that of another gateway may be behind.
  const { entries } = since.entries.length > 0 ? since : await log.latest(filter);
  const [entry] = entries;
  return entry && recordedDecision(entry);
}
