import { isObject } from '../../is-object.ts';
import type { EventObject } from '../event-members.ts';
import { allTexts, folderOf, inputOf as objectIn, optionalText, textOf, textsIn } from '../event-members.ts';
import type { HookEvent, PlannedAction } from '../hook-event.ts';
import { ifUnderstood, MalformedEvent } from '../hook-event.ts';
import type { HookHost, ShellPlace } from '../hook-host.ts';
import type { Machine } from '../own-places.ts';
import { parseKeepingDigits } from '../parse-keeping-digits.ts';
import type { ToolPlace } from '../plan-actions.ts';
import { planGlob, planSearch } from '../plan-search.ts';
import { planFetch, planFile, planFiles, planMcp, planShell, planShellIn, planTool } from '../plan-actions.ts';

/** Cursor: https://cursor.com/docs/agent/hooks. Some tools have events of their own, without ids of the tool use. */
export const cursor: HookHost = {
  name: 'cursor',
  read: readEvent,
  canRewrite: (event) => event['hook_event_name'] === 'preToolUse' && isObject(event['tool_input']),
  shellOf,
  allow: (event, { input }) =>
    isBefore(event) ? { permission: 'allow', ...(input === undefined ? {} : { updated_input: input }) } : {},
  deny: (event, reason) => (isBefore(event) ? { permission: 'deny', user_message: reason, agent_message: reason } : {}),
  results: undefined,
};

/** The event of the shell itself comes after that of the tool, with the command that the tool got. */
function shellOf(event: EventObject): ShellPlace | undefined {
  if (/^(?:before|after)ShellExecution$/.test(optionalText(event, 'hook_event_name') ?? ''))
    return { kind: 'event', members: ['command'] };
  return shellTools.has(optionalText(event, 'tool_name') ?? '') ? { kind: 'input', members: ['command'] } : undefined;
}

const shellTools = new Set(['Shell', 'Bash']);

/** Only what an MCP tool says that has not failed can be replaced. */
const unreplaceable = 'Cursor shows its model what a tool brings back, or the error of one, without asking a hook';

const before = /^(?:preToolUse|before(?:ShellExecution|MCPExecution|ReadFile|TabFileRead)|subagentStart)$/;

const isAfter = /^(?:postToolUse|postToolUseFailure|after(?:ShellExecution|MCPExecution))$/;

function isBefore(event: EventObject): boolean {
  return before.test(optionalText(event, 'hook_event_name') ?? '');
}

function readEvent(event: EventObject, machine: Machine): HookEvent {
  const name = textOf(event, 'hook_event_name');
  const session = optionalText(event, 'conversation_id') ?? textOf(event, 'session_id');
  const toolUse = optionalText(event, 'tool_use_id');
  const place = placeOf(event, machine);
  if (isAfter.test(name)) {
    const done = ifUnderstood(() => eventActions(name, event, place) ?? []);
    return { kind: 'after', session, toolUse, actions: done, outcome: outcomeOf(name, event), result: undefined };
  }
  const actions = eventActions(name, event, place);
  if (actions !== undefined) {
    return { kind: 'before', session, agent: '', toolUse, isRepeated: name !== 'preToolUse', actions, unreplaceable };
  }
  if (name === 'stop') return { kind: 'turn_over', session, agent: '' };
  if (name === 'sessionEnd') return { kind: 'session_over', session };
  if (!otherEvents.test(name)) throw new MalformedEvent(`"${name}" is no event that is known`);
  return { kind: 'other' };
}

/** Events that are about no use of a tool. */
const otherEvents =
  /^(?:sessionStart|beforeSubmitPrompt|preCompact|after(?:FileEdit|TabFileEdit|AgentResponse|AgentThought)|subagentStop)$/;

function placeOf(event: EventObject, machine: Machine): ToolPlace {
  const [root = '/'] = textsIn(event, 'workspace_roots');
  return { ...machine, cwd: optionalText(event, 'cwd') === undefined ? root : folderOf(event, 'cwd') };
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
  const text = event['tool_input'];
  if (typeof text !== 'string') return objectIn(event, 'tool_input');
  try {
    const parsed = parseKeepingDigits(text);
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
  const server = /^MCP:(.+)$/s.exec(tool);
  if (server !== null)
    return [planTool(server[1]?.trimStart() || tool, input, optionalText(input, 'mcp_server_name', 'server') ?? 'mcp')];
  switch (tool) {
    case 'Shell':
    case 'Bash':
      return planShellIn(input['command'], allTexts(input, 'working_directory', 'cwd'), place);
    case 'Read':
    case 'LS':
      return planFiles('read', paths, place);
    case 'Write':
    case 'Edit':
    case 'StrReplace':
    case 'EditNotebook':
      return planFiles('write', paths, place);
    case 'Delete':
      return planFiles('delete', paths, place);
    case 'Grep':
      return planSearch(paths, allTexts(input, 'glob'), place);
    case 'Glob':
      return planGlob(allTexts(input, 'target_directory', 'path'), allTexts(input, 'glob_pattern', 'pattern'), place);
    case 'WebFetch':
      return [planFetch(optionalText(input, 'url') ?? '', tool, input)];
    default:
      return [planMcp(tool, input) ?? planTool(tool, input)];
  }
}
