import type { Principal } from '../access/index.ts';
import { canonicalJson, draftOf, system, redactText } from '../audit/index.ts';
import type { Actor } from '../audit/index.ts';
import type { AgentId, Micros } from '../kernel/index.ts';
import { checkLength, longest, microsPerUsd, usdOfMicros, traceIdsIn } from '../kernel/index.ts';
import { findOp } from './find-ops.ts';
import { moveOp } from './move-op.ts';
import type { Op, OpRecord } from './op.ts';
import { recordOf } from './op.ts';
import type { Operations } from './operations.ts';
import type { ReportedCost } from './op-usage.ts';
import { costOf, tokensOf } from './op-usage.ts';
import { actorOf, authenticateAgent } from '../tenancy/index.ts';

export type Outcome = 'succeeded' | 'failed' | 'cancelled' | null;

/** How an action ended. */
export interface Completion extends ReportedCost {
  readonly outcome: Outcome;
  readonly detail: string;
}

export interface CompleteOp {
  readonly by: Principal;
  readonly opId: string;
  readonly completion: Completion;
  readonly reason: string;
}

/** An operator, or a client on an agent's behalf, reports that an action has finished. */
export function completeOp(gov: Operations, { by, opId, completion, reason }: CompleteOp): OpRecord {
  const { actor, requestId } = by;
  return finishOp(gov, findOp(gov, by, opId), completion, { actor, reason: redactText(reason), requestId });
}

/** Moves a running operation to completing, which settles its cost. */
function finishOp(
  gov: Operations,
  op: Op,
  completion: Completion,
  by: { readonly actor: Actor; readonly reason: string; readonly requestId?: string | undefined },
): OpRecord {
  const { usage = null } = completion;
  const actual = costOf(gov, op, completion);
  checkLength('detail', completion.detail, longest.text);
  const { costMicros: reserved, resultDuty } = op;
  const unjudged = isUnjudged(op, completion) ? resultDuty?.unjudged : undefined;
  moveOp(gov, op, 'complete', {
    actor: by.actor,
    reason: by.reason,
    completion: { costMicros: actual ?? reserved, usage },
    ...(unjudged === undefined ? {} : { labels: unjudged }),
    details: {
      detail: redactText(completion.detail),
      outcome: completion.outcome,
      reserved_micros: reserved,
      ...(unjudged === undefined ? {} : { result_not_judged: true }),
      ...tokensOf(usage),
      ...(by.requestId === undefined ? {} : { request_id: by.requestId }),
    },
  });
  noteOverrun(gov, op, reserved);
  return recordOf(op);
}

/**
 * Whether somebody reads a result that was to be judged and was not. Who does not say how an action ended does not say that
 * it failed.
 */
function isUnjudged({ resultDuty }: Op, { outcome }: Completion): boolean {
  return resultDuty !== null && !resultDuty.judged && (outcome === 'succeeded' || outcome === null);
}

export interface CompleteRequest extends Completion {
  readonly agentId: AgentId | undefined;
  readonly token: string;
  readonly opId: string;
}

/**
 * The agent reports that an allowed action has finished: running becomes completing. An action that still waits can be
 * called off.
 */
export function completeAction(gov: Operations, request: CompleteRequest): OpRecord {
  const agent = authenticateAgent(gov, request.agentId, request.token);
  const op = gov.ops.get(agent, request.opId);
  if (op.state === 'pending' && request.outcome === 'cancelled') return callOff(gov, op, request);
  return finishOp(gov, op, request, { actor: actorOf(agent), reason: '' });
}

/** The agent no longer wants what nobody has allowed yet. Nothing has happened, so nothing is booked. */
function callOff(gov: Operations, op: Op, completion: Completion): OpRecord {
  costOf(gov, op, completion);
  checkLength('detail', completion.detail, longest.text);
  moveOp(gov, op, 'terminate', {
    actor: actorOf(op.owner),
    reason: 'called off by its agent',
    details: { detail: redactText(completion.detail), outcome: completion.outcome },
  });
  return recordOf(op);
}

/** An action that cost more than this many times its reservation is reported. */
const mostTimes = 10;
/** A cost up to this amount is never reported. */
const leastMicros = microsPerUsd;

/**
 * Reports, in the log and to live views, that an action cost far more than was reserved. The cost counts all the same.
 */
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
  gov.journal.apply({
    type: 'audit_alert',
    at,
    agent: op.owner.record.id,
    alert: 'budget_overrun',
    details: { op_id: op.opId, actual_usd: usdOfMicros(actualMicros), reserved_usd: usdOfMicros(reservedMicros) },
  });
}
