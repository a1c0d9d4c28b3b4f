import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { FloorWorld, hasFloor } from './floor-world.ts';

let world: FloorWorld;
beforeAll(async () => {
  world = await FloorWorld.start();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** Lines of a shell, each of which says whether it could be done. */
function tries(deeds: readonly string[]): string {
  return deeds.map((deed) => `( ${deed} ) >/dev/null 2>&1 && echo 'could: ${deed.replaceAll("'", '')}'`).join('\n');
}

describe.skipIf(!hasFloor)('the files of a floor', () => {
  test('the working folder, --write and /tmp can be written, and nothing else', async () => {
    const shared = join(world.home, 'shared');
    mkdirSync(shared);
    world.own(shared);
    const deeds = [
      'echo x > a',
      `echo x > ${shared}/a`,
      'echo x > /tmp/a',
      'echo x > /etc/a',
      'echo x > /usr/a',
      'echo x > ~/a',
      'echo x > /var/tmp/a',
      'echo x > /run/a',
      'echo x > /sys/a',
    ];
    const { stdout } = await world.sh(tries(deeds), { flags: ['--write', shared] });
    expect(stdout).toBe(`could: echo x > a\ncould: echo x > ${shared}/a\ncould: echo x > /tmp/a\n`);
    expect(existsSync(join(world.project, 'a'))).toBe(true);
    expect(existsSync('/tmp/a')).toBe(false);
  });

  test('the home folder is not there but for what is named', async () => {
    world.write('.ssh/id', 'private');
    world.write('.npmrc', 'token');
    world.write('notes/a', 'note');
    const { stdout } = await world.sh('ls -A ~; cat ~/.npmrc; (echo x > ~/.npmrc) 2>/dev/null || echo; cat ~/.ssh/id', {
      flags: ['--read', join(world.home, '.npmrc')],
    });
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(['.npmrc', 'project', 'token']));
    expect(stdout).not.toMatch(/private|\.ssh|notes/);
  });

  test('--hide covers what is in the working folder, and a profile that reads alone lets nothing be written', async () => {
    world.write('project/secrets/key', 'hidden-key');
    world.write('project/.env', 'hidden-env');
    const { stdout } = await world.sh('cat secrets/key .env; echo x > .env; ls -A secrets', {
      flags: ['--hide', 'secrets', '--hide', '.env'],
    });
    expect(stdout).toBe('');
    expect(world.read('project/.env')).toBe('hidden-env');
    const { stdout: could } = await world.sh(tries(['echo x > new', 'cat .env']), { flags: ['--profile', 'readonly'] });
    expect(could).toBe('could: cat .env\n');
  });

  test('what is named for reading in the working folder stays where it is', async () => {
    world.write('project/data/kept/file', 'kept');
    const deeds = ['echo x > data/kept/file', 'mv data d2', 'mv data/kept k2', 'rm -r data/kept', 'echo x > data/new'];
    const { stdout } = await world.sh(tries(deeds), { flags: ['--read', 'data/kept'] });
    expect(stdout).toBe('could: echo x > data/new\n');
    world.write('project/vendor/pkg/.claude/settings.json', '{}');
    const inside = ['echo x > vendor/pkg/new', 'echo x > vendor/new', 'echo x > vendor/pkg/.claude/plans/a'];
    world.write('project/vendor/pkg/.claude/plans/a', '');
    const flags = ['--read', 'vendor', '--write', 'vendor/pkg/.claude/plans'];
    expect((await world.sh(tries(inside), { flags })).stdout).toBe('could: echo x > vendor/pkg/.claude/plans/a\n');
    expect(world.read('project/data/kept/file')).toBe('kept');
  });

  test('what git is told to read and to run elsewhere in the folder stays as it is, and nothing is added', async () => {
    const repo = 'project/told';
    world.write(`${repo}/.git/HEAD`, 'ref: refs/heads/main\n');
    world.write(
      `${repo}/.git/config`,
      '[core]\n\tbare = false\n\thooksPath = ".husky/_"\n[include]\n\tpath = ../shared.gitconfig ; ours\n[includeIf "gitdir:/x"] path = missing.inc\n',
    );
    world.write(`${repo}/.git/commondir`, '.\n');
    world.write(`${repo}/.husky/_/pre-commit`, '#!/bin/sh\n');
    world.write(`${repo}/shared.gitconfig`, '[alias]\n');
    const deeds = [
      'echo x > .husky/_/pre-commit',
      'echo x > .husky/_/new',
      'mv .husky h',
      'echo x > shared.gitconfig',
      'rm shared.gitconfig',
      'echo x > .git/missing.inc',
      'echo x > .git/config.worktree',
      'echo x > .git/commondir',
      'echo x > other',
    ];
    const { stdout } = await world.sh(tries(deeds), { cwd: join(world.home, repo) });
    expect(stdout).toBe('could: echo x > other\n');
    const left = ['missing.inc', 'config.worktree'].filter((name) => existsSync(join(world.home, repo, '.git', name)));
    expect(left).toEqual([]);
  });

  test('what included files, worktrees and the person tell git to run is held, also where it is not there', async () => {
    const cwd = join(world.home, 'elsewhere');
    world.write('.gitconfig', '[core]\n\thooksPath = tools/hooks\n');
    world.write('elsewhere/shared/first.inc', '[include]\n\tpath = second.inc\n');
    world.write('elsewhere/shared/second.inc', `[core]\n\thooksPath = ~/elsewhere/own\n`);
    world.write('elsewhere/own/pre-commit', '#!/bin/sh\n');
    world.write('elsewhere/sub/.git/config', '[core]\n\thooksPath = ../beside\n');
    world.write('elsewhere/sub/.git/HEAD', 'ref: refs/heads/main\n');
    world.write('elsewhere/beside/post-commit', '#!/bin/sh\n');
    await world.shell(`git init -q ${cwd}; git -C ${cwd} config include.path ../shared/first.inc`);
    world.write('elsewhere/.git/config.worktree', '[core]\n\thooksPath = .husky/_\n');
    const deeds = [
      'echo x > shared/second.inc',
      'mv shared s',
      'echo x > own/pre-commit',
      'echo x > beside/post-commit',
      'mkdir -p tools/hooks',
      'mkdir .husky/_',
      'mv .husky h',
      'echo x > other',
    ];
    const { stdout } = await world.sh(tries(deeds), { cwd });
    expect(stdout).toBe('could: echo x > other\n');
    const { stdout: left } = await world.shell(`rm ~/.gitconfig; ls -A ${cwd}`);
    expect(left.split('\n')).toEqual(['.git', 'beside', 'other', 'own', 'shared', 'sub', '']);
    await world.shell(`cd ${cwd}; rm -r own; mkdir real; ln -s real own`);
    expect((await world.sh('true', { cwd })).stderr).toMatch(/^error: own is a symbolic link, which cannot be held/);
    const accepted = await world.sh('echo x > own/new', { cwd, flags: ['--write', 'own'] });
    expect(accepted).toMatchObject({ code: 0, stderr: '' });
  });

  test.each([
    ['hooks of git', 'git init -q', '.git/hooks', '.git'],
    ['settings of a coding agent', 'mkdir -p .claude/agents', '.claude/agents', '.claude'],
    ['a bare repository', 'git init -q --bare bare', 'bare', 'bare'],
  ])('a folder that must stay as it is is no working folder: %s', async (name, made, inside, around) => {
    const cwd = join(world.home, name.replaceAll(' ', '-'));
    await world.shell(`mkdir ${cwd}; cd ${cwd}; ${made}`);
    const { code, stderr } = await world.sh('touch evil', { cwd: join(cwd, inside) });
    const expected = `error: the working folder is in ${join(cwd, around)}, which must stay as it is; start it in ${cwd}`;
    expect({ code, stderr: stderr.slice(0, expected.length) }).toEqual({ code: 125, stderr: expected });
    expect(existsSync(join(cwd, inside, 'evil'))).toBe(false);
    const accepted = await world.sh('touch good', { cwd: join(cwd, inside), flags: ['--write', '.'] });
    expect(accepted).toMatchObject({ code: 0, stderr: '' });
  });

  test('a working tree of its own in the settings of a coding agent is a working folder', async () => {
    const cwd = join(world.home, 'agents');
    const commit = 'git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x';
    await world.shell(`git init -q ${cwd}; cd ${cwd}; ${commit}; git worktree add -q .claude/worktrees/one`);
    const { code, stderr } = await world.sh('touch new', { cwd: join(cwd, '.claude/worktrees/one') });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('git looks nowhere else for what it runs, and what says so to it is gone afterwards', async () => {
    const cwd = join(world.home, 'common');
    await world.shell(`git init -q ${cwd}; mkdir -p ${cwd}/evil/hooks`);
    const commit = 'git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x';
    const deeds = [
      'echo ../evil > .git/commondir',
      'ln -sf ../evil .git/commondir',
      'rm .git/commondir',
      'echo ../evil > evil/c; mv -f evil/c .git/commondir',
      commit,
      'test "$(git rev-parse --absolute-git-dir)" -ef "$(git rev-parse --git-common-dir)"',
    ];
    await using cli = world.begin(['sh', '-c', `${tries(deeds)}\necho ready; read line`], { cwd });
    await cli.says(/ready/);
    const outside = await world.shell(`cd ${cwd} && git status --short -uno && git log --oneline | wc -l`);
    expect(outside).toMatchObject({ code: 0, stdout: '1\n', stderr: '' });
    cli.child.stdin.end('go\n');
    await cli.ended();
    expect(cli.stdout).toBe(`could: ${commit}\ncould: ${deeds.at(-1)}\nready\n`);
    expect(existsSync(join(cwd, '.git/commondir'))).toBe(false);
    // What a person has written stays.
    world.write('common/.git/commondir', '.\n');
    await world.sh('true', { cwd });
    expect(world.read('common/.git/commondir')).toBe('.\n');
  });

  test('what others run or obey stays as it is, at any depth, and so do the folders above it', async () => {
    world.write('project/.git/config', '[core]\n');
    world.write('project/.git/HEAD', 'ref: refs/heads/main\n');
    world.write('project/.git/hooks/pre-commit', '#!/bin/sh\n');
    world.write('project/.git/modules/sub/config', '[core]\n');
    world.write('project/.claude/settings.json', '{}');
    world.write('project/pkg/deep/.vscode/tasks.json', '{}');
    world.write('project/pkg/deep/CLAUDE.md', 'be kind');
    world.write('project/sub/.git', 'gitdir: ../.git/modules/sub\n');
    world.write('project/other/.git/hooks/post-checkout', '#!/bin/sh\n');
    const deeds = [
      'echo x > .git/config',
      'echo x > .git/hooks/pre-commit',
      'echo x > .git/hooks/new',
      'rm -r .git/hooks',
      'mv .git/hooks h',
      'mv .git g',
      'echo x > .git/modules/sub/config',
      'echo x > .claude/settings.json',
      'mv .claude c',
      'rm -rf .claude',
      'echo x > pkg/deep/.vscode/tasks.json',
      'mv pkg/deep/.vscode v',
      'mv pkg/deep d',
      'mv pkg p',
      'echo x > pkg/deep/CLAUDE.md',
      'rm pkg/deep/CLAUDE.md',
      'echo x > sub/.git',
      'rm sub/.git',
      'mv sub s',
      'echo x > other/.git/hooks/post-checkout',
      'mv other/.git g',
      'ln pkg/deep/CLAUDE.md linked',
      ...['.codex', '.cursor', '.gemini', '.idea', '.mcp.json', '.envrc', 'CLAUDE.md', 'AGENTS.md'].flatMap((name) => [
        `touch ${name}/x`,
        `rmdir ${name}`,
        `mv ${name} moved`,
        `ln -sfn /tmp ${name} && test -L ${name}`,
      ]),
      // What an agent works with goes on.
      'echo x > .git/HEAD',
      'echo x > pkg/deep/code',
      'echo x > pkg/new',
    ];
    const { stdout } = await world.sh(tries(deeds));
    expect(stdout).toBe('could: echo x > .git/HEAD\ncould: echo x > pkg/deep/code\ncould: echo x > pkg/new\n');
  });

  test('what was made to be held is gone afterwards, and what a killed run has left as well', async () => {
    const before = readdirSync(world.project).toSorted();
    expect(before).not.toContain('CLAUDE.md');
    mkdirSync(join(world.project, 'CLAUDE.md'));
    world.own(join(world.project, 'CLAUDE.md'));
    await world.sh('true');
    expect(readdirSync(world.project).toSorted()).toEqual(before);
  });

  test('a run that ends takes nothing from under another in the same folder', async () => {
    await using other = world.begin([
      'sh',
      '-c',
      'echo ready; read line; touch .cursor/rules; mkdir .cursor/x; ls -A .cursor',
    ]);
    await other.says(/ready/);
    await world.sh('true');
    other.child.stdin.end('go\n');
    await other.ended();
    expect(other.stdout).toBe('ready\n');
    expect(existsSync(join(world.project, '.cursor'))).toBe(false);
  });

  test('many that begin and end together in one folder start, hold what they stand on, and leave nothing', async () => {
    const cwd = join(world.home, 'together');
    await world.shell(`git init -q ${cwd}; mkdir -p ${cwd}/sub`);
    const before = readdirSync(cwd).toSorted();
    const lines = 'touch .cursor/x .git/commondir/x; echo x > .git/commondir && echo could; echo done';
    for (const _ of [1, 2, 3]) {
      const all = await Promise.all([1, 2, 3, 4].map(() => world.sh(lines, { cwd })));
      for (const { code, stdout } of all) expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' });
      expect(readdirSync(cwd).toSorted()).toEqual(before);
      expect(existsSync(join(cwd, '.git/commondir'))).toBe(false);
    }
  });

  test('a run that ends takes nothing from under another that is still being started', async () => {
    const cwd = join(world.home, 'starting');
    await world.shell(`mkdir ${cwd}`);
    const wait = `while ! test -e ${world.home}/go; do sleep 0.05; done`;
    const bwrap = world.write('slow/bwrap', `#!/bin/sh\n${wait}\nPATH=\${PATH#*:} exec bwrap "$@"\n`);
    chmodSync(bwrap, 0o755);
    const env = { PATH: `${dirname(bwrap)}:${process.env['PATH'] ?? ''}` };
    await using other = world.begin(['sh', '-c', 'touch .cursor/x; echo done'], { cwd, env });
    await eventually(() => expect(existsSync(join(cwd, '.cursor'))).toBe(true));
    expect(await world.run(['true'], { cwd })).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, '.cursor'))).toBe(true);
    world.write('go', '');
    await other.ended();
    expect(other.exit()).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('the last that ends takes away what another has made, although it holds less itself', async () => {
    const cwd = join(world.home, 'fewer');
    await world.shell(`mkdir ${cwd}`);
    await using first = world.begin(['sh', '-c', 'echo ready; read line'], { cwd });
    await first.says(/ready/);
    await using last = world.begin(['sh', '-c', 'echo ready; read line'], { cwd, flags: ['--profile', 'readonly'] });
    await last.says(/ready/);
    first.child.stdin.end('go\n');
    await first.ended();
    expect(existsSync(join(cwd, '.claude'))).toBe(true);
    last.child.stdin.end('go\n');
    await last.ended();
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('links lead to nothing more', async () => {
    world.write('private.txt', 'private');
    symlinkSync('../private.txt', join(world.project, 'out'));
    symlinkSync('/etc', join(world.project, 'etc'));
    const deeds = [
      'cat out',
      'echo x > out',
      'echo x > etc/new',
      'ln /etc/passwd p',
      `ln ${world.home}/private.txt p`,
      'cat /proc/1/root/../private.txt',
      `cat /proc/self/root${world.home}/private.txt`,
      `cat /proc/1/root${world.home}/private.txt`,
    ];
    expect((await world.sh(tries(deeds))).stdout).toBe('');
  });

  test('a setting that is a link is refused, unless it is accepted by name', async () => {
    const where = join(world.home, 'linked');
    mkdirSync(where);
    world.own(where);
    world.write('linked/real/settings.json', '{}');
    symlinkSync('real', join(where, '.claude'));
    symlinkSync('AGENTS.md', join(where, 'CLAUDE.md'));
    const { code, stderr } = await world.sh('true', { cwd: where });
    expect({ code, stderr }).toEqual({
      code: 125,
      stderr: expect.stringMatching(/^error: \.claude is a symbolic link, which cannot be held/),
    });
    const accepted = await world.sh('echo x > .claude/settings.json', { cwd: where, flags: ['--write', '.claude'] });
    expect(accepted).toMatchObject({ code: 0, stderr: '' });
  });

  test('sockets of the host cannot be reached: by path, in the working folder, or by an abstract name', async () => {
    const outside = mkdtempSync('/var/tmp/reeve-floor-');
    chmodSync(outside, 0o755);
    const blanks = join(outside, 'two  blanks\nand a line');
    const paths = [join(world.project, 'sub.sock'), join(outside, 'host.sock'), blanks, '\0reeve-floor-abstract'];
    const servers = await Promise.all(
      paths.map(async (path) => {
        const server = createServer((socket) => socket.end('reached'));
        await new Promise<void>((resolve) =>
          server.listen(path.startsWith('\0') ? { path } : { path, readableAll: true, writableAll: true }, resolve),
        );
        return server;
      }),
    );
    const reach = (path: string) =>
      `socket(S, 1, 1, 0); print connect(S, pack('S a*', 1, "${path}")) ? "reached\\n" : "no\\n";`;
    const { stdout } = await world.perl(
      `use Socket; ${paths.map((path) => reach(path.replace('\0', String.raw`\0`))).join(' ')}`,
    );
    for (const server of servers) server.close();
    rmSync(outside, { recursive: true });
    expect(stdout).toBe('no\nno\nno\nno\n');
  });

  test.each([
    ['a folder whose name is not UTF-8', String.raw`mkdir -p "$(printf 'a\377')/.claude"`, /cannot be held.*UTF-8/],
    [
      'one beside a folder that is taken for it',
      String.raw`mkdir -p "$(printf 'a\377')/.claude" "$(printf 'a\357\277\275')"`,
      /cannot be held.*UTF-8/,
    ],
    [
      'a socket whose name is not UTF-8',
      String.raw`perl -e 'use Socket; socket(S, 1, 1, 0); bind(S, pack("S a*", 1, "s\xff"))'`,
      /cannot be held.*UTF-8/,
    ],
    [
      'a path that is too long',
      `perl -e 'for (1 .. 25) { mkdir "a" x 200; chdir "a" x 200; mkdir ".claude" }'`,
      /cannot be held.*too long/,
    ],
    [
      'more than the kernel takes',
      `perl -e 'for $n (100 .. 150) { $p = "x$n"; for (1 .. 16) { mkdir $p; $p .= "/" . "b" x 200 } mkdir $p; mkdir "$p/.claude" }'`,
      /longer than the kernel takes/,
    ],
  ])('what cannot be held by its name is refused in one line: %s', async (what, made, said) => {
    const cwd = join(world.home, what);
    expect(await world.shell(`mkdir '${cwd}'; cd '${cwd}'; ${made}`)).toMatchObject({ code: 0, stderr: '' });
    const { code, stderr } = await world.sh('true', { cwd });
    expect({ code, stderr }).toEqual({ code: 125, stderr: expect.stringMatching(/^error: [^\n]+\n$/) });
    expect(stderr).toMatch(said);
    expect((await world.shell(`ls -A '${cwd}'`)).stdout).not.toMatch(/claude/);
  });

  test('other processes, devices and the network are not there', async () => {
    const { stdout } = await world.sh('ls /proc | grep -c "^[0-9]"; ls /sys /run | grep -v :; ls -x -w 999 /dev');
    const lines = stdout
      .trim()
      .split('\n')
      .filter((line) => line !== '');
    expect(Number(lines[0])).toBeLessThan(8);
    const usual = [
      'core',
      'fd',
      'full',
      'null',
      'ptmx',
      'pts',
      'random',
      'shm',
      'stderr',
      'stdin',
      'stdout',
      'tty',
      'urandom',
      'zero',
    ];
    expect(lines.slice(1).map((line) => line.split(/\s+/))).toEqual([usual]);
    const { code } = await world.perl(
      `use Socket; socket(S, AF_INET, SOCK_STREAM, 0); exit(connect(S, pack_sockaddr_in(${world.gateway.grpc.split(':')[1]}, inet_aton("127.0.0.1"))) ? 1 : 0)`,
    );
    expect(code).toBe(0);
  });
});
