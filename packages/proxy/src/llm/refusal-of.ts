import { subjectTokenReason } from '@reeve/contract/names';
import type { Answer } from '@reeve/sdk';
import {
  ActionDeniedError,
  OperationTerminatedError,
  ReeveError,
  ReeveInvalidRequest,
  ReeveResourceExhausted,
  ReeveUnauthenticated,
  ReeveUnavailable,
} from '@reeve/sdk';
import { TooManyAgents } from '../front/agents-by-token.ts';
import { WrongHost } from '../front/host-check.ts';
import { Refusal } from './refusal.ts';

/** Refusals of the identity that are about the agent's state. */
const statesOfAgents = new Set(['agent is suspended', 'agent has not confirmed a stop', 'agent is out of service']);

/** Why an operation ends that nobody has decided about. */
const expired = 'approval expired';

/** What the client of a model is told if the gateway does not let a call happen. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof WrongHost) {
    return new Refusal(error.status === 421 ? 'misdirected_request' : 'invalid_request', error.message);
  }
  if (error instanceof TooManyAgents) return new Refusal('overloaded', error.message);
  if (error instanceof ActionDeniedError) return refusalOfAnswer(error.answer);
  if (error instanceof OperationTerminatedError) {
    const { reason, opId } = error;
    if (reason === expired) return new Refusal('approval_pending', `Waiting for approval: ${reason}`, opId);
    return new Refusal(
      'policy_denied',
      `Denied by policy: ${reason === '' ? 'the call was terminated' : reason}`,
      opId,
    );
  }
  if (error instanceof ReeveUnauthenticated) return badToken(error.message);
  if (error instanceof ReeveInvalidRequest) return new Refusal('invalid_request', error.message);
  // A gateway that has enough of an agent is not away: nothing may happen unchecked.
  if (error instanceof ReeveResourceExhausted) return new Refusal('overloaded', `Reeve has no room: ${error.message}`);
  if (error instanceof ReeveUnavailable) return away(error.message);
  if (error instanceof ReeveError) return away('it gave no answer that makes sense');
  return new Refusal('internal_error', 'the proxy has failed');
}

/** The token is nobody's. */
export function badToken(why: string): Refusal {
  return new Refusal('invalid_api_key', `The agent token is not accepted: ${why}`);
}

function refusalOfAnswer(answer: Answer): Refusal {
  const { reason, policyRule, opId, approvalId } = answer;
  if (answer.source === 'sdk') return away(reason);
  if (answer.decision === 'pending') {
    const which = approvalId === undefined ? '' : ` (approval ${approvalId})`;
    return new Refusal('approval_pending', `Waiting for approval${which}: ${reason}`, opId);
  }
  if (answer.limit !== undefined || policyRule.startsWith('budget/')) {
    return new Refusal('budget_exceeded', `Over budget: ${reason}`, opId);
  }
  if (policyRule === 'identity' && !isKnown(reason)) return badToken(reason);
  return new Refusal('policy_denied', `Denied by policy: ${reason}`, opId);
}

/** Whether the agent's own token is good although its identity is refused. */
function isKnown(reason: string): boolean {
  return statesOfAgents.has(reason) || reason.startsWith(subjectTokenReason);
}

function away(why: string): Refusal {
  return new Refusal('gateway_unavailable', `Reeve is not reachable: ${why}`);
}
