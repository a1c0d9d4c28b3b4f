import { CompleteActionRequest_Outcome as WireOutcome } from '@reeve/contract';
import type { CompleteActionRequest } from '@reeve/contract';
import type { FullAgentId } from './agent-id.ts';
import { requireMicros, requireText } from './validate.ts';

export type Outcome = 'succeeded' | 'failed' | 'cancelled';

/** How an allowed action ended. */
export interface Completion {
  /** Default `succeeded`. */
  readonly outcome?: Outcome | undefined;
  /** The real cost. The estimate counts if this is left out. See `usd`. */
  readonly actualCostMicros?: number | undefined;
  readonly detail?: string | undefined;
}

const outcomes: Readonly<Record<Outcome, WireOutcome>> = {
  succeeded: WireOutcome.SUCCEEDED,
  failed: WireOutcome.FAILED,
  cancelled: WireOutcome.CANCELLED,
};

export function completionRequest(
  agent: FullAgentId,
  token: string,
  opId: string,
  completion: Completion,
): CompleteActionRequest {
  const { outcome = 'succeeded', actualCostMicros, detail = '' } = completion;
  requireText('opId', opId);
  if (actualCostMicros !== undefined) requireMicros('actualCostMicros', actualCostMicros);
  return {
    agentId: { ...agent },
    credentialToken: token,
    opId,
    actualCostMicros,
    outcome: outcomes[outcome],
    detail,
  };
}
