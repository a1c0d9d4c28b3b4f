import type { ActionContext, CheckActionRequest } from '@reeve/contract';
import {
  actionTypeNames,
  ActionType as WireActionType,
  decisionNames,
  doorNames,
  Via_Door as WireDoor,
} from '@reeve/contract';
import type { BudgetLimit, CheckActionResponse } from '@reeve/contract';
import type { Action, ActionType, Answer, CheckRequest, Total, Via } from '@reeve/core';
import { action, invalid, parseCheckRequest, toldReason } from '@reeve/core';
import { inexactIn } from '../../evaluation/inexact-in.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function checkRequestOf(wire: CheckActionRequest, mostMicros: number): CheckRequest {
  const asked = actionOf(wire.actionType, wire.context);
  const raw = {
    agentId: wire.agentId,
    token: wire.credentialToken,
    traceId: wire.traceId,
    spanId: wire.spanId,
    action: asked,
    caller: wire.callerAgentId === undefined || wire.callerAgentId.agentId === '' ? null : wire.callerAgentId,
    estimatedCostMicros: wire.estimatedCostMicros ?? null,
    runId: wire.runId,
    summary: wire.summary,
    via: wire.via === undefined ? null : viaOf(wire.via),
    subjectToken: wire.subjectToken ?? '',
    floor: wire.floor ?? false,
    canRewrite: wire.canRewrite,
    canMaskPrompt: wire.canMaskPrompt ?? false,
    inexact: inexactIn(asked),
  };
  return parseCheckRequest(raw, mostMicros);
}

/** Without a door, the agent asks by itself, and there is nothing to name. */
function viaOf({ door: wireDoor, name }: NonNullable<CheckActionRequest['via']>): Via | null {
  const door = doorNames.nameOf(wireDoor);
  if (door !== undefined) return { door, name };
  if (wireDoor === WireDoor.DOOR_UNSPECIFIED && name === '') return null;
  throw invalid('via.door', 'must be MCP (1), MODEL (2) or HOOK (3)');
}

export function checkResponseOf(answer: Answer): CheckActionResponse {
  return {
    decision: decisionNames.wireOf[answer.decision],
    reason: toldReason(answer.reason),
    policyRule: answer.policyRule,
    approvalId: answer.approvalId,
    decisionLatencyUs: answer.latencyUs,
    opId: answer.opId,
    opState: answer.opState,
    limit: answer.limit === undefined ? undefined : limitOf(answer.limit),
    judgeResult: answer.judgeResult,
    // Absent is false, and costs no bytes.
    judgePrompt: answer.judgePrompt ? true : undefined,
    argsJson: answer.argsJson === undefined ? undefined : Buffer.from(answer.argsJson),
  };
}

/** Whether the agent has proved its identity. Otherwise the answer has no operation. */
export function isKnown({ tier, opId }: Answer): boolean {
  return tier !== 'identity' && opId !== '';
}

function limitOf({ tier, period, limitMicros, totalMicros }: NonNullable<Answer['limit']>): BudgetLimit {
  return { tier, period, limitMicros, spentMicros: int64Of(totalMicros), status: 'LimitExceeded' };
}

/**
 * Caps a total at 64 bits. The generated type is narrower than the wire: the writer also takes a bigint and writes it
 * exactly.
 */
function int64Of(total: Total): number {
  return (total > mostInt64 ? mostInt64 : total) as number;
}

const mostInt64 = 2n ** 63n - 1n;

/** The action with its context, which says what it is where no type is given. An unknown type is an error, not a guess. */
function actionOf(wireType: WireActionType, context: ActionContext | undefined): Action {
  const given = context?.action;
  const type = actionTypeNames.nameOf(wireType);
  const described = given === undefined ? undefined : describe(given, type);
  if (type === undefined && (described === undefined || wireType !== WireActionType.ACTION_UNSPECIFIED)) {
    throw invalid('action_type', 'must be one of the named action types, as TOOL_CALL (2)');
  }
  if (described !== undefined && type !== undefined && described.type !== type) {
    throw invalid('context', `holds a ${described.type} where action_type says ${type}`);
  }
  return described ?? action(type ?? 'agent_spawn');
}

function describe(given: NonNullable<ActionContext['action']>, type: ActionType | undefined): Action {
  switch (given.$case) {
    case 'llmCall':
      return action('llm_call', given.value);
    case 'toolCall':
      return action('tool_call', {
        tool: given.value.toolName,
        source: given.value.toolSource,
        url: given.value.targetUrl,
        json: textOf('context.tool_call.args_json', given.value.argsJson),
        annotations: annotationsOf(given.value.annotationsJson),
      });
    case 'fileOp':
      return action('file_operation', given.value);
    case 'networkCall':
      return action('network_call', given.value);
    case 'processExec':
      // An agent may describe the process with which it spawns another agent.
      return action(type === 'agent_spawn' ? 'agent_spawn' : 'process_exec', {
        command: given.value.command,
        commandArgs: given.value.args,
        workingDir: given.value.workingDir,
      });
    case 'toolResult':
      return action('tool_result', {
        tool: given.value.toolName,
        source: given.value.toolSource,
        url: given.value.sourceUrl,
        json: textOf('context.tool_result.result_json', given.value.resultJson),
      });
  }
}

function annotationsOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : textOf('context.tool_call.annotations_json', bytes);
}

function textOf(field: string, bytes: Uint8Array): string {
  if (bytes.length === 0) return '';
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalid(field, 'must be a JSON document in UTF-8, or empty');
  }
}
