import type { CheckActionRequest } from '@reeve/contract';
import type { Action } from './action.ts';
import type { AgentId, FullAgentId } from './agent-id.ts';
import { fullAgentId } from './agent-id.ts';
import { wireActionOf } from './convert-action.ts';
import type { TraceIds } from './trace-ids.ts';
import { traceIds } from './trace-ids.ts';
import { requireMicros } from './validate.ts';
import type { Via } from './via.ts';
import { wireViaOf } from './via.ts';

/** Details of an action besides the action itself. */
export interface CheckDetails {
  /** Generated if left out. A check with the ids of an earlier answer asks about that operation again. */
  readonly traceId?: string | undefined;
  readonly spanId?: string | undefined;
  /** The piece of work that the action belongs to. */
  readonly runId?: string | undefined;
  /** One line for the people who watch. */
  readonly summary?: string | undefined;
  /** The most that the action will cost, in micro-dollars. Reserved until completion. See `usd`. */
  readonly estimatedCostMicros?: number | undefined;
  /** The agent on whose behalf this one acts. */
  readonly caller?: AgentId | undefined;
  /** A JWT of the person or service for whom the agent acts. A token that does not verify is a denial. See `onBehalfOf`. */
  readonly subjectToken?: string | undefined;
  /**
   * Whether the caller acts with the arguments of the answer, where rules have rewritten them. Otherwise such an action is
   * denied. By default false, and for `run` whether the work has a parameter for its operation.
   */
  readonly canRewrite?: boolean | undefined;
  /**
   * Whether the caller has the prompt of a model call masked by `operation.checkPrompt`, where the answer says `judgePrompt`,
   * and sends nothing else. Otherwise such a call is denied.
   */
  readonly canMaskPrompt?: boolean | undefined;
  /** The door that the action comes through. Left out by agents that ask for themselves. */
  readonly via?: Via | undefined;
  /** The kernel holds what runs, and this process holds it by the kernel. Denied to delegates. */
  readonly floor?: boolean | undefined;
}

/** A check that can be sent any number of times. It holds the agent's token and never leaves the SDK. @internal */
export interface PreparedCheck {
  readonly ids: TraceIds;
  readonly message: CheckActionRequest;
}

/** @internal */
export function prepareCheck(agent: FullAgentId, token: string, action: Action, details: CheckDetails): PreparedCheck {
  const ids = traceIds(details);
  const {
    estimatedCostMicros,
    caller,
    runId = '',
    summary = '',
    via,
    subjectToken,
    floor,
    canRewrite = false,
    canMaskPrompt,
  } = details;
  if (estimatedCostMicros !== undefined) requireMicros('estimatedCostMicros', estimatedCostMicros);
  const message: CheckActionRequest = {
    agentId: { ...agent },
    credentialToken: token,
    ...ids,
    ...wireActionOf(action),
    callerAgentId: caller === undefined ? undefined : { ...fullAgentId(caller) },
    estimatedCostMicros,
    runId,
    summary,
    via: via === undefined ? undefined : wireViaOf(via),
    subjectToken,
    canRewrite,
    canMaskPrompt,
    floor,
  };
  return { ids, message };
}

/** A check that was held for long may have been prepared with a token that has been replaced since. @internal */
export function withToken(check: PreparedCheck, credentialToken: string): PreparedCheck {
  if (check.message.credentialToken === credentialToken) return check;
  return { ...check, message: { ...check.message, credentialToken } };
}
