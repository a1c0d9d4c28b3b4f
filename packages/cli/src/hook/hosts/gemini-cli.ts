import type { EventObject } from '../event-members.ts';
import { objectOf, optionalText, textOf } from '../event-members.ts';
import type { HookEvent, PlannedAction } from '../hook-event.ts';
import type { HookHost } from '../hook-host.ts';
import type { ToolPlace } from '../plan-actions.ts';
import { planFetch, planFile, planMcp, planSearch, planShell, planTool } from '../plan-actions.ts';

/** Gemini CLI: https://geminicli.com/docs/hooks/reference. It gives no ids to tool uses. */
export const geminiCli: HookHost = {
  name: 'gemini-cli',
  read: readEvent,
  allow: (event) => (event['hook_event_name'] === 'BeforeTool' ? { decision: 'allow' } : {}),
  deny: (event, reason) => (event['hook_event_name'] === 'BeforeTool' ? { decision: 'deny', reason } : {}),
};

function readEvent(event: EventObject, home: string): HookEvent {
  const session = textOf(event, 'session_id');
  const toolUse = optionalText(event, 'tool_use_id', 'call_id');
  switch (textOf(event, 'hook_event_name')) {
    case 'BeforeTool':
      return { kind: 'before', session, agent: '', toolUse, isRepeated: false, actions: toolActions(event, home) };
    case 'AfterTool': {
      const hasFailed = (objectOf(event, 'tool_response')['error'] ?? null) !== null;
      const outcome = hasFailed ? 'failed' : 'succeeded';
      return { kind: 'after', session, toolUse, actions: toolActions(event, home), outcome };
    }
    case 'AfterAgent':
      return { kind: 'turn_over', session, agent: '' };
    case 'SessionEnd':
      return { kind: 'session_over', session };
    default:
      return { kind: 'other' };
  }
}

function toolActions(event: EventObject, home: string): readonly PlannedAction[] {
  const tool = textOf(event, 'tool_name');
  const input = objectOf(event, 'tool_input');
  const place: ToolPlace = { cwd: optionalText(event, 'cwd') ?? '/', home };
  const server = optionalText(objectOf(event, 'mcp_context'), 'server_name');
  if (server !== undefined) {
    return [planTool(optionalText(objectOf(event, 'mcp_context'), 'tool_name') ?? tool, input, server)];
  }
  const path = optionalText(input, 'file_path', 'absolute_path', 'dir_path', 'path');
  switch (tool) {
    case 'run_shell_command':
      return planShell(input['command'], inFolder(input, place));
    case 'read_file':
    case 'list_directory':
      return [path === undefined ? planTool(tool, input) : planFile('read', path, place)];
    case 'write_file':
    case 'replace':
    case 'edit':
      return [path === undefined ? planTool(tool, input) : planFile('write', path, place)];
    case 'read_many_files':
      return manyFiles(tool, input, place);
    case 'glob':
      return planSearch(path, undefined, place);
    case 'grep_search':
    case 'search_file_content':
      return planSearch(path, optionalText(input, 'include_pattern', 'include'), place);
    case 'web_fetch':
      return fetches(tool, input);
    default:
      return [planMcp(tool, input) ?? planTool(tool, input)];
  }
}

function inFolder(input: EventObject, place: ToolPlace): ToolPlace {
  const folder = optionalText(input, 'dir_path', 'directory');
  if (folder === undefined) return place;
  return { ...place, cwd: folder.startsWith('/') ? folder : `${place.cwd}/${folder}` };
}

function manyFiles(tool: string, input: EventObject, place: ToolPlace): readonly PlannedAction[] {
  const given = input['include'] ?? input['paths'];
  const paths = Array.isArray(given) ? given.filter((path) => typeof path === 'string') : [];
  return paths.length === 0
    ? [planTool(tool, input)]
    : paths.slice(0, 200).map((path) => planFile('read', path, place));
}

/** The prompt of `web_fetch` names the addresses. */
function fetches(tool: string, input: EventObject): readonly PlannedAction[] {
  const text = optionalText(input, 'url', 'prompt') ?? '';
  const urls = [...new Set(text.match(/\bhttps?:\/\/[^\s"'<>)\]]+/gi) ?? [])];
  return urls.length === 0 ? [planTool(tool, input)] : urls.slice(0, 50).map((url) => planFetch(url, tool, input));
}
