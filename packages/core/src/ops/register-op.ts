import type { Principal } from '../access/index.ts';
import { canonicalJson, draftOf, system, redactText } from '../audit/index.ts';
import type { AgentId, Listened } from '../kernel/index.ts';
import { checkLength, longest, checkTraceIds, traceIdsOf, traceIdsIn } from '../kernel/index.ts';
import { moveOp } from './move-op.ts';
import type { Op, OpRecord } from './op.ts';
import { bareRecord, recordOf } from './op.ts';
import type { Operations } from './operations.ts';
import { findAgent } from '../tenancy/index.ts';

export interface RegisterOp {
  readonly by: Principal;
  readonly agent: AgentId;
  /** If both are empty, new ones are made. */
  readonly traceId: string;
  readonly spanId: string;
  readonly summary: string;
}

export interface RegisteredOp {
  readonly op: OpRecord;
  readonly created: boolean;
}

/**
 * Registers an operation before its check. It is pending, and its first check decides. Returns a known one as it is.
 */
export function registerOp(gov: Operations, request: RegisterOp): RegisteredOp {
  const { by } = request;
  checkTraceIds(request);
  checkLength('summary', request.summary, longest.text);
  const agent = findAgent(gov, by, request.agent);
  const { traceId, spanId } = traceIdsOf(request, gov.randomness);
  const opId = `${traceId}:${spanId}`;
  const known = gov.ops.find(agent, opId);
  if (known !== undefined) return { op: recordOf(known), created: false };
  const at = gov.clock.now();
  const op = { ...bareRecord(agent.record.id, opId, at), summary: redactText(request.summary) };
  gov.journal.apply({ type: 'ops_change', at, agent: op.agent, op });
  recordBegin(gov, by, gov.ops.get(agent, opId));
  return { op, created: true };
}

function recordBegin(gov: Operations, by: Principal, op: Op): void {
  const { summary } = op;
  gov.journal.record(
    draftOf({
      at: op.registeredAt,
      eventType: 'OpStateChanged',
      lineage: op.owner.lineage,
      actor: by.actor,
      opId: op.opId,
      ...traceIdsIn(op.opId),
      payload: canonicalJson({
        from: null,
        to: op.state,
        trigger: 'register',
        ...(by.requestId === undefined ? {} : { request_id: by.requestId }),
        ...(summary === '' ? {} : { summary }),
      }),
    }),
    op,
  );
}

/**
 * Terminates up to `most` registered operations whose check has not come in time, and returns how many. An operation
 * that was checked and waits for an approval has an expiry of its own. Nobody could check while the gateway did not listen.
 */
export function expireUnchecked(gov: Operations, ttlMs: number, most: number, { since }: Listened): number {
  if (gov.clock.elapsed() - since < ttlMs) return 0;
  const reason = `registered, and not checked within ${ttlMs / 1000} s`;
  let count = 0;
  for (const op of gov.ops.uncheckedFor(ttlMs)) {
    if (count === most) break;
    moveOp(gov, op, 'terminate', { actor: system, reason, details: { cause: 'unchecked' } });
    count++;
  }
  return count;
}
