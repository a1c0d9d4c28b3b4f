import { afterAll, beforeAll, expect, test } from 'vitest';
import { decisionOf, HookMachine, toolEvent } from './hook-host.ts';

const policy = `
name: house
default: allow
rules:
  - { name: no-rm, effect: deny, commands: ["rm", "rm **"] }
  - { name: secrets, effect: deny, paths: ["**/.env"] }
  - { name: hosts, effect: deny, hosts: [evil.example] }
  - { name: no-drop, effect: deny, tools: [drop_table] }
`;

let machine: HookMachine;
beforeAll(async () => {
  machine = await HookMachine.start(policy);
});
afterAll(async () => {
  await machine[Symbol.asyncDispose]();
});

test('Codex: denies in its form, allows by silence, and reads patches', async () => {
  const event = (id: string, tool: string, input: object) =>
    toolEvent('PreToolUse', 's-codex', id, tool, input, { model: 'gpt-5', turn_id: 't1' });
  expect((await machine.send('codex', event('a', 'Bash', { command: 'ls' }))).stdout).toBe('{}\n');
  expect(decisionOf(await machine.send('codex', event('b', 'Bash', { command: 'rm x' }))).decision).toBe('deny');
  const patch = '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n*** Add File: .env\n+K=1\n*** End Patch';
  expect(decisionOf(await machine.send('codex', event('c', 'apply_patch', { command: patch }))).reason).toContain(
    'write /workspace/app/.env',
  );
  expect(decisionOf(await machine.send('codex', event('d', 'mcp__db__drop_table', {}))).decision).toBe('deny');
  await machine.send('codex', { ...event('a', 'Bash', { command: 'ls' }), hook_event_name: 'Stop' });
  expect(await machine.states('s-codex')).toMatchObject({ a: 'completing', c: 'completing', 'c-2': 'terminated' });
});

test('Gemini CLI: unique ids, kept until its after-tool event', async () => {
  const event = (name: string, tool: string, input: object, more: object = {}) => ({
    session_id: 's-gemini',
    transcript_path: '',
    cwd: '/workspace/app',
    hook_event_name: name,
    timestamp: '2026-11-16T08:00:00.000Z',
    tool_name: tool,
    tool_input: input,
    ...more,
  });
  const ls = { command: 'ls', description: 'list' };
  expect((await machine.send('gemini-cli', event('BeforeTool', 'run_shell_command', ls))).answer).toEqual({
    decision: 'allow',
  });
  await machine.send('gemini-cli', event('BeforeTool', 'run_shell_command', ls));
  expect(Object.values(await machine.states('s-gemini'))).toEqual(['running', 'running']);
  const error = { tool_response: { llmContent: 'x', error: { message: 'no' } } };
  await machine.send('gemini-cli', event('AfterTool', 'run_shell_command', ls, error));
  expect(Object.values(await machine.states('s-gemini')).toSorted()).toEqual(['completing', 'running']);
  await machine.send('gemini-cli', event('AfterTool', 'run_shell_command', ls, { tool_response: { llmContent: 'x' } }));
  expect(Object.values(await machine.states('s-gemini'))).toEqual(['completing', 'completing']);

  const denied = await machine.send('gemini-cli', event('BeforeTool', 'read_file', { file_path: '.env' }));
  expect(denied.answer).toMatchObject({ decision: 'deny' });
  expect(String(denied.answer['reason'])).toContain('Denied by policy: read /workspace/app/.env');
  const fetched = event('BeforeTool', 'web_fetch', { prompt: 'Summarise https://evil.example/x please' });
  expect((await machine.send('gemini-cli', fetched)).answer).toMatchObject({ decision: 'deny' });
  const mcp = event(
    'BeforeTool',
    'mcp_db_drop_table',
    {},
    { mcp_context: { server_name: 'db', tool_name: 'drop_table' } },
  );
  expect((await machine.send('gemini-cli', mcp)).answer).toMatchObject({ decision: 'deny' });
});

test('Cursor: tools with events of their own are one operation', async () => {
  const common = {
    conversation_id: 's-cursor',
    generation_id: 'g1',
    model: 'auto',
    cursor_version: '2.6.0',
    workspace_roots: ['/workspace/app'],
    user_email: 'ada@example.com',
    transcript_path: null,
  };
  const send = (event: object) => machine.send('cursor', { ...common, ...event });
  const shell = { tool_name: 'Shell', tool_input: { command: 'ls' }, tool_use_id: 'u1', cwd: '/workspace/app' };
  expect((await send({ hook_event_name: 'preToolUse', ...shell })).answer).toEqual({ permission: 'allow' });
  expect(
    (await send({ hook_event_name: 'beforeShellExecution', command: 'ls', cwd: '/workspace/app' })).answer,
  ).toEqual({
    permission: 'allow',
  });
  expect(await machine.states('s-cursor')).toEqual({ u1: 'running' });
  await send({ hook_event_name: 'afterShellExecution', command: 'ls', cwd: '/workspace/app', output: '', duration: 5 });
  await send({ hook_event_name: 'postToolUse', ...shell, tool_output: '{}', duration: 5 });
  expect(await machine.states('s-cursor')).toEqual({ u1: 'completing' });

  const denied = await send({ hook_event_name: 'beforeShellExecution', command: 'rm -r x', cwd: '' });
  expect(denied.answer).toMatchObject({ permission: 'deny' });
  expect(String(denied.answer['agent_message'])).toContain('Denied by policy: rm -r x');
  const read = { hook_event_name: 'beforeReadFile', file_path: '/workspace/app/.env', content: 'K=1' };
  expect((await send(read)).answer).toMatchObject({ permission: 'deny' });
  const mcp = {
    hook_event_name: 'beforeMCPExecution',
    tool_name: 'drop_table',
    tool_input: '{"a":1}',
    command: 'db-server',
  };
  expect((await send(mcp)).answer).toMatchObject({ permission: 'deny' });
  const rounded = { ...mcp, tool_name: 'pay', tool_input: '{"account":12345678901234567}' };
  const unjudged = await send(rounded);
  expect(unjudged.answer).toMatchObject({ permission: 'deny' });
  expect(JSON.stringify(unjudged.answer)).toContain('is not the same to every reader');
  const erase = { hook_event_name: 'preToolUse', tool_name: 'Delete', tool_input: { path: '.env' }, tool_use_id: 'u2' };
  expect((await send(erase)).answer).toMatchObject({ permission: 'deny' });
  expect((await send({ hook_event_name: 'afterFileEdit', file_path: '/workspace/app/a', edits: [] })).answer).toEqual(
    {},
  );
});
