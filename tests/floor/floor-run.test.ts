import type { StdioOptions } from 'node:child_process';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { FloorWorld, hasFloor, processesWith } from './floor-world.ts';

let world: FloorWorld;
beforeAll(async () => {
  world = await FloorWorld.start();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

test('without bubblewrap it refuses, in one line that says what is missing', async () => {
  const folder = join(world.home, 'bin');
  mkdirSync(folder);
  symlinkSync(process.execPath, join(folder, 'node'));
  for (const name of ['readlink', 'sh']) symlinkSync(`/bin/${name}`, join(folder, name));
  const { code, stderr } = await world.run(['true'], { env: { PATH: folder } });
  expect(stderr).toMatch(/^error: there is no floor on this machine: bubblewrap: .*apt-get install bubblewrap.*\n$/);
  expect(code).toBe(125);
});

test.each([
  [
    'the kernel refuses namespaces',
    'echo "bwrap: No permissions to create a new namespace" >&2; exit 1',
    /No permissions/,
  ],
  ['it is too old', 'echo "bwrap: Unknown option --disable-userns" >&2; exit 1', /Install bubblewrap 0\.8 or newer/],
  ['it runs nothing', 'exit 0', /bwrap ended with 0/],
  ['it is killed', 'kill -KILL $$', /bwrap ended with/],
])('where bubblewrap makes no jail because %s, it refuses in one line', async (_, lines, why) => {
  const bwrap = world.write('elsewhere/bwrap', `#!/bin/sh\n${lines}\n`);
  chmodSync(bwrap, 0o755);
  const env = { PATH: `${dirname(bwrap)}:${process.env['PATH'] ?? ''}` };
  const { code, stdout, stderr } = await world.run(['echo', 'ran'], { env });
  expect({ code, stdout }).toEqual({ code: 125, stdout: '' });
  expect(stderr).toMatch(/^error: there is no floor on this machine: namespaces: .*\n$/);
  expect(stderr).toMatch(why);
});

test('--doctor says the same wherever it is asked', async () => {
  const [here, root] = await Promise.all([world.project, '/'].map((cwd) => world.doctor(cwd)));
  expect(root).toEqual(here);
});

describe.skipIf(!hasFloor)('on a floor', () => {
  test('a program has its arguments, streams and exit code', async () => {
    const { code, stdout, stderr } = await world.run(
      ['sh', '-c', 'cat; echo "$1" >&2; exit 7', 'sh', 'a b'],
      {},
      'hello',
    );
    expect({ code, stdout, stderr }).toEqual({ code: 7, stdout: 'hello', stderr: 'a b\n' });
  });

  test('it ends by a signal as a shell says it, and is the end of what it left behind', async () => {
    const { code } = await world.sh('setsid sh -c "sleep 7654321 & sleep 7654321" & kill -KILL $$');
    expect(code).toBe(137);
    expect(processesWith('sleep 7654321')).toEqual([]);
  });

  test('a command that is not there ends with 127, one that is hidden as well', async () => {
    expect(await world.run(['no-such-command'])).toMatchObject({
      code: 127,
      stderr: 'error: there is no command no-such-command\n',
    });
    const tool = world.write('bin/tool', '#!/bin/sh\n');
    chmodSync(tool, 0o755);
    const { code, stderr } = await world.run([tool]);
    expect({ code, stderr }).toEqual({ code: 127, stderr: expect.stringContaining('is hidden; --read its folder') });
    expect((await world.run([tool], { flags: ['--read', dirname(tool)] })).code).toBe(0);
  });

  test.each([
    ['the root', () => '/'],
    ['the home folder', () => world.home],
    ['a folder above it', () => dirname(world.home)],
  ])('%s is no working folder', async (_, cwd) => {
    const { code, stderr } = await world.run(['true'], { cwd: cwd() });
    expect(stderr).toMatch(/^error: the working folder is .*\n$/);
    expect(code).toBe(125);
  });

  test('paths that do not exist and unknown members of a profile are refused', async () => {
    expect(await world.run(['true'], { flags: ['--write', 'nowhere'] })).toMatchObject({
      code: 125,
      stderr: expect.stringMatching(/^error: --write nowhere: there is nothing at .*\/nowhere\n$/),
    });
    const profile = world.write('profile.yaml', 'wirte: [a]\n');
    expect(await world.run(['true'], { flags: ['--profile', profile] })).toMatchObject({
      code: 125,
      stderr: expect.stringContaining('there is no member "wirte"'),
    });
  });

  test('policy is asked first: what is denied does not start, and what runs is an operation to its end', async () => {
    const { code, stdout, stderr } = await world.run(['echo', 'forbidden']);
    expect({ code, stdout, stderr }).toEqual({
      code: 126,
      stdout: '',
      stderr: expect.stringMatching(/^error: denied by house\/no-echo: .*\n$/) as string,
    });
    await world.sh('exit 9');
    const ends = world.gateway.audit().filter(({ event_type }) => event_type === 'OpStateChanged');
    expect(JSON.stringify(ends.at(-1))).toContain('exit code 9');
  });

  test('what is held waits for a person', async () => {
    await using cli = world.begin(['echo', 'asked', 'nicely']);
    await cli.says(/waiting for an approval \(apr_/, 'stderr');
    const { body } = await world.gateway.api.get<{ items: { id: string; title: string }[] }>(
      '/api/v1/approvals?state=open',
      bootstrapKey,
    );
    const [approval] = body.items;
    expect(approval?.title).toBe(`echo asked nicely (in ${world.project})`);
    await world.gateway.api.post(`/api/v1/approvals/${approval?.id}/approve`, bootstrapKey, { reason: '' });
    await cli.ended();
    expect(cli.exit()).toMatchObject({ code: 0, stdout: 'asked nicely\n' });
  });

  test('what appears in the folder while it waits is held as well', async () => {
    const late = 'echo x > late/.git/hooks/post-checkout && echo could; echo done';
    await using waiting = world.begin(['sh', '-c', late, 'asked-later']);
    await waiting.says(/waiting for an approval/, 'stderr');
    world.write('project/late/.git/hooks/post-checkout', '#!/bin/sh\n');
    const { body } = await world.gateway.api.get<{ items: { id: string; title: string }[] }>(
      '/api/v1/approvals?state=open',
      bootstrapKey,
    );
    const approval = body.items.find(({ title }) => title.includes('asked-later'));
    await world.gateway.api.post(`/api/v1/approvals/${approval?.id}/approve`, bootstrapKey, { reason: '' });
    await waiting.ended();
    expect(waiting.exit()).toMatchObject({ code: 0, stdout: 'done\n' });
  });

  test('what nobody approves in time does not start', async () => {
    const { code, stdout } = await world.run(['echo', 'asked', 'in vain'], { flags: ['--approval-wait', '0'] });
    expect({ code, stdout }).toEqual({ code: 126, stdout: '' });
  });

  test('in a home that cannot be written it runs all the same', async () => {
    const folder = world.write('elsewhere/empty/project/note', '');
    const home = dirname(dirname(folder));
    chmodSync(home, 0o555);
    const token = await world.gateway.register({ orgId: 'acme', teamId: 'core', agentId: 'reader' });
    const env = { HOME: home, REEVE_AGENT: '', REEVE_AGENT_TOKEN: token.token };
    const { code, stdout } = await world.run(['cat', 'note'], { env, cwd: dirname(folder) });
    chmodSync(home, 0o755);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  });

  test("no gateway, or a credential that is nobody's: it does not start", async () => {
    const away = await world.run(['echo', 'ran'], {
      env: { REEVE_GRPC_ADDR: '127.0.0.1:9', REEVE_AGENT_TOKEN: 'x'.repeat(40), REEVE_AGENT: '' },
    });
    expect(away).toMatchObject({ code: 125, stdout: '' });
    const refused = await world.run(['echo', 'ran'], { env: { REEVE_AGENT_TOKEN: 'x'.repeat(40), REEVE_AGENT: '' } });
    expect(refused).toMatchObject({ code: 125, stdout: '' });
  });

  test('the environment has the usual names, and those that were asked for', async () => {
    const env = { LC_ALL: 'C', SECRET: 's', ASKED: 'a', TZ: 'UTC', NODE_OPTIONS: '', SSH_AUTH_SOCK: '/run/x' };
    const { stdout } = await world.run(['/usr/bin/env'], { env, flags: ['--env', 'ASKED'] });
    const names = stdout
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0] ?? '');
    const proxies = ['ALL_PROXY', 'HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'];
    const usual = ['ASKED', 'HOME', 'LC_ALL', 'PATH', 'PWD', 'TZ', 'USER', 'REEVE_AGENT_TOKEN', 'REEVE_GRPC_ADDR'];
    const expected = [...usual, ...proxies, ...proxies.map((name) => name.toLowerCase())];
    expect(names.toSorted()).toEqual(expected.toSorted());
  });

  test('streams that are files give no more than they were opened for', async () => {
    const input = world.write('in.txt', 'given');
    const output = world.write('out.txt', 'before\n');
    const lines =
      'cat; echo after; (echo more > /proc/self/fd/0); : > /dev/stdout; readlink /proc/self/fd/0 /proc/self/fd/1 >&2';
    const cli = world.beginRedirected(['sh', '-c', lines], `< ${input} >> ${output}`);
    await cli.ended();
    expect(cli.exit().stderr).toMatch(/^(pipe:\S+|\/tmp\/\S+ \(deleted\))\n/);
    expect(world.read('in.txt')).toBe('given');
    expect(world.read('out.txt')).toMatch(/^before\ngivenafter\n/);
  });

  test('streams that are folders or closed do not reach the program', async () => {
    const cli = world.beginRedirected(
      ['sh', '-c', 'ls -l /proc/self/fd/ | grep -c reeve-floor; ls /proc/self/fd/0/'],
      `< ${world.home}`,
    );
    await cli.ended();
    expect(cli.exit().stdout).toBe('0\n');
    const closed = world.beginRedirected(['echo', 'x'], '<&- >&-');
    await closed.ended();
    expect(closed.exit().code).toBe(0);
  });

  test('descriptors that were left open do not reach the program', async () => {
    const secret = openSync(world.write('secret.txt', 'secret'), 'r+');
    // Node closes low ones by itself, and those without a gap before them.
    const between = Array.from({ length: 40 }, () => 'ignore' as const);
    const stdio = ['pipe', 'pipe', 'pipe', 'ignore', 'ignore', 'ignore', 'ignore', secret, secret, ...between, secret];
    const lines = 'ls -l /proc/self/fd; for fd in /proc/self/fd/*; do cat $fd; done';
    const { stdout } = await world.run(['sh', '-c', lines], { stdio: stdio as StdioOptions });
    closeSync(secret);
    expect(stdout).not.toContain('secret');
  });

  test('signals reach the program', async () => {
    await using cli = world.begin([
      'sh',
      '-c',
      'trap "echo hup" HUP; trap "echo term; exit 3" TERM; echo ready; while :; do sleep 0.05; done',
    ]);
    await cli.says(/ready/);
    cli.child.kill('SIGHUP');
    await cli.says(/hup/);
    cli.child.kill('SIGTERM');
    await cli.ended();
    expect(cli.exit()).toMatchObject({ code: 3, stdout: 'ready\nhup\nterm\n' });
  });

  test('if it is killed, nothing of it stays alive', async () => {
    await using cli = world.begin(['sh', '-c', 'setsid sleep 1234567 & sleep 1234567 & echo ready; sleep 1234567']);
    await cli.says(/ready/);
    expect(processesWith('sleep 1234567').length).toBeGreaterThanOrEqual(3);
    cli.child.kill('SIGKILL');
    await eventually(() => expect(processesWith('sleep 1234567')).toEqual([]));
  });

  test('on a terminal it has the terminal: its size, its keys, its jobs', async () => {
    const lines =
      'tty; stty size; trap "echo interrupted" INT; echo ready; sleep 0.3 & wait; read line; echo "read $line"; exit 5';
    await using cli = world.beginOnTerminal(['sh', '-c', lines]);
    await cli.says(/ready/);
    cli.type('\u0003');
    await cli.says(/interrupted/);
    cli.type('hello\r');
    await cli.ended();
    expect(cli.stdout).toMatch(/24 101/);
    expect(cli.stdout).toMatch(/read hello/);
    expect(cli.child.exitCode).toBe(5);
  });

  test('a shell inside has job control', async () => {
    await using cli = world.beginOnTerminal(['bash', '--norc', '-i']);
    cli.type('sleep 7654\r');
    await eventually(() => expect(processesWith('sleep 7654').length).toBeGreaterThan(0));
    cli.type('\u001a');
    await cli.says(/Stopped/);
    cli.type('kill %1; exit 4\rexit 4\r');
    await cli.ended();
    expect(cli.stdout).not.toMatch(/no job control|cannot set terminal/);
    expect(cli.child.exitCode).toBe(4);
  });

  test('the key that suspends stops even what ignores it, and the shell outside continues it', async () => {
    const command = ['sh', '-c', 'trap "" TSTP; echo ready; while :; do echo beat >> beats; sleep 0.02; done'];
    await using cli = world.beginShell();
    cli.type(`${world.typed(command)}\r`);
    await cli.says(/^ready/m);
    const beats = () => world.read('project/beats').length;
    await eventually(() => expect(beats()).toBeGreaterThan(5));
    cli.type('\u001a');
    await cli.says(/Stopped/);
    const before = beats();
    cli.type('sleep 0.5; echo slept\r');
    await cli.says(/slept\r?\n/);
    expect(beats()).toBe(before);
    cli.type('fg\r');
    await eventually(() => expect(beats()).toBeGreaterThan(before));
    cli.type('\u0003');
    cli.type('exit\r');
    await cli.ended();
  });

  test('--print shows the line and what policy would say, and neither runs nor asks anything', async () => {
    const env = { REEVE_API_URL: world.gateway.http };
    const printed = async (command: readonly string[], more: Record<string, string> = {}) =>
      world.run(command, { flags: ['--print'], env: { ...env, ...more } });
    const { code, stdout } = await printed(['touch', 'printed']);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^\S+bwrap --unshare-user .*--seccomp 3.* -- touch printed\n# policy: allow by \S+: .* \(policy \S+\)\n$/,
    );
    const before = world.gateway.audit().length;
    expect((await printed(['echo', 'forbidden'])).stdout).toMatch(/\n# policy: deny by house\/no-echo: .*\n$/);
    const held = await world.run(['echo', 'asked'], { flags: ['--print', '--output', 'json'], env });
    expect(JSON.parse(held.stdout)).toMatchObject({
      policy: { decision: 'pending', policy_rule: 'house/asked', approvals: { count: 1 } },
    });
    const unknown = [
      await printed(['true'], { REEVE_AGENT_TOKEN: 'x'.repeat(40) }),
      await printed(['true'], { REEVE_API_KEY: '' }),
      await printed(['true'], { REEVE_API_URL: 'http://127.0.0.1:9' }),
    ];
    expect(unknown.map(({ code: each }) => each)).toEqual([0, 0, 0]);
    expect(unknown[0]?.stdout).toMatch(/\n# policy: not known: .*--agent ORG\/TEAM\/AGENT\n$/);
    expect(unknown[1]?.stdout).toMatch(/\n# policy: not known: .*scope read.*\n$/);
    expect(unknown[2]?.stdout).toMatch(/\n# policy: not known: .*127\.0\.0\.1:9.*\n$/);
    expect(world.gateway.audit().length).toBe(before);
    expect(existsSync(join(world.project, 'printed'))).toBe(false);
  });

  test('names of files reach no terminal as they are', async () => {
    world.write('project/\u001b[2J\u202e/.claude/settings.json', '{}');
    const { stdout } = await world.run(['echo', "it's", 'a\\b', 'c\u0007\\d'], { flags: ['--print'] });
    expect(stdout).toContain(String.raw`$'${world.project}/\x1b[2J\xe2\x80\xae/.claude'`);
    expect(stdout).toContain(String.raw` -- echo 'it'\''s' 'a\b' $'c\x07\\d'`);
    rmSync(join(world.project, '\u001b[2J\u202e'), { recursive: true });
  });
});
