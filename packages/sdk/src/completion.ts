import { bounds, outcomeNames } from '@reeve/contract';
import type { CompleteActionRequest } from '@reeve/contract';
import type { FullAgentId } from './agent-id.ts';
import { requireMicros, requireText, requireWhole } from './validate.ts';

export type Outcome = 'succeeded' | 'failed' | 'cancelled';

/** How an allowed action ended. */
export interface Completion {
  /** Default `succeeded`. */
  readonly outcome?: Outcome | undefined;
  /** The real cost. The estimate counts if this is left out. See `usd`. */
  readonly actualCostMicros?: number | undefined;
  readonly detail?: string | undefined;
  /** What a model call used. Without `actualCostMicros`, the gateway computes the cost from it. */
  readonly usage?: TokenUsage | undefined;
}

export interface TokenUsage {
  /** All of the prompt, cached tokens included. */
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cachedInputTokens?: number | undefined;
}

/** @internal */
export function completionRequest(
  agent: FullAgentId,
  token: string,
  opId: string,
  completion: Completion,
): CompleteActionRequest {
  const { outcome = 'succeeded', actualCostMicros, detail = '', usage = {} } = completion;
  requireText('opId', opId);
  if (actualCostMicros !== undefined) requireMicros('actualCostMicros', actualCostMicros);
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  for (const [member, tokens] of Object.entries({ inputTokens, outputTokens, cachedInputTokens })) {
    if (tokens !== undefined) requireWhole(`usage.${member}`, tokens, bounds.int32);
  }
  return {
    agentId: { ...agent },
    credentialToken: token,
    opId,
    actualCostMicros,
    outcome: outcomeNames.wireOf[outcome],
    detail,
    inputTokens,
    outputTokens,
    cachedInputTokens,
  };
}
