import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decisionOf, HookMachine, toolEvent } from './hook-host.ts';

const policy = `
name: house
default: allow
rules:
  - { name: no-rm, effect: deny, commands: ["rm", "rm **"] }
  - { name: unread, effect: deny, commands: ["\\\\?", "\\\\? **"] }
  - { name: secrets, effect: deny, paths: ["**/.env"] }
  - { name: hosts, effect: deny, hosts: [evil.example] }
  - { name: no-drop, effect: deny, tools: [drop_table], when: action.source == "db" }
`;

let machine: HookMachine;
beforeAll(async () => {
  machine = await HookMachine.start(policy);
});
afterAll(async () => {
  await machine[Symbol.asyncDispose]();
});

const send = (event: unknown, flags: readonly string[] = []) => machine.send('claude-code', event, flags);
const before = (session: string, id: string, tool: string, input: object) =>
  send(toolEvent('PreToolUse', session, id, tool, input));
const bash = (session: string, id: string, command: string) => before(session, id, 'Bash', { command });

test('a number that readers round is not judged', async () => {
  const event = JSON.stringify(toolEvent('PreToolUse', 's-number', 'toolu_01', 'mcp__bank__pay', { account: 7 }));
  const answer = await send(event.replace('"account":7', '"account":12345678901234567'));
  const { decision, reason } = decisionOf(answer);
  expect(decision).toBe('deny');
  expect(reason).toContain('the number 12345678901234567 is not the same to every reader');
  const [elsewhere] = [await send(event.replace('{', '{"took":0.1234567890123456789,'))];
  expect(decisionOf(elsewhere).decision).toBeUndefined();
});

test('each command of a line is an operation, and each file that it names; they end with the tool', async () => {
  const answer = await bash('s-list', 'toolu_01', 'cd src && npm test | tee log > out.txt');
  expect(answer).toMatchObject({ code: 0, stderr: '' });
  expect(decisionOf(answer).decision).toBeUndefined();
  const ops = await machine.ops('s-list');
  expect(Object.keys(ops).toSorted()).toEqual([
    'toolu_01',
    ...Array.from({ length: 7 }, (_, index) => `toolu_01-${index + 2}`),
  ]);
  // A file may be in the folder before or after "cd", which may fail.
  const files = Object.values(ops).flatMap(({ action_type: type, resource }) =>
    type === 'file_operation' ? [resource] : [],
  );
  expect(files.toSorted()).toEqual(
    ['/log', '/out.txt', '/src', '/src/log', '/src/out.txt'].map((path) => `/workspace/app${path}`).toSorted(),
  );
  expect(ops['toolu_01-2']).toMatchObject({
    state: 'running',
    resource: 'npm',
    action_type: 'process_exec',
    run_id: 's-list',
  });
  expect(ops['toolu_01-5']).toMatchObject({ resource: '/workspace/app/src/out.txt', action_type: 'file_operation' });
  await send(toolEvent('PostToolUse', 's-list', 'toolu_01', 'Bash', {}, { tool_response: { stdout: '' } }));
  expect(new Set(Object.values(await machine.states('s-list')))).toEqual(new Set(['completing']));
});

test('one denied command denies all, the model reads why, and nothing stays open', async () => {
  const answer = await bash('s-deny', 'toolu_02', 'ls && sudo rm -rf build');
  const { decision, reason } = decisionOf(answer);
  expect(answer.code).toBe(0);
  expect(decision).toBe('deny');
  expect(reason).toContain('Denied by policy: rm -rf build: denied by rule house/no-rm');
  expect(reason).toContain('operation s-deny:toolu_02-3');
  expect(await machine.states('s-deny')).toEqual({
    toolu_02: 'completing',
    'toolu_02-2': 'completing',
    'toolu_02-3': 'terminated',
    'toolu_02-4': 'completing',
  });
  const cancelled = machine.gateway.audit().filter(({ payload }) => JSON.stringify(payload).includes('was denied'));
  expect(cancelled.length).toBeGreaterThan(0);
});

