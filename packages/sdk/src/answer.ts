import type { BudgetLimit as WireLimit, CheckActionResponse } from '@reeve/contract';
import { Decision as WireDecision } from '@reeve/contract';
import { ReeveInternal, ReeveInvalidRequest } from './errors.ts';
import type { TraceIds } from './trace-ids.ts';
import { opIdOf } from './trace-ids.ts';
import { invalidRequestReason, opStates } from '@reeve/contract/names';
import type { OpState } from '@reeve/contract/names';

export type Decision = 'allow' | 'deny' | 'pending';

const tiers = ['global', 'org', 'team', 'agent'] as const;
const periods = ['day', 'month'] as const;

/** The cap that refused a charge. */
export interface BudgetLimit {
  readonly tier: (typeof tiers)[number];
  readonly period: (typeof periods)[number];
  readonly limitMicros: number;
  /** Settled and reserved, without the refused charge; what is beyond `Number.MAX_SAFE_INTEGER` is told as that. */
  readonly spentMicros: number;
}

/** The answer to a check. */
export interface Answer extends TraceIds {
  readonly decision: Decision;
  /** True for `allow` only: everything else means that the action must not happen, or not yet. */
  readonly allowed: boolean;
  readonly reason: string;
  /** `<document>/<rule>`, `default`, `identity` or `budget/<tier>.<period>`. */
  readonly policyRule: string;
  /** The operation, to be completed once the action is done. Empty where the refusal left none. */
  readonly opId: string;
  readonly opState: OpState | undefined;
  /** Set where the decision awaits an approval. */
  readonly approvalId: string | undefined;
  /** Set where a budget denied. */
  readonly limit: BudgetLimit | undefined;
  /** How long the gateway took to decide, in microseconds. */
  readonly decisionLatencyUs: number;
  /** `sdk`: the gateway gave no answer in time, and the SDK denied in its place. */
  readonly source: 'gateway' | 'sdk';
}

const decisions: Readonly<Record<WireDecision, Decision | undefined>> = {
  [WireDecision.DECISION_UNSPECIFIED]: undefined,
  [WireDecision.ALLOW]: 'allow',
  [WireDecision.DENY]: 'deny',
  [WireDecision.PENDING]: 'pending',
};

/** Whether this can be the answer to that question. A denial may come without an operation; nothing else may. */
export function isAnswerTo(wire: CheckActionResponse, opId: string): boolean {
  return wire.opId === opId || (wire.opId === '' && wire.decision === WireDecision.DENY);
}

/** The gateway's answer. An answer about another operation is none: it must never allow this one. */
export function answerOf(wire: CheckActionResponse, ids: TraceIds): Answer {
  const decision = decisions[wire.decision];
  if (decision === undefined || !isAnswerTo(wire, opIdOf(ids))) {
    throw new ReeveInternal('the gateway answered something else than was asked');
  }
  if (wire.opId === '' && wire.policyRule === '' && wire.reason.startsWith(invalidRequestReason)) {
    // How a stream tells what other calls tell by their status.
    throw new ReeveInvalidRequest(wire.reason.slice(invalidRequestReason.length));
  }
  return {
    decision,
    allowed: decision === 'allow',
    reason: wire.reason,
    policyRule: wire.policyRule,
    opId: wire.opId,
    ...ids,
    opState: opStates.find((state) => state === wire.opState),
    approvalId: wire.approvalId === '' ? undefined : wire.approvalId,
    limit: limitOf(wire.limit),
    decisionLatencyUs: wire.decisionLatencyUs,
    source: 'gateway',
  };
}

function limitOf(wire: WireLimit | undefined): BudgetLimit | undefined {
  const tier = tiers.find((name) => name === wire?.tier);
  const period = periods.find((name) => name === wire?.period);
  if (wire === undefined || tier === undefined || period === undefined) return undefined;
  return { tier, period, limitMicros: wire.limitMicros, spentMicros: wire.spentMicros };
}
