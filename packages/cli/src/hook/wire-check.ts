import type { ActionContext, AgentId, CheckActionRequest } from '@reeve/contract';
import { ActionType, Via_Door } from '@reeve/contract';
import type { HookAction, PlannedAction } from './hook-event.ts';
import type { HostName } from './hook-host.ts';

/** Who asks, in which session. */
export interface Asker {
  readonly agentId: AgentId;
  readonly token: string;
  readonly host: HostName;
  /** The session, as the first part of operation ids and as the run. */
  readonly trace: string;
}

const longestSummary = 500;

/** One check in wire form, as the SDK would send it. */
export function wireCheck(asker: Asker, span: string, { action, note = '' }: PlannedAction): CheckActionRequest {
  return {
    agentId: asker.agentId,
    credentialToken: asker.token,
    traceId: asker.trace,
    spanId: span,
    ...wireAction(action),
    callerAgentId: undefined,
    estimatedCostMicros: undefined,
    runId: asker.trace,
    summary: note.slice(0, longestSummary),
    via: { door: Via_Door.HOOK, name: asker.host },
  };
}

function wireAction(action: HookAction): { actionType: ActionType; context: ActionContext } {
  switch (action.type) {
    case 'process_exec': {
      const value = { command: action.command, args: [...(action.args ?? [])] };
      return { actionType: ActionType.PROCESS_EXEC, context: { action: { $case: 'processExec', value } } };
    }
    case 'file_operation': {
      const { operation, path } = action;
      return {
        actionType: ActionType.FILE_OPERATION,
        context: { action: { $case: 'fileOp', value: { operation, path } } },
      };
    }
    case 'network_call': {
      const { host, port = 0, protocol = '' } = action;
      const value = { host, port, protocol };
      return { actionType: ActionType.NETWORK_CALL, context: { action: { $case: 'networkCall', value } } };
    }
    case undefined:
    case 'tool_call': {
      const { tool, source = '', args = {} } = action;
      const value = { toolName: tool, toolSource: source, targetUrl: '', argsJson: Buffer.from(JSON.stringify(args)) };
      return { actionType: ActionType.TOOL_CALL, context: { action: { $case: 'toolCall', value } } };
    }
  }
}
