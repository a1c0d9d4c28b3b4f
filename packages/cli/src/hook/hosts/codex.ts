import type { EventObject } from '../event-members.ts';
import { allTexts, optionalText } from '../event-members.ts';
import type { HookHost } from '../hook-host.ts';
import type { PlannedAction } from '../hook-event.ts';
import type { ToolPlace } from '../plan-actions.ts';
import { bounded, planFile, planFiles, planShell, planTool, planUnreadable } from '../plan-actions.ts';
import { joinWords } from '../shell/quote.ts';
import type { ToolActions } from './claude-code.ts';
import { readEvent, toolActions as claudeActions } from './claude-code.ts';

/** Codex: https://developers.openai.com/codex/hooks. It knows no decision but to deny; silence lets it go on. */
export const codex: HookHost = {
  name: 'codex',
  read: (event, machine) => readEvent(event, machine, toolActions),
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
  if (shellTools.has(tool)) return [...planShell(commandOf(input), inFolder(input, place)), ...otherShell(input)];
  if (tool === 'apply_patch') return patchActions(tool, input, place);
  if (tool === 'view_image' || tool === 'read_file')
    return planFiles('read', allTexts(input, 'path', 'file_path'), place, () => planTool(tool, input));
  return claudeActions(tool, input, place);
};

function commandOf(input: EventObject): unknown {
  const command = input['command'] ?? input['cmd'];
  return Array.isArray(command) && command.every((word) => typeof word === 'string') ? joinWords(command) : command;
}

/** The model may choose the shell. */
function otherShell(input: EventObject): readonly PlannedAction[] {
  const shell = optionalText(input, 'shell');
  if (shell === undefined || /^(?:[\w/.-]*\/)?(?:ba|z|da|k)?sh$/.test(shell)) return [];
  return [planUnreadable('the text is for a shell whose language is not read here', [shell.slice(0, 1024)])];
}

function inFolder(input: EventObject, place: ToolPlace): ToolPlace {
  const folder = optionalText(input, 'workdir', 'cwd');
  return folder?.startsWith('/') === true ? { ...place, cwd: folder } : place;
}

/** Codex heeds no white space around these lines. */
const patchLine = /^\s*\*\*\* (Add File|Update File|Delete File|Move to): ?(.+)$/gm;

/** Each file that a patch names. A patch that names none is judged as the tool that it is. */
function patchActions(tool: string, input: EventObject, place: ToolPlace): readonly PlannedAction[] {
  const patch = allTexts(input, 'command', 'input', 'patch').join('\n');
  const files = [...patch.matchAll(patchLine)].map(([, verb = '', path = '']) =>
    planFile(verb === 'Delete File' ? 'delete' : 'write', path.trim(), place),
  );
  return files.length === 0 ? [planTool(tool, input)] : bounded(files);
}
