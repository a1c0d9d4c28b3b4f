import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { TestGateway } from '../harness/gateway.ts';
import { FloorWorld, hasFloor, letOthersRun, processesWith } from './floor-world.ts';

let world: FloorWorld;
beforeEach(async () => {
  world = await FloorWorld.start();
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

const beat = 'while :; do echo beat >> beats; sleep 0.01; done';
const size = () => world.read('project/beats').length;

describe.skipIf(!hasFloor)('a floor whose gateway is lost', () => {
  test.each(['pause', 'stop'] as const)('with the gateway lost, it does what --lost-gateway %s says', async (way) => {
    await using cli = world.begin(['sh', '-c', beat], { flags: ['--lost-gateway', way, '--grace', '0'] });
    world.write('project/beats', '');
    await eventually(() => expect(size()).toBeGreaterThan(20), 400);
    await world.gateway.kill();
    await eventually(() => expect(cli.stderr).toMatch(/the gateway is lost/), 1200);
    if (way === 'stop') {
      await cli.ended();
      expect(cli.exit().code).toBe(143);
      return;
    }
    const frozen = await eventually(() => {
      const [before, after] = [size(), size()];
      expect(before).toBe(after);
      return after;
    });
    const { folder, grpc } = world.gateway;
    await using _again = await TestGateway.start({ folder, args: ['--grpc', grpc] });
    await cli.says(/the gateway is back/, 'stderr');
    await eventually(() => expect(size()).toBeGreaterThan(frozen));
    cli.child.kill('SIGKILL');
  });

  test('a job that was stopped does not go on while nobody answers, and is paused as by a lost gateway', async () => {
    await using cli = world.beginShell();
    world.write('project/beats', '');
    cli.type(`${world.typed(['sh', '-c', beat])}\r`);
    await eventually(() => expect(size()).toBeGreaterThan(20), 400);
    cli.type('\u001a');
    await cli.says(/Stopped/);
    await world.gateway.kill();
    const stopped = size();
    cli.type('fg\r');
    // The shell continues the program itself, which is then stopped again.
    await eventually(() => expect(size()).toBeGreaterThan(stopped));
    const held = await eventually(() => {
      const seen = size();
      letOthersRun();
      expect(size()).toBe(seen);
      return seen;
    });
    await eventually(() => expect(cli.stdout).toMatch(/the gateway is lost/), 1200);
    expect(size()).toBe(held);
    const { folder, grpc } = world.gateway;
    await using _again = await TestGateway.start({ folder, args: ['--grpc', grpc] });
    await eventually(() => expect(cli.stdout).toMatch(/the gateway is back/), 1200);
    await eventually(() => expect(size()).toBeGreaterThan(held));
    cli.type('\u0003');
    await eventually(() => expect(cli.stdout.match(/\^C/g)).not.toBeNull());
    cli.type('exit\r');
    await cli.ended();
  });

  test('a gateway that goes while a person is asked starts nothing', async () => {
    await using cli = world.begin(['sh', '-c', 'echo ran > ran; sleep 7654321', 'asked-later'], {
      flags: ['--approval-wait', '5'],
    });
    await cli.says(/waiting for an approval/, 'stderr');
    await world.gateway.kill();
    await cli.ended();
    expect([125, 126]).toContain(cli.exit().code);
    expect(() => world.read('project/ran')).toThrow('ENOENT');
    expect(processesWith('sleep 7654321')).toEqual([]);
  });

  test('a gateway that goes while the program is frozen leaves it so, and nothing of it outlives reeve run', async () => {
    await using cli = world.begin(['sh', '-c', `${beat} # 7654322`]);
    await eventually(() => expect(size()).toBeGreaterThan(20), 400);
    await world.control('pause');
    await cli.says(/paused/, 'stderr');
    const frozen = size();
    await world.gateway.kill();
    letOthersRun();
    expect(size()).toBe(frozen);
    cli.child.kill('SIGKILL');
    await cli.ended();
    await eventually(() => expect(processesWith('7654322')).toEqual([]));
    expect(size()).toBe(frozen);
  });
});
