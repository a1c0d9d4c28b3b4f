import type { OpsChangeEvent } from './ops-slice.ts';
import type { Op } from './op.ts';
import { recordOf } from './op.ts';

/** The event of a transition, ingest included: the operation as it is right after it. */
export function opsChange(op: Op): OpsChangeEvent {
  return { type: 'ops_change', at: op.updatedAt, agent: op.owner.record.id, op: recordOf(op) };
}
