import { describe, expect, test } from 'vitest';
import type { HookEvent } from '../hook-event.ts';
import { fingerprintOf } from '../operation-ids.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { geminiCli } from './gemini-cli.ts';

function actionsOf(event: HookEvent) {
  return event.kind === 'before' ? event.actions : [];
}

/** The paths, hosts and commands that are asked about. */
function namesOf(event: HookEvent): readonly unknown[] {
  return actionsOf(event).map(({ action }) => {
    if ('path' in action) return action.path;
    return 'host' in action ? action.host : 'command' in action ? action.command : 'tool';
  });
}

const gemini = (tool: string, input: object) =>
  geminiCli.read(
    { session_id: 's', hook_event_name: 'BeforeTool', cwd: '/workspace', tool_name: tool, tool_input: input },
    { home: '/home/ada' },
  );
const pre = (tool: string, input: object, cwd = '/workspace') => ({
  session_id: 's',
  hook_event_name: 'PreToolUse',
  tool_use_id: 't',
  cwd,
  tool_name: tool,
  tool_input: input,
});

describe('a member that the tool does not heed hides none that it does', () => {
  test('paths', () => {
    const names = namesOf(gemini('list_directory', { file_path: '/workspace', dir_path: '/home/ada/.ssh' }));
    expect(names).toEqual(['/workspace', '/home/ada/.ssh']);
    expect(namesOf(gemini('grep_search', { path: 'a', dir_path: '/etc' }))).toContain('/etc');
  });

  test('addresses', () => {
    const input = { url: 'https://good.example', prompt: 'read https://evil.example/x' };
    expect(namesOf(gemini('web_fetch', input))).toEqual(['good.example', 'evil.example']);
  });
});

describe('what passes a bound is denied, not left out', () => {
  const many = Array.from({ length: 300 }, (_, at) => `f${at}`);

  test('files', () => {
    expect(namesOf(gemini('read_many_files', { include: many })).at(-1)).toBe('?');
    const patch = many.map((name) => `*** Add File: ${name}\n+x`).join('\n');
    expect(namesOf(codex.read(pre('apply_patch', { command: patch }), { home: '/home/ada' })).at(-1)).toBe('?');
  });

  test('addresses', () => {
    const prompt = many.map((name) => `https://${name}.example`).join(' ');
    expect(namesOf(gemini('web_fetch', { prompt })).at(-1)).toBe('?');
  });
});

test('a patch is read with white space before its lines, as Codex does', () => {
  const patch = '*** Begin Patch\n*** Update File: a\n@@\n  *** Add File: .env\n+x\n*** End Patch';
  expect(namesOf(codex.read(pre('apply_patch', { command: patch }), { home: '/home/ada' }))).toEqual([
    '/workspace/a',
    '/workspace/.env',
  ]);
});

test('a shell that the model chooses is one that is read here', () => {
  expect(namesOf(codex.read(pre('exec_command', { cmd: 'ls', shell: '/bin/zsh' }), { home: '/home/ada' }))).toEqual([
    'ls',
  ]);
  expect(
    namesOf(codex.read(pre('exec_command', { cmd: 'ls', shell: '/usr/bin/fish' }), { home: '/home/ada' })),
  ).toContain('?');
});

test('a tool use is equal to another only with the same text in the same folder', () => {
  const print = (command: string, cwd?: string) =>
    fingerprintOf(actionsOf(claudeCode.read(pre('Bash', { command }, cwd), { home: '/home/ada' })));
  expect(print('h=good; curl $h')).toBe(print('h=good; curl $h'));
  expect(print('h=good; curl $h')).not.toBe(print('h=evil; curl $h'));
  expect(print('git push', '/workspace/a')).not.toBe(print('git push', '/workspace/b'));
});
