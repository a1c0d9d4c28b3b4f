import { isObject } from '../../is-object.ts';
import type { EventObject } from '../event-members.ts';
import { allTexts, objectOf, optionalText, textOf } from '../event-members.ts';
import type { HookEvent, PlannedAction } from '../hook-event.ts';
import type { HookHost } from '../hook-host.ts';
import type { Machine } from '../machine.ts';
import type { ToolPlace } from '../plan-actions.ts';
import { planFetch, planFile, planFiles, planMcp, planSearch, planShell, planTool } from '../plan-actions.ts';

/** Cursor: https://cursor.com/docs/agent/hooks. Some tools have events of their own, without ids of the tool use. */
export const cursor: HookHost = {
  name: 'cursor',
  read: readEvent,
  allow: (event) => (isBefore(event) ? { permission: 'allow' } : {}),
  deny: (event, reason) => (isBefore(event) ? { permission: 'deny', user_message: reason, agent_message: reason } : {}),
};

const before = /^(?:preToolUse|before(?:ShellExecution|MCPExecution|ReadFile|TabFileRead)|subagentStart)$/;

function isBefore(event: EventObject): boolean {
  return before.test(optionalText(event, 'hook_event_name') ?? '');
}

function readEvent(event: EventObject, machine: Machine): HookEvent {
  const name = textOf(event, 'hook_event_name');
  const session = optionalText(event, 'conversation_id') ?? textOf(event, 'session_id');
  const toolUse = optionalText(event, 'tool_use_id');
  const place = placeOf(event, machine);
  const actions = eventActions(name, event, place);
  if (actions !== undefined && isBefore(event)) {
    return { kind: 'before', session, agent: '', toolUse, isRepeated: name !== 'preToolUse', actions };
  }
  if (actions !== undefined) return { kind: 'after', session, toolUse, actions, outcome: outcomeOf(name, event) };
  if (name === 'stop') return { kind: 'turn_over', session, agent: '' };
  if (name === 'sessionEnd') return { kind: 'session_over', session };
  return { kind: 'other' };
}

function placeOf(event: EventObject, machine: Machine): ToolPlace {
  const roots = event['workspace_roots'];
  const [root] = Array.isArray(roots) ? roots : [];
  return { ...machine, cwd: optionalText(event, 'cwd') ?? (typeof root === 'string' && root !== '' ? root : '/') };
}

function outcomeOf(name: string, event: EventObject): 'succeeded' | 'failed' | 'cancelled' {
  if (name !== 'postToolUseFailure') return 'succeeded';
  return event['is_interrupt'] === true || event['failure_type'] === 'permission_denied' ? 'cancelled' : 'failed';
}

/** What the tool of this event does. Undefined if the event is about no tool. */
function eventActions(name: string, event: EventObject, place: ToolPlace): readonly PlannedAction[] | undefined {
  switch (name) {
    case 'beforeShellExecution':
    case 'afterShellExecution':
      return planShell(event['command'], place);
    case 'beforeMCPExecution':
    case 'afterMCPExecution':
      return [mcpAction(event)];
    case 'beforeReadFile':
    case 'beforeTabFileRead':
      return [planFile('read', textOf(event, 'file_path'), place)];
    case 'subagentStart':
      return [
        planTool('Task', { type: event['subagent_type'] ?? null, task: event['task'] ?? event['prompt'] ?? null }),
      ];
    case 'preToolUse':
    case 'postToolUse':
    case 'postToolUseFailure':
      return toolActions(textOf(event, 'tool_name'), inputOf(event), place);
    default:
      return undefined;
  }
}

/** Some versions send the input as a JSON text. */
function inputOf(event: EventObject): EventObject {
  const text = optionalText(event, 'tool_input');
  if (text === undefined) return objectOf(event, 'tool_input');
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : { input: text };
  } catch {
    return { input: text };
  }
}

function mcpAction(event: EventObject): PlannedAction {
  const source = optionalText(event, 'mcp_server_name', 'server_name', 'server', 'url', 'command');
  return planTool(textOf(event, 'tool_name').replace(/^MCP:\s*/, ''), inputOf(event), source?.slice(0, 512));
}

function toolActions(tool: string, input: EventObject, place: ToolPlace): readonly PlannedAction[] {
  const paths = allTexts(input, 'file_path', 'path', 'target_file', 'notebook_path');
  const asTool = () => planTool(tool, input);
  const folder = optionalText(input, 'working_directory', 'cwd');
  const server = /^MCP:\s*(.+)$/s.exec(tool);
  if (server !== null)
    return [planTool(server[1] ?? tool, input, optionalText(input, 'mcp_server_name', 'server') ?? 'mcp')];
  switch (tool) {
    case 'Shell':
    case 'Bash':
      return planShell(input['command'], folder === undefined ? place : { ...place, cwd: folder });
    case 'Read':
    case 'LS':
      return planFiles('read', paths, place, asTool);
    case 'Write':
    case 'Edit':
    case 'StrReplace':
    case 'EditNotebook':
      return planFiles('write', paths, place, asTool);
    case 'Delete':
      return planFiles('delete', paths, place, asTool);
    case 'Grep':
      return planSearch(paths, allTexts(input, 'glob'), place);
    case 'WebFetch':
      return [planFetch(optionalText(input, 'url') ?? '', tool, input)];
    default:
      return [planMcp(tool, input) ?? planTool(tool, input)];
  }
}
