import type { EventObject } from '../event-members.ts';
import { optionalText } from '../event-members.ts';
import type { HookHost } from '../hook-host.ts';
import type { PlannedAction } from '../hook-event.ts';
import type { ToolPlace } from '../plan-actions.ts';
import { planFile, planShell, planTool } from '../plan-actions.ts';
import { joinWords } from '../shell/quote.ts';
import type { ToolActions } from './claude-code.ts';
import { readEvent, toolActions as claudeActions } from './claude-code.ts';

/** Codex: https://developers.openai.com/codex/hooks. It knows no decision but to deny; silence lets it go on. */
export const codex: HookHost = {
  name: 'codex',
  read: (event, home) => readEvent(event, home, toolActions),
  allow: () => ({}),
  deny: (event, reason) =>
    event['hook_event_name'] === 'PreToolUse'
      ? {
          hookSpecificOutput: {
            hookEventName: 'PreToolUse',
            permissionDecision: 'deny',
            permissionDecisionReason: reason,
          },
        }
      : {},
};

const shellTools = new Set(['Bash', 'shell', 'local_shell', 'exec_command', 'shell_command']);

const toolActions: ToolActions = (tool, input, place) => {
  if (shellTools.has(tool)) return planShell(commandOf(input), inFolder(input, place));
  if (tool === 'apply_patch') return patchActions(tool, input, place);
  const path = optionalText(input, 'path', 'file_path');
  if ((tool === 'view_image' || tool === 'read_file') && path !== undefined) return [planFile('read', path, place)];
  return claudeActions(tool, input, place);
};

function commandOf(input: EventObject): unknown {
  const command = input['command'] ?? input['cmd'];
  return Array.isArray(command) && command.every((word) => typeof word === 'string') ? joinWords(command) : command;
}

function inFolder(input: EventObject, place: ToolPlace): ToolPlace {
  const folder = optionalText(input, 'workdir', 'cwd');
  return folder?.startsWith('/') === true ? { ...place, cwd: folder } : place;
}

const patchLine = /^\*\*\* (Add File|Update File|Delete File|Move to): (.+)$/gm;

/** Each file that a patch names. A patch that names none is judged as the tool that it is. */
function patchActions(tool: string, input: EventObject, place: ToolPlace): readonly PlannedAction[] {
  const patch = optionalText(input, 'command', 'input', 'patch') ?? '';
  const files = [...patch.matchAll(patchLine)].map(([, verb = '', path = '']) =>
    planFile(verb === 'Delete File' ? 'delete' : 'write', path.trim(), place),
  );
  return files.length === 0 ? [planTool(tool, input)] : files.slice(0, 200);
}
