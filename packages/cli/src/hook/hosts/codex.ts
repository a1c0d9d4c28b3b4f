import type { EventObject } from '../event-members.ts';
import { allTexts, objectOf, optionalText } from '../event-members.ts';
import type { HookHost } from '../hook-host.ts';
import type { PlannedAction } from '../hook-event.ts';
import { MalformedEvent } from '../hook-event.ts';
import type { ToolPlace } from '../plan-actions.ts';
import { bounded, planFile, planFiles, planShellIn, planUnreadable } from '../plan-actions.ts';
import { joinWords } from '../shell/quote.ts';
import type { ToolActions } from './claude-code.ts';
import { readEvent, shellOf as claudeShellOf, toolActions as claudeActions } from './claude-code.ts';

/**
 * Codex: https://developers.openai.com/codex/hooks. It knows no decision but to deny; silence lets it go on. Another input
 * comes with the decision to allow.
 */
export const codex: HookHost = {
  name: 'codex',
  read: (event, machine) => readEvent(event, machine, { actionsOf: toolActions, unreplaceable: () => unreplaceable }),
  canRewrite: () => true,
  shellOf: (event) => {
    const tool = optionalText(event, 'tool_name') ?? '';
    if (!shellTools.has(tool)) return claudeShellOf(tool);
    if (otherShell(objectOf(event, 'tool_input')).length === 0) return { kind: 'input', members: commandMembers };
    return { kind: 'unfit', reason: 'the model has chosen a shell that might read the command in another way' };
  },
  allow: (event, { input }) =>
    input === undefined || event['hook_event_name'] !== 'PreToolUse'
      ? {}
      : { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput: input } },
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
  results: undefined,
};

/** It asks after a tool that has ended well, and the model chooses how long it waits for that. */
const unreplaceable =
  'Codex shows its model what a command has printed so far, and what a tool says that has failed, without asking a hook';

const shellTools = new Set(['Bash', 'shell', 'local_shell', 'exec_command', 'shell_command']);

const toolActions: ToolActions = (tool, input, place) => {
  if (shellTools.has(tool)) return shellActions(input, place);
  if (tool === 'apply_patch') return patchActions(input, place);
  if (tool === 'view_image' || tool === 'read_file')
    return planFiles('read', allTexts(input, 'path', 'file_path'), place);
  return claudeActions(tool, input, place);
};

const commandMembers = ['command', 'cmd', 'script', 'argv'];

/** Which of these members is the command, and which the folder, depends on the version. Each of them is judged. */
function shellActions(input: EventObject, place: ToolPlace): readonly PlannedAction[] {
  const commands = commandMembers.map((member) => input[member] ?? undefined);
  const given = commands.filter((command) => command !== undefined);
  if (given.length === 0) throw new MalformedEvent('there is no command');
  const folders = allTexts(input, 'workdir', 'cwd');
  return bounded([
    ...given.flatMap((command) => planShellIn(textOfCommand(command), folders, place)),
    ...otherShell(input),
  ]);
}

function textOfCommand(command: unknown): unknown {
  return Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === 'string')
    ? joinWords(command)
    : command;
}

/** The model may choose the shell. */
function otherShell(input: EventObject): readonly PlannedAction[] {
  const shell = optionalText(input, 'shell');
  if (shell === undefined || /^(?:[\w/.-]*\/)?(?:ba|z|da|k)?sh$/.test(shell)) return [];
  return [planUnreadable('the text is for a shell whose language is not read here', [shell.slice(0, 1024)])];
}

/** Codex heeds no white space around these lines. */
const patchLine = /^[^\S\n\r\u2028\u2029]*\*\*\* (Add File|Update File|Delete File|Move to): ?(.+)$/gm;

/** Each file that a patch names. */
function patchActions(input: EventObject, place: ToolPlace): readonly PlannedAction[] {
  const patch = allTexts(input, 'command', 'input', 'patch').join('\n');
  const files = [...patch.matchAll(patchLine)].map(([, verb = '', path = '']) =>
    planFile(verb === 'Delete File' ? 'delete' : 'write', path.trim(), place),
  );
  if (files.length === 0) throw new MalformedEvent('the patch names no file');
  return bounded(files);
}
