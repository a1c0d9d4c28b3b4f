import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { TestGateway } from '../harness/gateway.ts';
import { FloorWorld, hasFloor } from './floor-world.ts';

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
});
