import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RouteOutput, Routes } from '@reeve/contract/http';
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

const namesLeft = () => readdirSync(world.project).filter((name) => name.startsWith('.') || name.endsWith('.md'));

describe.skipIf(!hasFloor)('a jail that is made while the gateway is asked', () => {
  test('is left, with its names, when the program is denied', async () => {
    const { code } = await world.run(['echo', 'forbidden']);
    expect(code).toBe(126);
    expect(namesLeft()).toEqual([]);
  });

  test('does not stand while people are asked', async () => {
    const mark = `held-${process.pid}`;
    await using cli = world.begin(['echo', 'asked', mark]);
    await cli.says(/waiting for an approval/, 'stderr');
    await eventually(() => expect(namesLeft()).toEqual([]));
    // Nobody but reeve run itself knows of the command.
    await eventually(() => expect(processesWith(mark)).toEqual([cli.child.pid]));
    cli.child.kill('SIGTERM');
    await cli.ended();
    expect(cli.child.signalCode).toBe('SIGTERM');
    expect(namesLeft()).toEqual([]);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('is left, with its names, by %s at any time', async (name) => {
    const mark = `signal-${process.pid}-${name}`;
    // From before there is a jail up to after the program has begun, to which the signal goes then.
    for (const afterMs of [50, 150, 300, 450, 600]) {
      await using cli = world.begin(['sh', '-c', `exec sleep 60 # ${mark}`]);
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      cli.child.kill(name);
      await cli.ended();
      const code = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 }[name];
      expect([name, code]).toContain(cli.child.signalCode ?? cli.exit().code);
      expect(processesWith(mark)).toEqual([]);
      expect(namesLeft()).toEqual([]);
    }
  });

  test('is left when no gateway answers, and nothing was asked', async () => {
    const mark = `away-${process.pid}`;
    const { code } = await world.run(['echo', mark], { env: { REEVE_GRPC_ADDR: '127.0.0.1:9' } });
    expect(code).toBe(125);
    expect(processesWith(mark)).toEqual([]);
    expect(existsSync(join(world.project, '.claude'))).toBe(false);
  });

  test('takes away the names that a killed one has left', async () => {
    await world.shell('mkdir .git .claude');
    const { stdout } = await world.sh('touch .git/config .git/x .claude/x && echo could; echo done');
    expect(stdout).toBe('done\n');
    expect(namesLeft()).toEqual([]);
  });

  test('is asked about only once it is there', async () => {
    const bwrap = world.write('elsewhere/bwrap', '#!/bin/sh\necho "bwrap: Can\'t mount proc" >&2; exit 1\n');
    chmodSync(bwrap, 0o755);
    const before = world.gateway.audit().length;
    const env = { PATH: `${dirname(bwrap)}:${process.env['PATH'] ?? ''}` };
    const { code } = await world.run(['true'], { env });
    const decided = world.gateway
      .audit()
      .slice(before)
      .map(({ event_type: type }) => type);
    expect(code).toBe(125);
    expect(decided).not.toContain('ActionAllowed');
    expect(namesLeft()).toEqual([]);
  });

  test('reads nothing that is for the program: what is asked for later gets all of a file', async () => {
    world.write('input', 'one\ntwo\n');
    const command = ['sh', '-c', 'cat', 'asked-later'];
    await using cli = world.beginRedirected(command, `< ${join(world.home, 'input')}`);
    await cli.says(/waiting for an approval/, 'stderr');
    await approve();
    await cli.ended();
    expect(cli.exit()).toMatchObject({ code: 0, stdout: 'one\ntwo\n' });
  });

  test('leaves a file to whoever comes after a program that is denied', async () => {
    world.write('input', 'one\ntwo\n');
    const { stdout } = await world.shell(`{ ${world.typed(['echo', 'forbidden'])}; cat; } < ~/input`);
    expect(stdout).toBe('one\ntwo\n');
  });

  test('gives the program a standard error that can be opened again', async () => {
    const command = world.typed(['sh', '-c', 'echo word > /dev/stderr']);
    const { stdout } = await world.shell(`mkfifo ~/fifo; cat ~/fifo & ${command} 2> ~/fifo; echo $?; wait`);
    expect(stdout.split('\n').toSorted()).toEqual(['', '0', 'word']);
  });

  test('is not made, and leaves no names, where there are more to hold than bubblewrap takes', async () => {
    await world.shell('mkdir ~/many; cd ~/many; for i in $(seq 3100); do echo $i/.claude; done | xargs mkdir -p');
    const many = join(world.home, 'many');
    const { code, stderr } = await world.run(['true'], { cwd: many });
    expect({ code, stderr }).toMatchObject({
      code: 125,
      stderr: expect.stringMatching(/more names to hold/) as string,
    });
    expect(readdirSync(many).filter((name) => !/^\d+$/.test(name))).toEqual([]);
  });
});

async function approve(): Promise<void> {
  const path = '/api/v1/approvals?state=open';
  const { body } = await world.gateway.api.get<RouteOutput<Routes['listApprovals']>>(path, bootstrapKey);
  for (const { id } of body.items) await world.gateway.api.post(`/api/v1/approvals/${id}/approve`, bootstrapKey, {});
}
