import { afterAll, beforeAll, expect, test } from 'vitest';
import { decisionOf, HookMachine, toolEvent } from './hook-host.ts';

const policy = `
name: house
default: allow
rules:
  - { name: few, effect: allow, tools: [query], rewrite: { limit: "10" } }
  - { name: no-drop, effect: deny, tools: [query], when: 'args.sql.contains("drop")' }
`;

const input = { sql: 'select 1', limit: 5000 };
let machine: HookMachine;
beforeAll(async () => {
  machine = await HookMachine.start(policy);
});
afterAll(async () => {
  await machine[Symbol.asyncDispose]();
});

test('Claude Code gives the tool the rewritten input', async () => {
  const sent = await machine.send('claude-code', toolEvent('PreToolUse', 's-1', 'a', 'mcp__db__query', input));
  expect(sent.answer).toMatchObject({ hookSpecificOutput: { updatedInput: { sql: 'select 1', limit: 10 } } });
  const denied = toolEvent('PreToolUse', 's-1', 'b', 'mcp__db__query', { sql: 'drop x' });
  expect(decisionOf(await machine.send('claude-code', denied)).decision).toBe('deny');
});

test('Gemini CLI, which gives no ids, is found again by what the tool got', async () => {
  const event = (name: string, given: object, more: object = {}) => ({
    session_id: 's-2',
    transcript_path: '',
    cwd: '/workspace/app',
    hook_event_name: name,
    timestamp: '2026-11-16T08:00:00.000Z',
    tool_name: 'mcp_db_query',
    tool_input: given,
    mcp_context: { server_name: 'db', tool_name: 'query' },
    ...more,
  });
  const sent = await machine.send('gemini-cli', event('BeforeTool', input));
  expect(sent.answer).toMatchObject({ decision: 'allow', hookSpecificOutput: { tool_input: { limit: 10 } } });
  await machine.send('gemini-cli', event('AfterTool', { ...input, limit: 10 }, { tool_response: { llmContent: '' } }));
  expect(Object.values(await machine.states('s-2'))).toEqual(['completing']);
});

test('a host that takes no other input where it asks is denied', async () => {
  const event = {
    conversation_id: 's-3',
    workspace_roots: ['/workspace/app'],
    hook_event_name: 'beforeMCPExecution',
    tool_name: 'query',
    tool_input: JSON.stringify(input),
    server_name: 'db',
  };
  const { answer } = await machine.send('cursor', event);
  expect(answer).toMatchObject({
    permission: 'deny',
    agent_message: expect.stringContaining('must be rewritten, which this caller cannot do') as string,
  });
});

test('a command is asked about as it is', async () => {
  const { answer } = await machine.send('claude-code', toolEvent('PreToolUse', 's-4', 'a', 'Bash', { command: 'ls' }));
  expect(decisionOf({ answer, code: 0, stdout: '', stderr: '' }).decision).toBeUndefined();
  expect(answer).not.toHaveProperty('hookSpecificOutput.updatedInput');
});
