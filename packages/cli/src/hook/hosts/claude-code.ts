import type { EventObject } from '../event-members.ts';
import { allTexts, folderOf, inputOf, objectOf, optionalText, textOf } from '../event-members.ts';
import type { HookEvent, PlannedAction, ToolResult } from '../hook-event.ts';
import { ifUnderstood, MalformedEvent } from '../hook-event.ts';
import type { HookHost, ShellPlace } from '../hook-host.ts';
import type { Machine } from '../own-places.ts';
import type { ToolPlace } from '../plan-actions.ts';
import { planFetch, planFiles, planMcp, planShell, planTool, planUnreadable } from '../plan-actions.ts';
import { planGlob, planSearch } from '../plan-search.ts';
import { claudeResults } from './claude-results.ts';

/** Claude Code: https://code.claude.com/docs/en/hooks */
export const claudeCode: HookHost = {
  name: 'claude-code',
  read: (event, machine) => readEvent(event, machine, { actionsOf: toolActions, unreplaceable }),
  canRewrite: () => true,
  shellOf: (event) => shellOf(optionalText(event, 'tool_name')),
  // Without a decision the rules and the questions of the host itself still count. After an approval they need not.
  allow: (event, { isApproved, input }) =>
    isBefore(event)
      ? decided({
          ...(isApproved ? { permissionDecision: 'allow' } : {}),
          ...(input === undefined ? {} : { updatedInput: input }),
        })
      : {},
  deny: (event, reason) =>
    isBefore(event) ? decided({ permissionDecision: 'deny', permissionDecisionReason: reason }) : {},
  results: claudeResults,
};

/** Output that comes later is read by other tools, or by none. */
function unreplaceable(tool: string, input: EventObject): string | undefined {
  const isLater = tool === 'Monitor' || (input['run_in_background'] ?? false) !== false;
  return isLater ? 'Claude Code shows its model what runs in the background without asking a hook' : undefined;
}

/** The shells of Claude Code. */
export function shellOf(tool: string | undefined): ShellPlace | undefined {
  if (tool === 'PowerShell') return { kind: 'unfit', reason: 'PowerShell does not run on a floor' };
  return tool === 'Bash' || tool === 'Monitor' ? { kind: 'input', members: ['command'] } : undefined;
}

function isBefore(event: EventObject): boolean {
  return event['hook_event_name'] === 'PreToolUse';
}

function decided(members: object): object {
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', ...members } };
}

export type ToolActions = (tool: string, input: EventObject, place: ToolPlace) => readonly PlannedAction[];

/** What differs between hosts with the events of Claude Code. */
export interface HostTools {
  readonly actionsOf: ToolActions;
  /** Why the model reads what this tool brings back, whatever a hook says. */
  readonly unreplaceable: (tool: string, input: EventObject) => string | undefined;
}

/** The events of Claude Code. Codex has taken over their names and members. */
export function readEvent(event: EventObject, machine: Machine, { actionsOf, unreplaceable }: HostTools): HookEvent {
  const name = textOf(event, 'hook_event_name');
  const session = textOf(event, 'session_id');
  const agent = optionalText(event, 'agent_id') ?? '';
  switch (name) {
    case 'PreToolUse': {
      const toolUse = optionalText(event, 'tool_use_id');
      return {
        kind: 'before',
        session,
        agent,
        toolUse,
        isRepeated: false,
        actions: planned(event, machine, actionsOf),
        unreplaceable: unreplaceable(textOf(event, 'tool_name'), inputOf(event, 'tool_input')),
      };
    }
    case 'PostToolUse':
    case 'PostToolUseFailure':
    case 'PermissionDenied': {
      const toolUse = optionalText(event, 'tool_use_id');
      return {
        kind: 'after',
        session,
        toolUse,
        actions: ifUnderstood(() => planned(event, machine, actionsOf)),
        outcome: outcomeOf(name, event),
        result: resultOf(name, event),
      };
    }
    case 'PostToolBatch':
    case 'UserPromptSubmit':
      return { kind: 'onward', session };
    case 'Stop':
    case 'StopFailure':
    case 'SubagentStop':
    case 'Interrupt':
      return { kind: 'turn_over', session, agent };
    case 'SessionEnd':
      return { kind: 'session_over', session };
    default:
      if (!otherEvents.test(name)) throw new MalformedEvent(`"${name}" is no event that is known`);
      return { kind: 'other' };
  }
}

/** Events that are about no use of a tool. */
const otherEvents =
  /^(?:SessionStart|Setup|UserPromptExpansion|Notification|PreCompact|PostCompact|SubagentStart|TeammateIdle|TaskCreated|TaskCompleted|ConfigChange|CwdChanged|FileChanged|WorktreeCreate|WorktreeRemove|InstructionsLoaded|Elicitation|ElicitationResult|MessageDisplay)$/;

function planned(event: EventObject, machine: Machine, actionsOf: ToolActions): readonly PlannedAction[] {
  const tool = textOf(event, 'tool_name');
  return actionsOf(tool, inputOf(event, 'tool_input'), { ...machine, cwd: folderOf(event, 'cwd') });
}

function outcomeOf(name: string, event: EventObject): 'succeeded' | 'failed' | 'cancelled' {
  if (name === 'PermissionDenied' || event['is_interrupt'] === true) return 'cancelled';
  if (name === 'PostToolUseFailure') return 'failed';
  const response = objectOf(event, 'tool_response');
  const code = response['exit_code'] ?? objectOf(response, 'metadata')['exit_code'];
  if (response['interrupted'] === true) return 'cancelled';
  return response['success'] === false || (typeof code === 'number' && code !== 0) ? 'failed' : 'succeeded';
}

/** The error of a tool that has failed holds what a command has printed. */
function resultOf(name: string, event: EventObject): ToolResult | undefined {
  if (name === 'PermissionDenied') return undefined;
  if (name === 'PostToolUse') return { value: event['tool_response'] ?? null, isError: false };
  return { value: event['error'] ?? null, isError: true };
}

const writers = new Set(['Write', 'Edit', 'MultiEdit', 'NotebookEdit']);
const readers = new Set(['Read', 'NotebookRead', 'LS']);

/** What a tool of Claude Code would do. */
export const toolActions: ToolActions = (tool, input, place) => {
  const paths = allTexts(input, 'file_path', 'notebook_path', 'path');
  if (tool === 'Bash' || tool === 'Monitor') return planShell(input['command'], place);
  if (tool === 'PowerShell')
    return [
      planUnreadable('PowerShell is not read here', [tool, optionalText(input, 'command')?.slice(0, 1024) ?? '']),
    ];
  if (writers.has(tool)) return planFiles('write', paths, place);
  if (readers.has(tool)) return planFiles('read', paths, place);
  if (tool === 'Grep') return planSearch(paths, allTexts(input, 'glob'), place);
  if (tool === 'Glob') return planGlob(paths, allTexts(input, 'pattern'), place);
  const url = optionalText(input, 'url');
  if (tool === 'WebFetch' && url !== undefined) return [planFetch(url, tool, input)];
  return [planMcp(tool, input) ?? planTool(tool, input)];
};
