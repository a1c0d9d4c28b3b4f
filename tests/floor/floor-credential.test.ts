import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { FloorWorld, hasFloor } from './floor-world.ts';

let world: FloorWorld;
beforeEach(async () => {
  world = await FloorWorld.start();
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

describe.skipIf(!hasFloor)('a floor whose credential ends', () => {
  const byToken = async () => {
    const { token } = await world.gateway.register({ agentId: 'bert' });
    return { REEVE_AGENT_TOKEN: token, REEVE_API_KEY: '', REEVE_AGENT: '' };
  };

  test.each([
    ['runs on', 'trap "" TERM; echo begun; while :; do sleep 0.1; done', 143],
    ['ends by itself just then', 'trap "exit 7" TERM; echo begun; while :; do sleep 0.1; done', 143],
  ])('stops a program that %s, and says that it was stopped', async (_what, line, code) => {
    await using cli = world.begin(['sh', '-c', line], { env: await byToken(), flags: ['--grace', '1'] });
    await cli.says(/begun/);
    // Another token takes the place of this one.
    await world.gateway.register({ agentId: 'bert' });
    await cli.ended();
    expect(cli.stderr).toMatch(/nobody can control it any more, so it is stopped/);
    expect(cli.stderr).toMatch(/its end could not be reported/);
    expect(cli.exit().code).toBe(code);
  });

  test('the token inside counts again as soon as the gateway is back', async () => {
    await using cli = world.begin(['sh', '-c', 'echo "token $REEVE_AGENT_TOKEN"; read line']);
    await cli.says(/token rva_\S+\n/);
    const token = /token (rva_\S+)/.exec(cli.stdout)?.[1] ?? '';
    const { agentId } = await world.gateway.identify(token);
    const path = `/api/v1/agents/acme/core/${agentId?.agentId}/revoke-delegation`;
    expect((await world.gateway.api.post(path, bootstrapKey, {})).status).toBe(200);
    await expect(world.gateway.identify(token)).rejects.toMatchObject({ code: 16 });
    const { folder, grpc } = world.gateway;
    await world.gateway.kill();
    await using again = await TestGateway.start({ folder, args: ['--grpc', grpc] });
    await eventually(() => again.identify(token), 400);
    cli.type('done\n');
    await cli.ended();
    expect(cli.exit().code).toBe(0);
  });
});
