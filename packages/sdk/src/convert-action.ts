import type { ActionContext, ActionType as WireActionType } from '@reeve/contract';
import { actionTypeNames, bounds } from '@reeve/contract';
import { numberFault, numberFaultIn } from '@reeve/contract/exact-numbers';
import type { Action, AgentSpawn } from './action.ts';
import { ReeveInvalidRequest } from './errors.ts';
import { requireText, requireWhole } from './validate.ts';

export interface WireAction {
  readonly actionType: WireActionType;
  readonly context: ActionContext;
}

/** The action in wire form. Errors name a missing or malformed member before anything is sent. */
export function wireActionOf(action: Action): WireAction {
  const type = action.type ?? 'tool_call';
  const wireTypes = actionTypeNames.wireOf;
  if (!Object.hasOwn(wireTypes, type)) {
    throw new ReeveInvalidRequest(`action.type: must be one of ${Object.keys(wireTypes).join(', ')}`);
  }
  return { actionType: wireTypes[type], context: contextOf(action) };
}

function contextOf(action: Action): ActionContext {
  switch (action.type) {
    case undefined:
    case 'tool_call': {
      const { tool, source = '', args, url = '', annotations } = action;
      const value = {
        toolName: requireText('action.tool', tool),
        toolSource: source,
        targetUrl: url,
        argsJson: exactJsonOf('action.args', args),
        annotationsJson: annotations === undefined ? undefined : exactJsonOf('action.annotations', annotations),
      };
      return { action: { $case: 'toolCall', value } };
    }
    case 'llm_call': {
      const { model, promptTokens = 0, maxOutputTokens = 0 } = action;
      requireText('action.model', model);
      requireWhole('action.promptTokens', promptTokens, bounds.int32);
      requireWhole('action.maxOutputTokens', maxOutputTokens, bounds.int32);
      return { action: { $case: 'llmCall', value: { model, promptTokens, maxOutputTokens } } };
    }
    case 'file_operation': {
      const { operation, path } = action;
      requireText('action.operation', operation);
      requireText('action.path', path);
      return { action: { $case: 'fileOp', value: { operation, path } } };
    }
    case 'network_call': {
      const { host, port = 0, protocol = '', namedOnly } = action;
      requireText('action.host', host);
      requireWhole('action.port', port, bounds.port);
      return { action: { $case: 'networkCall', value: { host, port, protocol, namedOnly } } };
    }
    case 'process_exec': {
      return processOf(action);
    }
    case 'agent_spawn': {
      const { command, args = [], workingDir } = action;
      const isBare = command === undefined && args.length === 0 && workingDir === undefined;
      return isBare ? { action: undefined } : processOf(action);
    }
    case 'tool_result': {
      const { tool, source = '', result, url = '' } = action;
      const value = { toolName: requireText('action.tool', tool), toolSource: source, sourceUrl: url };
      return { action: { $case: 'toolResult', value: { ...value, resultJson: jsonOf('action.result', result) } } };
    }
  }
}

function processOf({ command, args = [], workingDir = '' }: Omit<AgentSpawn, 'type'>): ActionContext {
  const value = { command: requireText('action.command', command), args: [...args], workingDir };
  return { action: { $case: 'processExec', value } };
}

/** JSON that every reader takes for the same. What is done with other numbers would not be what was judged. */
function exactJsonOf(member: string, value: unknown): Uint8Array {
  if (value === undefined) return new Uint8Array();
  const json = jsonTextOf(member, value);
  // JSON has no other form for what is not finite.
  if (json.includes('null')) JSON.stringify(value, requireFinite(member));
  const fault = numberFaultIn(json);
  if (fault === undefined) return Buffer.from(json);
  throw new ReeveInvalidRequest(`${member}: ${fault}`);
}

function requireFinite(member: string): (name: string, value: unknown) => unknown {
  return (_name, value) => {
    if (typeof value !== 'number' || Number.isFinite(value)) return value;
    throw new ReeveInvalidRequest(`${member}: ${numberFault(String(value))}`);
  };
}

function jsonOf(member: string, value: unknown): Uint8Array {
  return value === undefined ? new Uint8Array() : Buffer.from(jsonTextOf(member, value));
}

function jsonTextOf(member: string, value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    const [why] = error instanceof Error ? error.message.split('\n') : [];
    throw new ReeveInvalidRequest(`${member}: cannot be written as JSON${why === undefined ? '' : `: ${why}`}`);
  }
  if (text === undefined) throw new ReeveInvalidRequest(`${member}: cannot be written as JSON`);
  return text;
}
