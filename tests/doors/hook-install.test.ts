import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { eventually } from '../harness/eventually.ts';
import { reeveCommand } from '../harness/reeve-command.ts';

const files = {
  'claude-code': '.claude/settings.json',
  codex: '.codex/hooks.json',
  cursor: '.cursor/hooks.json',
  'gemini-cli': '.gemini/settings.json',
} as const;

function write(home: TestHome, name: string, text: string, mode = 0o640): string {
  const path = join(home.path, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
  return path;
}

const read = (path: string) => readFileSync(path, 'utf8');

test('adds hooks to what is there, twice is once, and uninstall leaves what was there', async () => {
  for (const [host, name] of Object.entries(files)) {
    using home = new TestHome();
    const before = {
      ...(host === 'cursor' ? { version: 1 } : {}),
      theme: 'dark',
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'say done' }] }], stop: [{ command: 'mine' }] },
    };
    const path = write(home, name, `${JSON.stringify(before, undefined, 4)}\n`);
    const first = await home.json<{ changed: boolean; file: string; command: string; remarks: string[] }>([
      'hook',
      'install',
      host,
    ]);
    expect(first).toMatchObject({ changed: true, file: path });
    expect(first.command).toMatch(/^\S*\/node \S+ hook [a-z-]+ \|\| exit 2$/);
    const installed = JSON.parse(read(path)) as { theme: string; hooks: Record<string, unknown[]> };
    expect(installed.theme).toBe('dark');
    expect(JSON.stringify(installed)).toContain('say done');
    expect(read(path)).toContain('\n    "theme"');
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect((await home.json<{ changed: boolean }>(['hook', 'install', host])).changed).toBe(false);
    expect((await home.json<{ changed: boolean }>(['hook', 'uninstall', host])).changed).toBe(true);
    expect(JSON.parse(read(path))).toEqual(before);
    expect((await home.json<{ changed: boolean }>(['hook', 'uninstall', host])).changed).toBe(false);
  }
});

test('makes the file, gives hooks time for a person, and says what else is needed', async () => {
  using home = new TestHome();
  const { stdout, stderr, code } = await home.run([
    'hook',
    'install',
    'codex',
    '--agent',
    'acme/core/ada',
    '--grpc-addr',
    '127.0.0.1:7',
  ]);
  const path = join(home.path, files.codex);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `Wrote ${path}\n` });
  expect(stderr).toContain('/hooks');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const { hooks } = JSON.parse(read(path)) as {
    hooks: Record<string, { hooks: { command: string; timeout: number }[] }[]>;
  };
  expect(hooks['PreToolUse']?.[0]?.hooks[0]).toMatchObject({ timeout: 3600 });
  expect(hooks['PreToolUse']?.[0]?.hooks[0]?.command).toContain(
    'hook codex --agent acme/core/ada --grpc-addr 127.0.0.1:7',
  );
  const again = await home.run(['hook', 'install', 'codex', '--agent', 'acme/core/ben']);
  expect(again.code).toBe(0);
  expect(read(path)).not.toContain('acme/core/ada');
});

test('what it writes runs without a PATH, and blocks where the program is gone', async () => {
  using home = new TestHome();
  const agent = ['--agent', 'acme/core/ada', '--grpc-addr', '127.0.0.1:7'];
  const { command } = await home.json<{ command: string }>(['hook', 'install', 'claude-code', ...agent]);
  const input =
    '{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"u","tool_name":"Bash","tool_input":{}}';
  const ran = (line: string) =>
    spawnSync('/bin/sh', ['-c', line], { env: { HOME: home.path, PATH: '/nowhere' }, input, encoding: 'utf8' });
  expect(ran(command)).toMatchObject({ status: 0, stdout: expect.stringContaining('"permissionDecision":"deny"') });
  expect(ran(command.replace(' hook ', '.gone hook ')).status).toBe(2);
});

