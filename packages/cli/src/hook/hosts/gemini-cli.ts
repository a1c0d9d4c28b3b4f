import { isObject } from '../../is-object.ts';
import type { EventObject } from '../event-members.ts';
import { allTexts, folderOf, inputOf, objectOf, optionalText, textOf, textsIn } from '../event-members.ts';
import type { HookEvent, PlannedAction, ToolResult } from '../hook-event.ts';
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
  canRewrite: () => true,
  shellOf: (event) =>
    event['tool_name'] === 'run_shell_command' && serverOf(event) === undefined
      ? { kind: 'input', members: ['command'] }
      : undefined,
  allow: (event, { input }) =>
    event['hook_event_name'] === 'BeforeTool'
      ? {
          decision: 'allow',
          ...(input === undefined ? {} : { hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: input } }),
        }
      : {},
  deny: (event, reason) => (event['hook_event_name'] === 'BeforeTool' ? { decision: 'deny', reason } : {}),
  // The reason of a denial takes the place of what the tool brought back.
  results: {
    replace: (_event, value) => ({ decision: 'deny', reason: `As policy lets it be read: ${readAs(value)}` }),
    withhold: (_event, reason) => ({ answer: { decision: 'deny', reason }, isCertain: true }),
    stop: () => ({}),
  },
};

/** The parts of an output as one text. */
function readAs(value: unknown): string {
  if (typeof value === 'string') return value;
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = parts.map((part) => (isObject(part) ? part['text'] : part));
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : JSON.stringify(value);
}

/** The model reads the message of an error in place of the output. */
function resultOf(event: EventObject, isError: boolean): ToolResult {
  const { error, llmContent, ...others } = objectOf(event, 'tool_response');
  if (!isError) return { value: llmContent ?? others, isError };
  const { message } = isObject(error) ? error : { message: error };
  return { value: [message ?? '', llmContent ?? ''].map((part) => readAs(part)), isError };
}

function readEvent(event: EventObject, machine: Machine): HookEvent {
  const session = textOf(event, 'session_id');
  const toolUse = optionalText(event, 'tool_use_id', 'call_id');
  const name = textOf(event, 'hook_event_name');
  switch (name) {
    case 'BeforeTool':
      return {
        kind: 'before',
        session,
        agent: '',
        toolUse,
        isRepeated: false,
        actions: toolActions(event, machine),
        unreplaceable: (inputOf(event, 'tool_input')['is_background'] ?? false) === false ? undefined : background,
      };
    case 'AfterTool': {
      const hasFailed = (objectOf(event, 'tool_response')['error'] ?? null) !== null;
      const outcome = hasFailed ? 'failed' : 'succeeded';
      return {
        kind: 'after',
        session,
        toolUse,
        actions: ifUnderstood(() => toolActions(event, machine)),
        outcome,
        result: resultOf(event, hasFailed),
      };
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

const background = 'Gemini CLI shows its model what runs in the background without asking a hook';

/** Events that are about no use of a tool. */
const otherEvents =
  /^(?:SessionStart|BeforeAgent|BeforeModel|AfterModel|BeforeToolSelection|PreCompress|Notification)$/;

/** The MCP server that the tool belongs to. */
function serverOf(event: EventObject): string | undefined {
  return optionalText(objectOf(event, 'mcp_context'), 'server_name');
}

function toolActions(event: EventObject, machine: Machine): readonly PlannedAction[] {
  const tool = textOf(event, 'tool_name');
  const input = inputOf(event, 'tool_input');
  const place: ToolPlace = { ...machine, cwd: folderOf(event, 'cwd') };
  const server = serverOf(event);
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
