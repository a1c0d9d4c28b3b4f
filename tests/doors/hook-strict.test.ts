import { afterAll, beforeAll, expect, test } from 'vitest';
import { decisionOf, HookMachine, toolEvent } from './hook-host.ts';

const policy = `
name: house
default: allow
rules:
  - { name: no-rm, effect: deny, commands: ["rm", "rm **"] }
  - { name: secrets, effect: deny, paths: ["/workspace/app/secret/**"] }
`;

let machine: HookMachine;
beforeAll(async () => {
  machine = await HookMachine.start(policy);
});
afterAll(() => machine[Symbol.asyncDispose]());

/** Denied in the form of the host, or by the code that blocks whatever it was. */
async function isBlocked(host: string, event: unknown): Promise<boolean> {
  const { code, answer, stderr } = await machine.send(host, event);
  const text = JSON.stringify(answer);
  return (code === 2 && stderr !== '') || /"(?:permissionDecision|decision|permission)":"deny"/.test(text);
}

let uses = 0;
const pre = (tool: string, input: unknown, more: object = {}) =>
  ({ ...toolEvent('PreToolUse', 's', `u${++uses}`, tool, {}), tool_input: input, ...more }) as object;

test.each([
  ['no input', pre('Bash', null)],
  ['a list as the input', pre('Bash', [])],
  ['a list as the command', pre('Bash', { command: ['ls'] })],
  ['no command', pre('Bash', {})],
  ['a number as the path', pre('Read', { file_path: 7 })],
  ['no path', pre('Write', { content: 'x' })],
  ['an object as the address', pre('WebFetch', { url: {} })],
  ['a folder that is not absolute', pre('Bash', { command: 'ls' }, { cwd: 'app' })],
  ['no folder', pre('Bash', { command: 'ls' }, { cwd: null })],
  ['a tool that is no text', pre('Bash', { command: 'ls' }, { tool_name: ['Bash'] })],
  ['an event that nobody knows', pre('Bash', { command: 'ls' }, { hook_event_name: 'BeforeEverything' })],
])('Claude Code: %s is no event of its own, and is denied', async (_, event) => {
  expect(await isBlocked('claude-code', event)).toBe(true);
});

test.each([
  ['a command that is a number', pre('exec_command', { cmd: 7 })],
  ['a list with a number', pre('shell', { command: ['ls', 7] })],
  ['a patch without a file', pre('apply_patch', { command: 'x' })],
  ['an event that nobody knows', pre('shell', { command: ['ls'] }, { hook_event_name: 'preToolUse' })],
])('Codex: %s is no event of its own, and is denied', async (_, event) => {
  expect(await isBlocked('codex', event)).toBe(true);
});

test('Codex: every member that could be the command is judged, in every folder that could be its own', async () => {
  const cases = [
    pre('exec_command', { cmd: 'rm x', command: 'ls' }),
    pre('exec_command', { command: 'rm x', cmd: 'ls' }),
    pre('shell', { command: ['ls'], script: 'rm x' }),
    pre('shell', { command: ['cat', 'key'], workdir: 'secret' }),
    pre('exec_command', { cmd: 'cat key', workdir: '../app/secret' }),
    pre('exec_command', { cmd: 'cat key', workdir: '/tmp', cwd: 'secret' }),
    pre('exec_command', { cmd: 'echo > key', workdir: './secret' }),
  ];
  for (const event of cases) {
    const { decision, reason } = decisionOf(await machine.send('codex', event));
    expect([decision, reason]).toEqual(['deny', expect.stringContaining('denied by rule house/')]);
  }
  const fine = pre('exec_command', { cmd: 'cat key', workdir: 'open' });
  expect(decisionOf(await machine.send('codex', fine)).decision).toBeUndefined();
});

const gemini = (tool: string, input: unknown, more: object = {}) => ({
  session_id: 's',
  cwd: '/workspace/app',
  hook_event_name: 'BeforeTool',
  tool_name: tool,
  tool_input: input,
  ...more,
});

test.each([
  ['no input', gemini('run_shell_command', null)],
  ['a list as the command', gemini('run_shell_command', { command: ['ls'] })],
  ['a path that is a list', gemini('read_file', { file_path: ['a'] })],
  ['files that are no list', gemini('read_many_files', { include: 'a' })],
  ['an event that nobody knows', gemini('run_shell_command', { command: 'ls' }, { hook_event_name: 'beforeTool' })],
])('Gemini CLI: %s is no event of its own, and is denied', async (_, event) => {
  expect(await isBlocked('gemini-cli', event)).toBe(true);
});

const cursor = (name: string, more: object) => ({
  conversation_id: 's',
  hook_event_name: name,
  workspace_roots: ['/workspace/app'],
  ...more,
});

test.each([
  ['a command that is a list', cursor('beforeShellExecution', { command: ['ls'], cwd: '' })],
  ['no input', cursor('preToolUse', { tool_name: 'Shell', tool_input: null })],
  ['a text as the input of a shell', cursor('preToolUse', { tool_name: 'Shell', tool_input: 'ls' })],
  ['a path that is a number', cursor('beforeReadFile', { file_path: 7 })],
  ['an event that nobody knows', cursor('beforeAnything', { command: 'ls' })],
])('Cursor: %s is no event of its own, and is denied', async (_, event) => {
  expect(await isBlocked('cursor', event)).toBe(true);
});

test('Cursor: a relative folder is resolved', async () => {
  const tool_input = { command: 'cat key', working_directory: 'secret' };
  const event = cursor('preToolUse', { tool_name: 'Shell', tool_input, tool_use_id: 'u' });
  expect((await machine.send('cursor', event)).answer).toMatchObject({ permission: 'deny' });
});
