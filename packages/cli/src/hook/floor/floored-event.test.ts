import { describe, expect, test } from 'vitest';
import type { HookHost } from '../hook-host.ts';
import { claudeCode } from '../hosts/claude-code.ts';
import { codex } from '../hosts/codex.ts';
import { cursor } from '../hosts/cursor.ts';
import { geminiCli } from '../hosts/gemini-cli.ts';
import { flooredEvent, withoutFloor } from './floored-event.ts';

const floor = { program: ['/reeve'], flags: [] };
const line = (command: string) => `/reeve run --run s-1 -- bash -c ${command}`;
const put = (host: HookHost, event: object) => flooredEvent({ ...event }, host, floor, 's-1');
const event = (name: string, tool: string, input: unknown, more: object = {}) => ({
  hook_event_name: name,
  session_id: 's-1',
  cwd: '/workspace',
  tool_name: tool,
  tool_input: input,
  ...more,
});

describe('the command of a shell is replaced, and the rest of the input stays', () => {
  test.each([
    ['Claude Code', claudeCode, 'PreToolUse', 'Bash', { command: 'ls', timeout: 5, description: 'looks' }, 'command'],
    ['Claude Code, a monitor', claudeCode, 'PreToolUse', 'Monitor', { command: 'ls' }, 'command'],
    ['Codex', codex, 'PreToolUse', 'Bash', { command: 'ls' }, 'command'],
    ['Codex, by another member', codex, 'PreToolUse', 'exec_command', { cmd: 'ls', workdir: 'src' }, 'cmd'],
    ['Gemini CLI', geminiCli, 'BeforeTool', 'run_shell_command', { command: 'ls', dir_path: 'src' }, 'command'],
    ['Cursor', cursor, 'preToolUse', 'Shell', { command: 'ls', working_directory: '/workspace/src' }, 'command'],
  ] as const)('%s', (_, host, name, tool, input, member) => {
    const given = event(name, tool, input);
    const floored = put(host, given);
    expect(floored).toEqual({ kind: 'input', input: { ...input, [member]: line('ls') } });
    const after = { ...given, tool_input: { ...input, [member]: line('ls') } };
    expect(put(host, after)).toEqual({ kind: 'as_it_is' });
    expect(withoutFloor(after, host, floor)).toEqual(given);
    const machine = { home: '/home/ada' };
    expect(host.read(withoutFloor(after, host, floor), machine)).toEqual(host.read(given, machine));
  });

  test('Codex, by words', () => {
    const given = event('PreToolUse', 'shell', { command: ['bash', '-lc', 'ls'] });
    const command = ['/reeve', 'run', '--run', 's-1', '--', 'bash', '-lc', 'ls'];
    expect(put(codex, given)).toEqual({ kind: 'input', input: { command } });
  });
});

describe('the answer is in the form of the host', () => {
  const input = { command: line('ls') };
  test.each([
    [claudeCode, 'PreToolUse', { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: input } }],
    [
      codex,
      'PreToolUse',
      { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput: input } },
    ],
    [cursor, 'preToolUse', { permission: 'allow', updated_input: input }],
    [
      geminiCli,
      'BeforeTool',
      { decision: 'allow', hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: input } },
    ],
  ] as const)('$name', (host, name, answer) => {
    expect(host.allow({ hook_event_name: name }, { isApproved: false, input })).toEqual(answer);
  });
});

describe('what cannot be put on a floor is refused', () => {
  test.each([
    ['PowerShell', claudeCode, event('PreToolUse', 'PowerShell', { command: 'ls' })],
    ['PowerShell of Codex', codex, event('PreToolUse', 'PowerShell', { command: 'ls' })],
    ['a shell with other quotes', codex, event('PreToolUse', 'exec_command', { cmd: 'ls', shell: '/usr/bin/fish' })],
    ['an input as text', cursor, event('preToolUse', 'Shell', '{"command":"ls"}')],
    ['a command that was not replaced', cursor, { hook_event_name: 'beforeShellExecution', command: 'ls' }],
    [
      'a command of another run',
      cursor,
      { hook_event_name: 'beforeShellExecution', command: line('ls').replace('s-1', 's-2') },
    ],
  ])('%s', (_, host, given) => {
    expect(put(host, given)).toMatchObject({ kind: 'refused' });
  });

  test('the event of the shell itself passes with what the tool got', () => {
    expect(put(cursor, { hook_event_name: 'beforeShellExecution', command: line('ls') })).toEqual({ kind: 'as_it_is' });
  });
});

test('other tools stay as they are', () => {
  const others = [
    [claudeCode, event('PreToolUse', 'Read', { file_path: '/a' })],
    [claudeCode, event('PreToolUse', 'mcp__db__run', { command: 'ls' })],
    [codex, event('PreToolUse', 'apply_patch', { command: '*** Begin Patch' })],
    [geminiCli, event('BeforeTool', 'run_shell_command', { command: 'ls' }, { mcp_context: { server_name: 'db' } })],
    [cursor, event('preToolUse', 'Write', { file_path: '/a' })],
  ] as const;
  for (const [host, given] of others) expect(put(host, given)).toEqual({ kind: 'as_it_is' });
});
