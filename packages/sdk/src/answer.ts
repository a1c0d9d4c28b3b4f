import type { BudgetLimit as WireLimit, CheckActionResponse } from '@reeve/contract';
import { decisionNames, Decision as WireDecision } from '@reeve/contract';
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
  /** Settled and reserved, without the refused charge. Capped at `Number.MAX_SAFE_INTEGER`. */
  readonly spentMicros: number;
}

/** The answer to a check. */
export interface Answer extends TraceIds {
  readonly decision: Decision;
  /** True only for `allow`. Everything else means that the action must not happen, or not yet. */
  readonly allowed: boolean;
  readonly reason: string;
  /** `<document>/<rule>`, `default`, `identity` or `budget/<tier>.<period>`. */
  readonly policyRule: string;
  /** The operation, to be completed after the action. Empty if the check was refused without one. */
  readonly opId: string;
  readonly opState: OpState | undefined;
  /** Set if the decision awaits an approval. */
  readonly approvalId: string | undefined;
  /** Set if a budget denied. */
  readonly limit: BudgetLimit | undefined;
  /** Whether a rule on results could match: what the action brings back must be judged before a model reads it. */
  readonly judgeResult: boolean;
  /** Whether rules mask the prompt of the model call: `operation.checkPrompt` gives what the provider may see. */
  readonly judgePrompt: boolean;
  /** The arguments to act with, if rules have rewritten them. Absent if they are as they were sent. */
  readonly rewrittenArgs?: Readonly<Record<string, unknown>> | undefined;
  /** How long the gateway took to decide, in microseconds. */
  readonly decisionLatencyUs: number;
  /** `sdk`: the gateway gave no answer in time, so the SDK denied instead. */
  readonly source: 'gateway' | 'sdk';
}

/** Whether the answer can belong to the question. Only a denial may come without an operation. @internal */
export function isAnswerTo(wire: CheckActionResponse, opId: string): boolean {
  return wire.opId === opId || (wire.opId === '' && wire.decision === WireDecision.DENY);
}

/** The answer of the gateway. An answer about another operation does not count: it must never allow this one. @internal */
export function answerOf(wire: CheckActionResponse, ids: TraceIds): Answer {
  const decision = decisionNames.nameOf(wire.decision);
  if (decision === undefined || !isAnswerTo(wire, opIdOf(ids))) {
    throw new ReeveInternal('the gateway answered something else than was asked');
  }
  if (wire.opId === '' && wire.policyRule === '' && wire.reason.startsWith(invalidRequestReason)) {
    // A stream reports in the reason what other calls report by status.
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
    judgeResult: wire.judgeResult,
    judgePrompt: wire.judgePrompt ?? false,
    ...rewrittenIn(wire),
    decisionLatencyUs: wire.decisionLatencyUs,
    source: 'gateway',
  };
}

/** What cannot be read must not happen as it was sent. */
function rewrittenIn({ argsJson }: CheckActionResponse): Pick<Answer, 'rewrittenArgs'> {
  if (argsJson === undefined) return {};
  let args: unknown;
  try {
    args = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(argsJson));
  } catch {
    // The next line refuses it.
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    throw new ReeveInternal('the gateway answered with arguments that are no JSON object');
  }
  return { rewrittenArgs: args as Readonly<Record<string, unknown>> };
}

function limitOf(wire: WireLimit | undefined): BudgetLimit | undefined {
  const tier = tiers.find((name) => name === wire?.tier);
  const period = periods.find((name) => name === wire?.period);
  if (wire === undefined || tier === undefined || period === undefined) return undefined;
  return { tier, period, limitMicros: wire.limitMicros, spentMicros: wire.spentMicros };
}
