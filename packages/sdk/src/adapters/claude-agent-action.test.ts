import { expect, test } from 'vitest';
import { claudeAction } from './claude-agent-action.ts';

test.each([
  ['Read', { file_path: '/a' }, { type: 'file_operation', operation: 'read', path: '/a' }],
  ['Read', { file_path: '../b' }, { type: 'file_operation', operation: 'read', path: '/srv/b' }],
  ['NotebookEdit', { notebook_path: '/n' }, { type: 'file_operation', operation: 'write', path: '/n' }],
  ['WebFetch', { url: 'https://a.org/x' }, { type: 'network_call', host: 'a.org', port: 443, protocol: 'https' }],
  ['WebFetch', { url: 'http://a.org:81/' }, { type: 'network_call', host: 'a.org', port: 81, protocol: 'http' }],
  ['Agent', { subagent_type: 'reviewer' }, { type: 'agent_spawn', command: 'reviewer' }],
  ['mcp__git__log', { n: 1 }, { tool: 'log', source: 'git', args: { n: 1 } }],
  ['Grep', { pattern: 'x' }, { tool: 'Grep', args: { pattern: 'x' } }],
  ['constructor', {}, { tool: 'constructor', args: {} }],
  ['Read', {}, { tool: 'Read', args: {} }],
])('%s with %j is what it does', (tool, input, action) => {
  expect(claudeAction(tool, input, '/srv/shop')).toEqual(action);
});

test('a command that is no text is not known', () => {
  const unknown = { command: '?', workingDir: '/srv/shop' };
  expect(claudeAction('Bash', { command: ['ls'] }, '/srv/shop')).toMatchObject(unknown);
  expect(claudeAction('Bash', {}, '/srv/shop')).toMatchObject(unknown);
});

test('a command line of plain words is that command', () => {
  const action = { type: 'process_exec', command: 'git', args: ['log', '--oneline', '-n=3'], workingDir: '/srv/shop' };
  expect(claudeAction('Bash', { command: ' git log --oneline  -n=3 ' }, '/srv/shop')).toEqual(action);
});

test.each([
  'ls; rm -rf /',
  'ls && rm x',
  'ls | sh',
  'echo $(rm x)',
  'echo `rm x`',
  'A=1 rm x',
  'ls\nrm x',
  'r""m x',
  "'rm' x",
  'r\\m x',
  'echo {a,b}',
  '~/rm x',
  'ls > /etc/passwd',
  'echo *',
  '# x',
  '!rm',
  'ls &',
  'sudo rm x',
  '/usr/bin/env rm x',
  'bash script',
  'find . -delete',
  'coproc rm x',
  'builtin eval rm x',
  'taskset 1 rm x',
  '/usr/bin/setpriv rm x',
  'git rebase --exec=x',
  'tar --checkpoint-action=exec=x -cf a b',
  'sort --co=x f',
  'npm --prefix a exec b',
  'python3',
  '',
])('the command line %j is more than words, so its command is not known', (command) => {
  const unknown = { type: 'process_exec', command: '?', args: [command], workingDir: '/srv/shop' };
  expect(claudeAction('Bash', { command }, '/srv/shop')).toEqual(unknown);
});
