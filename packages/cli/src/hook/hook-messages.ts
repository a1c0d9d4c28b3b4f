import type {
  ActionContext,
  CheckActionRequest,
  CheckActionResponse,
  CheckResultRequest,
  CompleteActionRequest,
} from '@reeve/contract';
import { actionTypeNames, decisionNames, doorNames, outcomeNames } from '@reeve/contract';
import type { HookHostName } from '@reeve/contract/names';
import type { Decision, Outcome } from '@reeve/sdk';
import type { AgentName } from '../agent-identity/agent-name.ts';
import type { HookAction, PlannedAction } from './hook-event.ts';

/** Who asks, in which session. */
export interface Asker {
  readonly agentId: AgentName;
  readonly token: string;
  readonly host: HookHostName;
  /** The session, as the first part of operation ids and as the run. */
  readonly trace: string;
  /** The JWT of the user for whom the agent acts, as it is now. */
  readonly subjectToken: () => string | undefined;
}

export interface CheckAnswer {
  readonly decision: Decision | undefined;
  readonly reason: string;
  readonly policyRule: string;
  readonly approvalId: string;
  readonly opId: string;
  /** Whether what it brings back must be judged before a model reads it. */
  readonly judgesResult: boolean;
  /** The arguments to use in place of those that were asked about. */
  readonly args: Uint8Array | undefined;
}

const longestSummary = 500;

/** As the SDK would send it. */
export function checkRequest(
  asker: Asker,
  span: string,
  { action, note = '' }: PlannedAction,
  canRewrite: boolean,
): CheckActionRequest {
  return {
    agentId: asker.agentId,
    credentialToken: asker.token,
    traceId: asker.trace,
    spanId: span,
    actionType: actionTypeNames.wireOf[action.type ?? 'tool_call'],
    context: contextOf(action),
    callerAgentId: undefined,
    estimatedCostMicros: undefined,
    runId: asker.trace,
    summary: note.slice(0, longestSummary),
    via: { door: doorNames.wireOf.hook, name: asker.host },
    subjectToken: asker.subjectToken(),
    canRewrite,
  };
}

function contextOf(action: HookAction): ActionContext {
  switch (action.type) {
    case 'process_exec': {
      const { command, args = [], workingDir = '' } = action;
      return { action: { $case: 'processExec', value: { command, args: [...args], workingDir } } };
    }
    case 'file_operation': {
      const { operation, path } = action;
      return { action: { $case: 'fileOp', value: { operation, path } } };
    }
    case 'network_call': {
      const { host, port = 0, protocol = '' } = action;
      return { action: { $case: 'networkCall', value: { host, port, protocol } } };
    }
    case undefined:
    case 'tool_call': {
      const { tool, source = '', args = {} } = action;
      const argsJson = Buffer.from(JSON.stringify(args));
      return { action: { $case: 'toolCall', value: { toolName: tool, toolSource: source, argsJson, targetUrl: '' } } };
    }
  }
}

export function checkAnswer(response: CheckActionResponse): CheckAnswer {
  const { reason, policyRule, approvalId, opId, judgeResult: judgesResult, argsJson: args } = response;
  return {
    decision: decisionNames.nameOf(response.decision),
    reason,
    policyRule,
    approvalId,
    opId,
    judgesResult,
    args,
  };
}

export function resultRequest(
  { agentId, token, trace }: Asker,
  span: string,
  resultJson: Buffer,
  isError: boolean,
): CheckResultRequest {
  return { agentId, credentialToken: token, opId: `${trace}:${span}`, resultJson, isError };
}

export function completeRequest(
  { agentId, token, trace }: Asker,
  span: string,
  outcome: Outcome,
  detail: string,
): CompleteActionRequest {
  return { agentId, credentialToken: token, opId: `${trace}:${span}`, outcome: outcomeNames.wireOf[outcome], detail };
}