test('what cannot be read is ? and says so', async () => {
  const { reason } = decisionOf(await bash('s-unread', 'toolu_03', '"$(cat name)" -rf /'));
  expect(reason).toContain('part of the command cannot be read (the name of the command is known only when it runs)');
  expect((await machine.ops('s-unread'))['toolu_03-2']).toMatchObject({ resource: '?', state: 'terminated' });
});

test('reads and writes, fetches, tools of servers and all others have their own kinds', async () => {
  await before('s-kinds', 'read', 'Read', { file_path: 'src/a.ts' });
  await before('s-kinds', 'write', 'Write', { file_path: '/workspace/app/b.ts', content: 'secret text' });
  await before('s-kinds', 'fetch', 'WebFetch', { url: 'https://docs.example.com/x', prompt: 'p' });
  await before('s-kinds', 'mcp', 'mcp__db__query', { sql: 'select 1' });
  await before('s-kinds', 'todo', 'TodoWrite', { todos: [] });
  const ops = await machine.ops('s-kinds');
  expect(ops['read']).toMatchObject({ action_type: 'file_operation', resource: '/workspace/app/src/a.ts' });
  expect(ops['write']).toMatchObject({ action_type: 'file_operation', resource: '/workspace/app/b.ts' });
  expect(ops['fetch']).toMatchObject({ action_type: 'network_call', resource: 'docs.example.com' });
  expect(ops['mcp']).toMatchObject({ action_type: 'tool_call', resource: 'query' });
  expect(ops['todo']).toMatchObject({ action_type: 'tool_call', resource: 'TodoWrite' });
  expect(JSON.stringify(machine.gateway.audit())).not.toContain('secret text');
});

test('policies see paths, hosts and the server of a tool', async () => {
  const decisions = await Promise.all([
    before('s-rules', 'a', 'Read', { file_path: '.env' }),
    before('s-rules', 'b', 'Grep', { pattern: 'KEY', glob: '.env' }),
    before('s-rules', 'c', 'WebFetch', { url: 'https://evil.example:8443/x' }),
    before('s-rules', 'd', 'mcp__db__drop_table', { name: 'users' }),
    before('s-rules', 'e', 'Bash', { command: 'cat < .env' }),
  ]);
  expect(decisions.map((answer) => decisionOf(answer).decision)).toEqual(['deny', 'deny', 'deny', 'deny', 'deny']);
});

test('outcomes are reported, and what is open ends with the turn or the session', async () => {
  await bash('s-ends', 'ok', 'true');
  await bash('s-ends', 'bad', 'false');
  await bash('s-ends', 'left', 'sleep 1');
  await send(toolEvent('PostToolUse', 's-ends', 'ok', 'Bash', {}));
  await send(toolEvent('PostToolUseFailure', 's-ends', 'bad', 'Bash', {}, { error: 'exit 1' }));
  const end = { session_id: 's-ends', hook_event_name: 'SessionEnd', reason: 'other', cwd: '/workspace/app' };
  expect(await send(end)).toMatchObject({ code: 0, stdout: '{}\n' });
  const outcomes = machine.gateway
    .audit()
    .filter(({ event_type, trace_id }) => event_type === 'OpStateChanged' && trace_id === 's-ends')
    .map(({ span_id, payload }) => [span_id, payload['outcome']]);
  expect(Object.fromEntries(outcomes)).toEqual({
    ok: 'succeeded',
    bad: 'failed',
    left: 'cancelled',
  });
});

test('characters that ids do not permit are replaced', async () => {
  await before('s/ø 1', 'a.b', 'Bash', { command: 'true' });
  expect(Object.keys(await machine.ops('s___1')).length).toBe(1);
});

test('the file between the processes is private and holds no content', async () => {
  await before('s-file', 'x', 'Bash', { command: 'echo very-secret' });
  const folder = join(machine.home.path, '.reeve', 'hooks');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(folder)) {
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, name), 'utf8')).not.toContain('very-secret');
  }
  expect(existsSync(join(machine.home.path, '.reeve', 'agents.yaml'))).toBe(true);
});

test('events that are about no tool pass', async () => {
  expect(await send({ session_id: 's', hook_event_name: 'SessionStart', source: 'startup' })).toMatchObject({
    code: 0,
    stdout: '{}\n',
  });
});
