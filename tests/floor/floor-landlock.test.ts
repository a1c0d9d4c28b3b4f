import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FloorWorld, hasFloor, landlock } from './floor-world.ts';

let world: FloorWorld;
beforeAll(async () => {
  world = await FloorWorld.start();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

describe.skipIf(!hasFloor || landlock === 0)('on a floor with a second lock', () => {
  test('files are moved and linked between folders, cut short and opened again as ever', async () => {
    const deeds = [
      'mkdir -p a/b c && echo x > a/b/f && mv a/b/f c/f && ln c/f a/f && mv a/b c/b',
      'echo xx > c/f && truncate -s 1 c/f && test $(wc -c < c/f) = 1',
      'mkdir /tmp/one /tmp/two && echo x > /tmp/one/f && mv /tmp/one/f /tmp/two/f',
      'cat <(echo x) && echo x > >(cat >/dev/null)',
      'exec 3<> /tmp/file; rm /tmp/file; echo x > /proc/self/fd/3',
      'echo x > /dev/shm/x && echo x > /proc/self/comm && ls -A ~ /home /run >/dev/null; true',
      'test "$(script -qec "stty size; test -t 1 && echo a terminal" /dev/null | tail -1 | tr -d "\\r")" = "a terminal"',
      'cp /bin/true ./own && ./own && cp /bin/true ~/.reeve/own && ~/.reeve/own',
    ];
    const lines = deeds.map((deed, index) => `( ${deed} ) >/dev/null || echo 'could not: ${index}'`).join('\n');
    expect(await world.run(['bash', '-c', lines])).toMatchObject({ code: 0, stdout: '' });
  });

  test('nothing of the first program is left inside', async () => {
    const { stdout } = await world.sh('ls /dev/reeve-entry 2>/dev/null; ls -l /proc/self/fd');
    expect(stdout).not.toMatch(/reeve|landlock/);
  });

  test.skipIf(landlock < 6)('a program on a terminal cannot kill the job that it belongs to', async () => {
    const lines = 'trap "echo mine" TERM; kill -TERM 0; perl -e "kill 9, -getpgrp 0"; echo unreachable';
    await using cli = world.beginShell();
    cli.type(`${world.typed(['sh', '-c', lines])}; echo "it ended with $?"\r`);
    await cli.says(/it ended with \d+/);
    expect(cli.stdout).toMatch(/^mine\r?$/m);
    expect(cli.stdout).toMatch(/^it ended with 137\r?$/m);
    expect(cli.stdout).not.toMatch(/^unreachable/m);
    cli.type('exit\r');
    await cli.ended();
    const ends = world.gateway.audit().filter(({ event_type: type }) => type === 'OpStateChanged');
    expect(JSON.stringify(ends.at(-1))).toContain('exit code 137');
  });
});