test('others name the program, or leave it to the PATH of each machine', async () => {
  using home = new TestHome();
  const path = join(home.path, files.cursor);
  const install = ['hook', 'install', 'cursor', '--command', 'npx --no reeve'];
  const { command, remarks } = await home.json<{ command: string; remarks: string[] }>(install);
  expect([command, remarks.join()]).toEqual([
    'npx --no reeve hook cursor || exit 2',
    expect.not.stringContaining('PATH'),
  ]);
  expect((await home.run(['hook', 'uninstall', 'cursor'])).code).toBe(0);
  expect(read(path)).not.toContain('hook cursor');
  // The folder of the test is the project.
  const { hooks, remarks: said } = projectHooks();
  expect([hooks, said]).toEqual([
    'reeve hook cursor || exit 2',
    expect.stringContaining('as the PATH of the host finds it'),
  ]);

  function projectHooks() {
    const [program = '', ...before] = reeveCommand;
    const args = [...before, 'hook', 'install', 'cursor', '--project', '--output', 'json'];
    const { stdout } = spawnSync(program, args, {
      cwd: home.path,
      env: { ...process.env, HOME: home.path },
      encoding: 'utf8',
    });
    const answer = JSON.parse(stdout) as { command: string; remarks: string[] };
    return { hooks: answer.command, remarks: answer.remarks.join() };
  }
});

test('claude code and cursor block if the hook itself fails', async () => {
  using home = new TestHome();
  await home.run(['hook', 'install', 'claude-code']);
  await home.run(['hook', 'install', 'cursor']);
  expect(read(join(home.path, files['claude-code']))).toContain('"onFailure": "block"');
  expect(read(join(home.path, files.cursor))).toContain('"failClosed": true');
});

test('keeps comments, leaves alone what it cannot keep, and refuses what it does not know', async () => {
  using home = new TestHome();
  const text = '{\n  // mine\n  "theme": "dark", // too\n}\n';
  const path = write(home, files['gemini-cli'], text);
  expect((await home.run(['hook', 'install', 'gemini-cli'])).code).toBe(0);
  expect(read(path)).toContain('// mine\n  "theme": "dark", // too\n}\n');
  expect(read(path)).toContain('hook gemini-cli || exit 2');
  expect((await home.run(['hook', 'uninstall', 'gemini-cli'])).code).toBe(0);
  expect(read(path)).not.toContain('reeve');
  const among = '{"hooks": { /* mine */ }}';
  writeFileSync(path, among);
  const { code, stderr } = await home.run(['hook', 'install', 'gemini-cli']);
  expect({ code, text: read(path) }).toEqual({ code: 1, text: among });
  expect(stderr).toContain('has comments among its hooks');
  expect((await home.run(['hook', 'install', 'emacs'])).code).toBe(2);
  expect((await home.run(['hook', 'install', 'codex', '--user', '--project'])).code).toBe(2);
});

test('a hook that is killed blocks', async () => {
  using home = new TestHome();
  const agent = ['--agent', 'acme/core/ada', '--grpc-addr', '127.0.0.1:7'];
  const { command } = await home.json<{ command: string }>(['hook', 'install', 'codex', ...agent]);
  // It waits for its event, as long as nobody ends the input.
  const shell = spawn('/bin/sh', ['-c', command], { env: { HOME: home.path }, stdio: ['pipe', 'ignore', 'ignore'] });
  const ended = once(shell, 'exit');
  const hook = await eventually(async () => {
    const [child] = read(`/proc/${shell.pid}/task/${shell.pid}/children`).trim().split(' ');
    if (child === undefined || child === '') throw new Error('it has not started yet');
    return Number(child);
  });
  process.kill(hook, 'SIGKILL');
  expect(await ended).toEqual([2, null]);
});

test('managed settings are for everybody on the machine, and for an image where that is asked', async () => {
  const managed = {
    'claude-code': 'etc/claude-code/managed-settings.json',
    cursor: 'etc/cursor/hooks.json',
    'gemini-cli': 'etc/gemini-cli/settings.json',
  };
  for (const [host, name] of Object.entries(managed)) {
    using home = new TestHome();
    const path = write(home, `image/${name}`, '{"theme": "dark"}', 0o644);
    const where = ['--managed', '--root', join(home.path, 'image')];
    const { file, command } = await home.json<{ file: string; command: string }>(['hook', 'install', host, ...where]);
    expect([file, read(path).includes(`hook ${host} || exit 2`)]).toEqual([path, true]);
    expect(command).toMatch(/^\S*\/node /);
    expect(statSync(path).mode & 0o777).toBe(0o644);
    expect((await home.run(['hook', 'uninstall', host, ...where])).code).toBe(0);
    expect(JSON.parse(read(path))).toMatchObject({ theme: 'dark' });
    expect(read(path)).not.toContain('exit 2');
  }
  using home = new TestHome();
  const refused = await home.run(['hook', 'install', 'codex', '--managed', '--root', home.path]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('requirements.toml')]);
  expect((await home.run(['hook', 'install', 'cursor', '--root', home.path])).code).toBe(2);
  expect((await home.run(['hook', 'install', 'cursor', '--managed', '--user'])).code).toBe(2);
});
