import type { Principal } from '../access/principal.ts';
import { requireScope } from '../access/principal.ts';
import type { Actor } from '../audit/entry.ts';
import { redactText } from '../audit/redact.ts';
import { noteOverrun } from './note-overrun.ts';
import { checkCost } from '../kernel/money.ts';
import { checkLength, longest } from '../kernel/bounds.ts';
import type { Operations } from './operations.ts';
import { moveOp } from './move-op.ts';
import type { Op, OpRecord } from './op.ts';
import { recordOf } from './op.ts';

export type Outcome = 'succeeded' | 'failed' | 'cancelled' | null;

/** How an action ended. */
export interface Completion {
  /** Null: what was reserved. */
  readonly actualCostMicros: number | null;
  readonly outcome: Outcome;
  readonly detail: string;
}

/** An operator, or a client on an agent's behalf, says that an action has finished. */
export async function completeOp(
  gov: Operations,
  by: Principal,
  op: Op,
  completion: Completion,
  reason: string,
): Promise<OpRecord> {
  requireScope(by, 'write');
  checkLength('reason', reason, longest.text);
  const { actor, requestId } = by;
  return await finishOp(gov, op, completion, { actor, reason: redactText(reason), requestId });
}

/** Running becomes completing, and the cost is settled. */
export async function finishOp(
  gov: Operations,
  op: Op,
  completion: Completion,
  by: { readonly actor: Actor; readonly reason: string; readonly requestId?: string | undefined },
): Promise<OpRecord> {
  const { actualCostMicros: actual } = completion;
  if (actual !== null) checkCost('actual_cost_micros', actual, gov.mostActionMicros);
  checkLength('detail', completion.detail, longest.text);
  const reserved = op.costMicros;
  op.costMicros = actual ?? reserved;
  try {
    moveOp(gov, op, 'complete', {
      actor: by.actor,
      reason: by.reason,
      details: {
        detail: redactText(completion.detail),
        outcome: completion.outcome,
        reserved_micros: reserved,
        ...(by.requestId === undefined ? {} : { request_id: by.requestId }),
      },
    });
  } catch (error) {
    op.costMicros = reserved;
    throw error;
  }
  noteOverrun(gov, op, reserved);
  gov.journal.onFailure(() => {
    op.costMicros = reserved;
  });
  const completed = recordOf(op);
  await gov.journal.committed();
  return completed;
}
