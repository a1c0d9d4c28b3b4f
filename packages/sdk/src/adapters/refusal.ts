import { ActionDeniedError } from '../action-denied.ts';
import type { Answer } from '../answer.ts';
import { OperationTerminatedError, ReeveError, ReeveInvalidRequest, ReeveResourceExhausted } from '../errors.ts';

/** Why a call did not happen, or gives no result. `text` is for the model, so that it can choose another way. */
export interface Refusal {
  readonly kind: 'denied' | 'waiting' | 'away' | 'stopped';
  readonly text: string;
  readonly reason: string;
  readonly policyRule: string;
  readonly opId: string;
  /** The answer of the gateway, unless a person ended the call. */
  readonly answer?: Answer | undefined;
}

type Facts = Pick<Answer, 'reason' | 'policyRule' | 'opId'>;

export function denied({ reason, policyRule, opId }: Facts): Refusal {
  return { kind: 'denied', text: `Denied by policy: ${reason}`, reason, policyRule, opId };
}

export function away(reason: string): Refusal {
  const text = `Reeve is not reachable, so this did not happen: ${reason}`;
  return { kind: 'away', text, reason, policyRule: '', opId: '' };
}

export function stopped({ reason, opId }: OperationTerminatedError): Refusal {
  const text = reason === '' ? 'Stopped by an operator' : `Stopped by an operator: ${reason}`;
  return { kind: 'stopped', text, reason, policyRule: '', opId };
}

function waiting({ approvalId, reason, policyRule, opId }: Answer): Refusal {
  const what = approvalId === undefined ? '' : ` ${approvalId}`;
  const text = `Waiting for approval${what}: nobody has decided in time (${reason}). The call was called off; ask for it again later.`;
  return { kind: 'waiting', text, reason, policyRule, opId };
}

export function refusalOfAnswer(answer: Answer): Refusal {
  if (answer.source === 'sdk') return { ...away(answer.reason), answer };
  return { ...(answer.decision === 'pending' ? waiting(answer) : denied(answer)), answer };
}

export function refusalOfRequest(fault: string): Refusal {
  return denied({ reason: `the call cannot be checked: ${fault}`, policyRule: '', opId: '' });
}

/**
 * What an error means that came before the call began. Undefined if it is none of Reeve's. The end of a held call names no
 * rule, so the one that asked a person counts.
 */
export function refusalOf(error: unknown, held?: Answer): Refusal | undefined {
  if (error instanceof ActionDeniedError) return refusalOfAnswer(error.answer);
  if (error instanceof OperationTerminatedError) {
    const reason = error.reason === '' ? 'operation is terminated' : error.reason;
    const asked = held?.approvalId === undefined ? '' : held.policyRule;
    return denied({ reason, policyRule: asked, opId: error.opId });
  }
  if (error instanceof ReeveInvalidRequest || error instanceof ReeveResourceExhausted) {
    return refusalOfRequest(error.message);
  }
  return error instanceof ReeveError ? away(error.message) : undefined;
}

/** The refusal as an error, for frameworks whose tools and models say no by throwing. */
export function refusalError(refusal: Refusal): ActionDeniedError {
  const { kind, text, reason, policyRule, opId } = refusal;
  const [traceId = '', spanId = ''] = opId.split(':');
  const answer = refusal.answer ?? {
    decision: 'deny',
    allowed: false,
    reason,
    policyRule,
    opId,
    traceId,
    spanId,
    opState: undefined,
    approvalId: undefined,
    limit: undefined,
    judgeResult: false,
    judgePrompt: false,
    decisionLatencyUs: 0,
    source: kind === 'away' ? 'sdk' : 'gateway',
  };
  return new ActionDeniedError(answer, text);
}
