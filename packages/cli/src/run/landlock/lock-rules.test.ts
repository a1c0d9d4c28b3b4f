import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { versionProgram } from '../entry/entry-program.ts';
import { executable, ProgramData } from '../entry/executable.ts';
import { planFiles } from '../jail/plan-files.ts';
import { isKnownArchitecture } from '../seccomp/filter.ts';
import { usable } from './examine-landlock.ts';
import { lockRules } from './lock-rules.ts';
import type { LockRule } from './lock-steps.ts';
import { lockSteps } from './lock-steps.ts';

/** Not in /tmp, which a program has for itself. */
const world = mkdtempSync('/var/tmp/reeve-lock-');
const home = join(world, 'homes', 'ada');
const project = join(home, 'project');
for (const folder of [project, join(home, '.ssh'), join(home, 'shared'), join(world, 'homes', 'bob')]) {
  mkdirSync(folder, { recursive: true });
}
for (const file of ['.ssh/key', 'shared/note', '.npmrc']) writeFileSync(join(home, file), 'text');
writeFileSync(join(world, 'homes', 'bob', 'public'), 'text');
symlinkSync(home, join(world, 'homes', 'link'));
afterAll(() => rmSync(world, { recursive: true }));

const architecture = isKnownArchitecture(process.arch) ? process.arch : 'x64';
const lock = join(world, 'lock');

function executed(program: Buffer, words: readonly string[]) {
  rmSync(lock, { force: true });
  writeFileSync(lock, program, { mode: 0o755 });
  return spawnSync('setpriv', ['--no-new-privs', lock, ...words], { encoding: 'utf8', cwd: project });
}

/** What the kernel itself says, where it is Linux with one of the two architectures. */
const version =
  process.platform === 'linux' && isKnownArchitecture(process.arch)
    ? usable(executed(versionProgram(architecture), []).status ?? undefined)
    : undefined;

function locking(rules: readonly LockRule[]): Buffer {
  const data = new ProgramData();
  return executable(architecture, [...lockSteps(rules, data), { do: 'become' }], data);
}

describe.skipIf(version === undefined)('the lock alone, without any mount', () => {
  const plan = planFiles({ folder: project, homes: [home], write: [], read: ['../.npmrc'], hide: [] });
  // They are empty inside, and here there is no inside.
  mkdirSync(join(home, '.reeve'));
  const could = (deeds: readonly string[]) => {
    const line = deeds.map((deed) => `( ${deed} ) >/dev/null 2>&1 && echo '${deed}'`).join('\n');
    const { stdout, stderr, status } = executed(locking(lockRules(plan)), ['/bin/sh', '-c', `${line}\ntrue`]);
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    return stdout.split('\n').slice(0, -1);
  };

  test('holds what the mounts hold', () => {
    const deeds = [
      'cat ../.ssh/key',
      'cat ../../link/.ssh/key',
      'cat ../shared/note',
      'cat /proc/self/cwd/../.ssh/key',
      'echo x > ../new',
      'echo x > ../.npmrc',
      'ln ../.ssh/key here',
      'mv ../.ssh/key here',
      'mkdir ../folder',
      `echo x > ${join(dirname(home), 'bob', 'new')}`,
      'echo x > /var/tmp/reeve-lock-new',
      'kill -0 $PPID',
    ];
    expect(could(deeds)).toEqual((version ?? 0) < 6 ? ['kill -0 $PPID'] : []);
  });

  test('lets programs do their work', () => {
    const deeds = [
      'ls ../.ssh',
      'cat ../.npmrc',
      'cat ../../bob/public',
      'cat /etc/passwd',
      'mkdir -p a/b c && echo x > a/b/f && mv a/b/f c/f && ln c/f a/f && mv a/b c/b && ln -s f c/link && mkfifo c/fifo',
      'echo xx > c/f && truncate -s 1 c/f && test $(wc -c < c/f) = 1 && rm -r a c',
      'echo x > /dev/null && echo x > /tmp/reeve-lock-file && rm /tmp/reeve-lock-file',
      'echo x > /proc/self/comm',
      'exec 3<> file; rm file; echo x > /proc/self/fd/3',
      'echo x | cat /proc/self/fd/0',
      'echo x > /dev/stdout',
    ];
    expect(could(deeds)).toEqual(deeds);
  });

  test('does not begin without a folder that the program would need', () => {
    const missing = { as: 'write', path: join(home, 'gone') } as const;
    const rules = lockRules({ ...plan, mounts: [...plan.mounts, missing] });
    const { status, stdout, stderr } = executed(locking(rules), ['/bin/echo', 'ran']);
    expect({ status, stdout }).toEqual({ status: 125, stdout: '' });
    expect(stderr).toMatch(/^reeve run: .*Landlock.*\n$/);
  });
});

test('needs nothing of what something empty is mounted over', () => {
  const kept = join(home, '.reeve');
  const own = { as: 'empty', path: kept, isWritable: true } as const;
  const over = { as: 'empty', path: home, isWritable: false } as const;
  const paths = (mounts: Parameters<typeof lockRules>[0]['mounts']) =>
    lockRules({ mounts, homes: [home] }).map(({ path }) => path);
  expect(paths([over, own])).toContain(kept);
  expect(paths([over, own, over])).not.toContain(kept);
});
