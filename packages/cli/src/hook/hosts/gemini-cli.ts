import type { EventObject } from '../event-members.ts';
import { allTexts, folderOf, inputOf, objectOf, optionalText, textOf, textsIn } from '../event-members.ts';
import type { HookEvent, PlannedAction } from '../hook-event.ts';
import { ifUnderstood, MalformedEvent } from '../hook-event.ts';
import type { HookHost } from '../hook-host.ts';
import type { Machine } from '../own-places.ts';
import type { ToolPlace } from '../plan-actions.ts';
import { bounded, planFetch, planFiles, planMcp, planShellIn, planTool } from '../plan-actions.ts';
import { planGlob, planSearch } from '../plan-search.ts';

/** Gemini CLI: https://geminicli.com/docs/hooks/reference. It gives no ids to tool uses. */
export const geminiCli: HookHost = {
  name: 'gemini-cli',
  read: readEvent,
  allow: (event) => (event['hook_event_name'] === 'BeforeTool' ? { decision: 'allow' } : {}),
  deny: (event, reason) => (event['hook_event_name'] === 'BeforeTool' ? { decision: 'deny', reason } : {}),
};

function readEvent(event: EventObject, machine: Machine): HookEvent {
  const session = textOf(event, 'session_id');
  const toolUse = optionalText(event, 'tool_use_id', 'call_id');
  const name = textOf(event, 'hook_event_name');
  switch (name) {
    case 'BeforeTool':
      return { kind: 'before', session, agent: '', toolUse, isRepeated: false, actions: toolActions(event, machine) };
    case 'AfterTool': {
      const hasFailed = (objectOf(event, 'tool_response')['error'] ?? null) !== null;
      const outcome = hasFailed ? 'failed' : 'succeeded';
      return { kind: 'after', session, toolUse, actions: ifUnderstood(() => toolActions(event, machine)), outcome };
    }
    case 'AfterAgent':
      return { kind: 'turn_over', session, agent: '' };
    case 'SessionEnd':
      return { kind: 'session_over', session };
    default:
      if (!otherEvents.test(name)) throw new MalformedEvent(`"${name}" is no event that is known`);
      return { kind: 'other' };
  }
}

/** Events that are about no use of a tool. */
const otherEvents =
  /^(?:SessionStart|BeforeAgent|BeforeModel|AfterModel|BeforeToolSelection|PreCompress|Notification)$/;

function toolActions(event: EventObject, machine: Machine): readonly PlannedAction[] {
  const tool = textOf(event, 'tool_name');
  const input = inputOf(event, 'tool_input');
  const place: ToolPlace = { ...machine, cwd: folderOf(event, 'cwd') };
  const server = optionalText(objectOf(event, 'mcp_context'), 'server_name');
  if (server !== undefined) {
    return [planTool(optionalText(objectOf(event, 'mcp_context'), 'tool_name') ?? tool, input, server)];
  }
  const paths = allTexts(input, 'file_path', 'absolute_path', 'dir_path', 'path');
  switch (tool) {
    case 'run_shell_command':
      return planShellIn(input['command'], allTexts(input, 'dir_path', 'directory'), place);
    case 'read_file':
    case 'list_directory':
      return planFiles('read', paths, place);
    case 'write_file':
    case 'replace':
    case 'edit':
      return planFiles('write', paths, place);
    case 'read_many_files':
      return planFiles('read', [...textsIn(input, 'include'), ...textsIn(input, 'paths')], place);
    case 'glob':
      return planGlob(paths, allTexts(input, 'pattern'), place);
    case 'grep_search':
    case 'search_file_content':
      return planSearch(paths, allTexts(input, 'include_pattern', 'include'), place);
    case 'web_fetch':
      return fetches(tool, input);
    default:
      return [planMcp(tool, input) ?? planTool(tool, input)];
  }
}

/** The prompt of `web_fetch` names the addresses. */
function fetches(tool: string, input: EventObject): readonly PlannedAction[] {
  const text = allTexts(input, 'url', 'prompt').join('\n');
  const urls = [...new Set(text.match(/\bhttps?:\/\/[^\s"'<>)\]]+/gi) ?? [])];
  return urls.length === 0 ? [planTool(tool, input)] : bounded(urls.map((url) => planFetch(url, tool, input)));
}
