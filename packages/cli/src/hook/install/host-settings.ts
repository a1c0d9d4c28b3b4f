import { join } from 'node:path';
import type { HookHostName } from '@reeve/contract/names';
import { hookLimitSecs } from '../hook-host.ts';

export type InstallScope = 'user' | 'project' | 'managed';

type System = 'linux' | 'darwin' | 'win32';

/** How a host wants to be told of hooks. */
export interface HostSettings {
  /** The file, from the home or the folder of the project. */
  path(scope: 'user' | 'project', home: string, env: Readonly<Record<string, string | undefined>>): string;
  /** The file that an administrator alone can write, and that counts above all others. Undefined if the host has it in another form. */
  readonly managed: Readonly<Record<System, string>> | undefined;
  /** Members that the file needs besides. */
  readonly members: Readonly<Record<string, unknown>>;
  /** The entries of each event. */
  events(command: string): Readonly<Record<string, object>>;
  /** What else is needed before the host obeys. */
  readonly remarks: Readonly<Record<InstallScope, readonly string[]>>;
}

/** For events after which nobody waits for a person. */
const shortSecs = 30;

/** A group with a matcher that is left out: every tool. */
function group(command: string, timeout: number, more: object = {}): object {
  return { hooks: [{ type: 'command', command, timeout, ...more }] };
}

export const hostSettings: Readonly<Record<HookHostName, HostSettings>> = {
  'claude-code': {
    path: (scope, home, env) =>
      scope === 'project'
        ? '.claude/settings.json'
        : join(env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude'), 'settings.json'),
    managed: {
      linux: '/etc/claude-code/managed-settings.json',
      darwin: '/Library/Application Support/ClaudeCode/managed-settings.json',
      win32: 'C:\\Program Files\\ClaudeCode\\managed-settings.json',
    },
    members: {},
    events: (command) => ({
      // Versions before 2.1.295 do not know `onFailure` and go on if a hook ends badly.
      PreToolUse: group(command, hookLimitSecs, { onFailure: 'block' }),
      PostToolUse: group(command, shortSecs),
      PostToolUseFailure: group(command, shortSecs),
      // Before more goes to the model.
      PostToolBatch: group(command, shortSecs),
      UserPromptSubmit: group(command, shortSecs),
      Stop: group(command, shortSecs),
      SubagentStop: group(command, shortSecs),
      SessionEnd: group(command, shortSecs),
    }),
    remarks: {
      user: ['Sessions that are open take the hooks over; "/hooks" lists them.'],
      project: ['Claude Code asks each person once whether to trust the folder before it runs hooks from it.'],
      managed: [
        'Sessions that start from now on have the hooks; "/hooks" lists them as managed, and nobody can turn them off.',
      ],
    },
  },
  codex: {
    path: (scope, home, env) =>
      scope === 'project' ? '.codex/hooks.json' : join(env['CODEX_HOME'] ?? join(home, '.codex'), 'hooks.json'),
    // Its requirements.toml names hooks in another form.
    managed: undefined,
    members: {},
    events: (command) => ({
      PreToolUse: group(command, hookLimitSecs),
      PostToolUse: group(command, shortSecs),
      Stop: group(command, shortSecs),
      SubagentStop: group(command, shortSecs),
      // Codex waits no longer for it.
      SessionEnd: group(command, 3),
    }),
    remarks: {
      user: [
        'Codex skips hooks without a word until they are trusted: start "codex", type "/hooks", and trust the ones of Reeve. Do it again after each change.',
      ],
      project: [
        'Codex skips hooks without a word until they are trusted: start "codex" in this folder, trust the folder, type "/hooks", and trust the ones of Reeve. Do it again after each change.',
      ],
      managed: [],
    },
  },
  cursor: {
    path: (scope, home) => join(scope === 'project' ? '.cursor' : join(home, '.cursor'), 'hooks.json'),
    managed: {
      linux: '/etc/cursor/hooks.json',
      darwin: '/Library/Application Support/Cursor/hooks.json',
      win32: 'C:\\ProgramData\\Cursor\\hooks.json',
    },
    members: { version: 1 },
    events: (command) => {
      const gate = { command, timeout: hookLimitSecs, failClosed: true };
      const report = { command, timeout: shortSecs };
      return {
        preToolUse: gate,
        beforeShellExecution: gate,
        beforeMCPExecution: gate,
        beforeReadFile: gate,
        postToolUse: report,
        postToolUseFailure: report,
        afterShellExecution: report,
        afterMCPExecution: report,
        stop: report,
        sessionEnd: report,
      };
    },
    remarks: {
      user: ['Cursor takes the file over when it is saved. The tab "Hooks" of its settings lists the hooks.'],
      project: [
        'Cursor runs hooks of a project only in a trusted workspace. The tab "Hooks" of its settings lists them.',
      ],
      managed: ['Start Cursor again. The tab "Hooks" of its settings lists the hooks.'],
    },
  },
  'gemini-cli': {
    path: (scope, home) => join(scope === 'project' ? '.gemini' : join(home, '.gemini'), 'settings.json'),
    managed: {
      linux: '/etc/gemini-cli/settings.json',
      darwin: '/Library/Application Support/GeminiCli/settings.json',
      win32: 'C:\\ProgramData\\gemini-cli\\settings.json',
    },
    members: {},
    events: (command) => {
      // Gemini CLI counts in milliseconds.
      const entry = (secs: number) => ({ hooks: [{ name: 'reeve', type: 'command', command, timeout: secs * 1000 }] });
      return {
        BeforeTool: entry(hookLimitSecs),
        AfterTool: entry(shortSecs),
        AfterAgent: entry(shortSecs),
        SessionEnd: entry(shortSecs),
      };
    },
    remarks: {
      user: ['Start Gemini CLI again. "/hooks panel" lists the hooks.'],
      project: [
        'Gemini CLI runs hooks of a project only in a trusted folder, and warns about new ones. "/hooks panel" lists them.',
      ],
      managed: ['Start Gemini CLI again. "/hooks panel" lists the hooks.'],
    },
  },
};
