import type { Answer } from '@reeve/sdk';
import type { JsonId, JsonObject, Message } from '../protocol/message.ts';
import { resultMessage } from '../protocol/message.ts';

/** What became of a call, for programs. It stands in `_meta` beside the text for the model. */
interface DecisionNote {
  readonly decision: 'deny' | 'pending';
  readonly reason: string;
  readonly policy_rule: string;
  readonly op_id: string;
}

export interface Refused {
  readonly text: string;
  readonly note: DecisionNote;
}

export const changedReason = 'tool definition changed since it was locked';

export function deniedBy({ reason, policyRule, opId }: Pick<Answer, 'reason' | 'policyRule' | 'opId'>): Refused {
  return { text: `Denied by policy: ${reason}`, note: noteOf('deny', reason, policyRule, opId) };
}

export function notReachable(reason: string): Refused {
  return {
    text: `Reeve is not reachable, so the tool was not called: ${reason}`,
    note: noteOf('deny', reason, '', ''),
  };
}

export function stillWaiting({ approvalId, reason, policyRule, opId }: Answer): Refused {
  const what = approvalId === undefined ? '' : ` ${approvalId}`;
  const text = `Waiting for approval${what}: nobody has decided in time (${reason}). The call was called off; ask for it again.`;
  return { text, note: noteOf('pending', reason, policyRule, opId) };
}

export function stopped(reason: string, opId: string): Refused {
  const text = reason === '' ? 'Stopped by an operator' : `Stopped by an operator: ${reason}`;
  return { text, note: noteOf('deny', reason, '', opId) };
}

function noteOf(decision: DecisionNote['decision'], reason: string, rule: string, opId: string): DecisionNote {
  return { decision, reason, policy_rule: rule, op_id: opId };
}

/** The result of a call that did not happen, or whose result is not given. */
export function refusedResult(id: JsonId, { text, note }: Refused, isStateless: boolean): Message {
  const result: JsonObject = {
    ...(isStateless ? { resultType: 'complete' } : {}),
    content: [{ type: 'text', text }],
    isError: true,
    _meta: { 'reeve.dev/decision': note },
  };
  return resultMessage(id, result);
}
