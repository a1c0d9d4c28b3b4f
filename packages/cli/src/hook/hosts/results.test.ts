import { describe, expect, test } from 'vitest';
import type { AfterTool, HookEvent } from '../hook-event.ts';
import { resultBytes } from '../result-bytes.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import { geminiCli } from './gemini-cli.ts';
import { hasSameShape } from './same-shape.ts';

const machine = { home: '/home/ada' };

/** As Claude Code 2.1 sends them. */
const common = {
  session_id: '4d3db344-7c94-4919-9d6f-e80839aaf7b8',
  transcript_path: '/home/ada/.claude/projects/x/4d3d.jsonl',
  cwd: '/workspace',
  prompt_id: '4ffc2f19-da2c-4943-848f-4f03d17b0084',
  permission_mode: 'default',
  effort: { level: 'medium' },
  tool_use_id: 'toolu_1',
  duration_ms: 82,
};
const bashResponse = { stdout: 'to ada@example.com', stderr: '', interrupted: false, isImage: false };
const bash = {
  ...common,
  hook_event_name: 'PostToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'cat a.txt' },
  tool_response: bashResponse,
};
const readResponse = {
  type: 'text',
  file: { filePath: 'a', content: 'secret', numLines: 3, startLine: 1, totalLines: 3 },
};

function resultOf(event: HookEvent): AfterTool['result'] {
  return event.kind === 'after' ? event.result : undefined;
}

describe('Claude Code', () => {
  test('says what a tool brought back, and what one says that failed', () => {
    expect(resultOf(claudeCode.read(bash, machine))).toEqual({ value: bashResponse, isError: false });
    const failed = {
      ...bash,
      hook_event_name: 'PostToolUseFailure',
      tool_response: undefined,
      error: 'Exit code 3\nsecret',
    };
    expect(resultOf(claudeCode.read(failed, machine))).toEqual({ value: 'Exit code 3\nsecret', isError: true });
  });

  test('takes an output of the same form, and shows it from no file', () => {
    const masked = { ...bashResponse, stdout: 'to [email]', persistedOutputPath: '/tmp/x', persistedOutputSize: 9 };
    const long = { ...bash, tool_response: { ...bashResponse, persistedOutputPath: '/tmp/y', persistedOutputSize: 9 } };
    expect(claudeCode.results?.replace(long, masked)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PostToolUse',
        updatedToolOutput: { ...bashResponse, stdout: 'to [email]' },
      },
    });
    // It would show the first one.
    expect(claudeCode.results?.replace(bash, { ...bashResponse, interrupted: '[masked]' })).toBeUndefined();
    expect(claudeCode.results?.replace(bash, 'to [email]')).toBeUndefined();
    expect(claudeCode.results?.replace({ ...bash, hook_event_name: 'PostToolUseFailure' }, 'x')).toBeUndefined();
  });

  test('keeps nothing of what is denied but its form', () => {
    const denied = claudeCode.results?.withhold(bash, 'Denied by policy: no');
    expect(denied).toMatchObject({
      answer: { hookSpecificOutput: { updatedToolOutput: { ...bashResponse, stdout: 'Denied by policy: no' } } },
      isCertain: true,
    });
    const read = { ...bash, tool_name: 'Read', tool_response: readResponse };
    expect(JSON.stringify(claudeCode.results?.withhold(read, 'no'))).not.toContain('secret');
    const grep = { mode: 'content', numFiles: 2, filenames: ['secret.txt'], content: 'secret', numLines: 2 };
    expect(claudeCode.results?.withhold({ ...bash, tool_name: 'Grep', tool_response: grep }, 'no')).toMatchObject({
      answer: {
        hookSpecificOutput: { updatedToolOutput: { mode: 'content', numFiles: 0, filenames: [], content: 'no' } },
      },
    });
    const mcp = { ...bash, tool_name: 'mcp__db__query', tool_response: [{ type: 'text', text: 'secret' }] };
    const output = [{ type: 'text', text: 'no' }];
    expect(claudeCode.results?.withhold(mcp, 'no')).toMatchObject({
      answer: { hookSpecificOutput: { updatedToolOutput: output, updatedMCPToolOutput: output } },
      isCertain: true,
    });
  });

  test('ends the session where the form is unknown, or the tool has failed', () => {
    expect(claudeCode.results?.withhold({ ...bash, tool_name: 'Workflow' }, 'no').isCertain).toBe(false);
    expect(claudeCode.results?.withhold({ ...bash, hook_event_name: 'PostToolUseFailure' }, 'no').isCertain).toBe(
      false,
    );
    const batch = { ...common, hook_event_name: 'PostToolBatch', tool_calls: [] };
    expect(claudeCode.read(batch, machine)).toEqual({ kind: 'onward', session: common.session_id });
    expect(claudeCode.results?.stop(batch, 'over')).toEqual({ continue: false, stopReason: 'over' });
    const prompt = { ...common, hook_event_name: 'UserPromptSubmit', prompt: 'go on' };
    expect(claudeCode.results?.stop(prompt, 'over')).toEqual({ decision: 'block', reason: 'over' });
  });

  test('takes another input', () => {
    const before = { ...bash, hook_event_name: 'PreToolUse' };
    expect(claudeCode.allow(before, { isApproved: false, input: { limit: 10 } })).toEqual({
      hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { limit: 10 } },
    });
  });
});

