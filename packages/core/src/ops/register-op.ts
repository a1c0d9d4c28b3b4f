import type { Principal } from '../access/principal.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/entry.ts';
import { redactText } from '../audit/redact.ts';
import { checkLength, longest } from '../kernel/bounds.ts';
import { checkTraceIds, traceIdsOf, traceIdsIn } from '../kernel/op-id.ts';
import type { Operations } from './operations.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import { findAgent } from '../tenancy/find-agent.ts';
import type { Op, OpRecord } from './op.ts';
import { recordOf } from './op.ts';
import { opsChange } from './ops-slice.ts';

export interface RegisterOp {
  readonly by: Principal;
  readonly agent: AgentId;
  /** Both ids empty: they are made up. */
  readonly traceId: string;
  readonly spanId: string;
  readonly summary: string;
}

export interface RegisteredOp {
  readonly op: OpRecord;
  readonly created: boolean;
}

/**
 * Registers an operation of an agent before its check: it is pending, and its first check decides it. One that is
 * known already is answered as it is.
 */
export function registerOp(gov: Operations, request: RegisterOp): RegisteredOp {
  const { by } = request;
  checkTraceIds(request);
  checkLength('summary', request.summary, longest.text);
  const agent = findAgent(gov, by, request.agent);
  const { traceId, spanId } = traceIdsOf(request, gov.randomness);
  const { op, created } = gov.ops.ingest(agent, `${traceId}:${spanId}`);
  if (created) begin(gov, by, op, redactText(request.summary));
  return { op: recordOf(op), created };
}

function begin(gov: Operations, by: Principal, op: Op, summary: string): void {
  op.summary = summary;
  gov.ops.awaitCheck(op);
  gov.journal.onFailure(() => gov.ops.forget(op));
  gov.journal.publish(opsChange(op));
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
