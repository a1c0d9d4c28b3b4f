import { canonicalJson } from '../audit/canonical-json.ts';
import { draftOf } from '../audit/draft.ts';
import { system } from '../audit/entry.ts';
import type { Operations } from './operations.ts';
import type { Op } from './op.ts';
import type { Micros } from '../kernel/money.ts';
import { microsPerUsd, usdOfMicros } from '../kernel/money.ts';
import { traceIdsIn } from '../kernel/op-id.ts';

/** An action that did cost more than this many times what was held back for it is told about. */
const mostTimes = 10;
/** Of what costs no more than this, nobody is told. */
const leastMicros = microsPerUsd;

/** Tells, in the log and to live views, that an action did cost far more than was held back for it. It is booked all the same. */
export function noteOverrun(gov: Operations, op: Op, reservedMicros: Micros): void {
  const { costMicros: actualMicros } = op;
  if (actualMicros <= leastMicros || actualMicros <= reservedMicros * mostTimes) return;
  const at = gov.clock.now();
  gov.journal.record(
    draftOf({
      at,
      eventType: 'BudgetOverrun',
      lineage: op.owner.lineage,
      actor: system,
      opId: op.opId,
      ...traceIdsIn(op.opId),
      reason: `the action did cost ${usdOfMicros(actualMicros)} USD, of which ${usdOfMicros(reservedMicros)} USD were held back`,
      payload: canonicalJson({ actual_micros: actualMicros, reserved_micros: reservedMicros }),
    }),
  );
  gov.journal.publish({
    type: 'audit_alert',
    at,
    agent: op.owner.record.id,
    alert: 'budget_overrun',
    details: { op_id: op.opId, actual_usd: usdOfMicros(actualMicros), reserved_usd: usdOfMicros(reservedMicros) },
  });
}