describe('what a hook cannot replace is known before the tool is used', () => {
  const reasonOf = (event: HookEvent) => (event.kind === 'before' ? event.unreplaceable : 'no event before a tool');
  const before = { ...bash, hook_event_name: 'PreToolUse' };

  test('Claude Code: what runs in the background', () => {
    expect(reasonOf(claudeCode.read(before, machine))).toBeUndefined();
    const later = { ...before, tool_input: { command: 'sleep 9', run_in_background: true } };
    expect(reasonOf(claudeCode.read(later, machine))).toContain('in the background');
  });

  test('Gemini CLI: what runs in the background', () => {
    const shell = (input: object) => ({
      ...before,
      hook_event_name: 'BeforeTool',
      tool_name: 'run_shell_command',
      tool_input: input,
    });
    expect(reasonOf(geminiCli.read(shell({ command: 'ls' }), machine))).toBeUndefined();
    expect(reasonOf(geminiCli.read(shell({ command: 'ls', is_background: true }), machine))).toContain('background');
  });

  test('Codex and Cursor: everything', () => {
    expect(reasonOf(codex.read(before, machine))).toContain('Codex shows its model');
    const event = { conversation_id: 's', workspace_roots: ['/workspace'], hook_event_name: 'preToolUse' };
    expect(reasonOf(cursor.read({ ...event, tool_name: 'Shell', tool_input: { command: 'ls' } }, machine))).toContain(
      'Cursor',
    );
    expect([codex.results, cursor.results]).toEqual([undefined, undefined]);
  });
});

describe('Gemini CLI', () => {
  const after = (response: object) => ({
    ...bash,
    hook_event_name: 'AfterTool',
    tool_name: 'read_file',
    tool_input: { path: 'a' },
    tool_response: response,
  });

  test('says what its model would read', () => {
    expect(resultOf(geminiCli.read(after({ llmContent: 'text', returnDisplay: 'shown' }), machine))).toEqual({
      value: 'text',
      isError: false,
    });
    const failed = { llmContent: [{ text: 'a' }, { text: 'b' }], error: { message: 'it broke' } };
    expect(resultOf(geminiCli.read(after(failed), machine))).toEqual({ value: ['it broke', 'a\nb'], isError: true });
  });

  test('shows the reason of a denial in place of it', () => {
    expect(geminiCli.results?.withhold(after({}), 'no')).toEqual({
      answer: { decision: 'deny', reason: 'no' },
      isCertain: true,
    });
    expect(geminiCli.results?.replace(after({}), [{ text: 'to [email]' }])).toEqual({
      decision: 'deny',
      reason: 'As policy lets it be read: to [email]',
    });
  });

  test('takes another input', () => {
    const before = { ...bash, hook_event_name: 'BeforeTool' };
    expect(geminiCli.allow(before, { isApproved: false, input: { limit: 10 } })).toEqual({
      decision: 'allow',
      hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: { limit: 10 } },
    });
  });
});

test('Codex takes another input with the decision to allow, and Cursor before its tools', () => {
  const before = { ...bash, hook_event_name: 'PreToolUse' };
  expect(codex.allow(before, { isApproved: true })).toEqual({});
  expect(codex.allow(before, { isApproved: false, input: { limit: 10 } })).toEqual({
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput: { limit: 10 } },
  });
  const tool = { hook_event_name: 'preToolUse', tool_input: { limit: 99 } };
  expect([cursor.canRewrite(tool), cursor.canRewrite({ ...tool, hook_event_name: 'beforeMCPExecution' })]).toEqual([
    true,
    false,
  ]);
  expect(cursor.allow(tool, { isApproved: false, input: { limit: 10 } })).toEqual({
    permission: 'allow',
    updated_input: { limit: 10 },
  });
});

test('a text goes as it stands, unless it would be no text then', () => {
  const sent = (value: unknown) => resultBytes(value).bytes.toString();
  expect(sent('a "b"\n')).toBe('a "b"\n');
  expect(sent('{"a": 1}')).toBe('{"a": 1}');
  expect(sent('4111111111111111')).toBe('"4111111111111111"');
  expect(sent({ a: [1, 'b'] })).toBe('{"a":[1,"b"]}');
  expect(resultBytes('x').read(Buffer.from('"y"'))).toBe('"y"');
  expect(resultBytes('12').read(Buffer.from('"[card]"'))).toBe('[card]');
});

test('a form is the same if nothing differs but texts and numbers', () => {
  expect(hasSameShape({ a: [{ b: 'x' }], n: null }, { a: [{ b: 'y' }], n: null })).toBe(true);
  for (const other of [
    { a: [] },
    { a: [{ b: 1 }], n: null },
    { a: [{ c: 'x' }], n: null },
    { a: [{ b: 'x' }], n: 'x' },
    'x',
  ]) {
    expect(hasSameShape({ a: [{ b: 'x' }], n: null }, other)).toBe(false);
  }
});
