import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acknowledge } from '../harness/control-stream.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import { TestModelProxy } from '../harness/model-proxy.ts';
import { ModelUpstream } from '../harness/model-upstream.ts';
import { reeveFromSources } from '../harness/reeve-command.ts';
import { hasFloor } from './floor-world.ts';
import { NetworkWorld } from './network-world.ts';

let world: NetworkWorld;
beforeAll(async () => {
  world = await NetworkWorld.start();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

interface ListedAgent {
  readonly agent_id: string;
  readonly delegation: { readonly by: { readonly agent_id: string }; readonly expires_at: string } | null;
}

async function delegates(): Promise<readonly ListedAgent[]> {
  const { body } = await world.gateway.api.get<{ items: ListedAgent[] }>('/api/v1/agents?per_page=1000', bootstrapKey);
  return body.items.filter(({ delegation }) => delegation !== null);
}

/** What was delegated inside ends, as it does after some minutes in which nobody could extend it. */
async function revoked(inside: Registered): Promise<void> {
  const path = `/api/v1/agents/acme/core/${inside.id.agentId}/revoke-delegation`;
  const { status, text } = await world.gateway.api.post(path, bootstrapKey, {});
  expect(status, text).toBe(200);
  await expect(world.gateway.heartbeat(inside)).rejects.toMatchObject({ code: 16 });
}

/** A run that shows its token and waits for a line. */
async function running() {
  const cli = world.begin(['sh', '-c', 'echo "token $REEVE_AGENT_TOKEN"; read line']);
  await cli.says(/token rva_\S+\n/);
  const token = /token (rva_\S+)/.exec(cli.stdout)?.[1] ?? '';
  const [delegate] = await delegates();
  const inside: Registered = { id: { orgId: 'acme', teamId: 'core', agentId: delegate?.agent_id ?? '' }, token };
  return { cli, inside, delegate };
}

describe.skipIf(!hasFloor)('who acts inside of a floor', () => {
  test('an SDK and a hook find the gateway, and act as a delegate of the agent', async () => {
    const sdk = resolve('packages/sdk/src/index.ts');
    const script = `
      import { connect } from '${sdk}';
      const reeve = connect();
      const agent = await reeve.agent({ token: process.env.REEVE_AGENT_TOKEN });
      const { decision } = await agent.check({ tool: 'search' });
      console.log(agent.id.agentId, decision);
      await agent.close(); reeve.close();`;
    const { stdout, stderr } = await world.run([process.execPath, '--input-type=module', '-e', script]);
    expect({ stdout, stderr }).toEqual({
      stdout: expect.stringMatching(/^ada\.inside-\w+ allow\n$/) as string,
      stderr: '',
    });
    const use = { hook_event_name: 'PreToolUse', session_id: 's', cwd: world.project, tool_name: 'Bash' };
    const hook = (command: string) =>
      world.run(
        [...reeveFromSources, 'hook', 'claude-code'],
        {},
        JSON.stringify({ ...use, tool_use_id: command, tool_input: { command } }),
      );
    expect((await hook('ls')).stdout).toBe('{"hookSpecificOutput":{"hookEventName":"PreToolUse"}}\n');
    expect((await hook('rm x')).stdout).toMatch(/"permissionDecision":"deny".*house\/no-rm/);
    const asked = world.gateway.audit().map((entry) => JSON.stringify(entry));
    expect(asked.some((text) => text.includes('.inside-') && text.includes('"command":"ls"'))).toBe(true);
  });

  test("it can neither complete nor confirm what is the run's, and ends with the run", async () => {
    const { cli, inside, delegate } = await running();
    await using _cli = cli;
    expect(delegate?.delegation?.by.agent_id).toBe('ada');
    expect(Date.parse(delegate?.delegation?.expires_at ?? '') - Date.now()).toBeLessThanOrEqual(300_000);
    const { op_id: id } = await world.programOp();
    const run: Registered = { id: { ...inside.id, agentId: 'ada' }, token: inside.token };
    await expect(world.gateway.complete(inside, id)).rejects.toMatchObject({ code: 5 });
    await expect(world.gateway.complete(run, id)).rejects.toMatchObject({ code: 16 });
    const control = await world.controlOp(id, 'pause');
    await world.effective(control);
    for (const agent of [inside, run])
      await expect(acknowledge(world.gateway, agent, 1, 'EFFECTIVE')).rejects.toMatchObject({
        code: agent === run ? 16 : 5,
      });
    await world.effective(await world.controlOp(id, 'resume'));
    await world.gateway.heartbeat(inside);
    cli.type('done\n');
    await cli.ended();
    await expect(world.gateway.heartbeat(inside)).rejects.toMatchObject({ code: 16 });
    expect(await delegates()).toEqual([]);
    expect(JSON.stringify(world.gateway.audit())).not.toContain(inside.token);
  });

  test('what runs inside cannot use up the delegates of its agent', async () => {
    const { cli, inside } = await running();
    await using _cli = cli;
    const script = `
      const { connect } = await import('${resolve('packages/sdk/src/index.ts')}');
      const reeve = connect({ address: '${world.gateway.grpc}' });
      const agent = await reeve.agent({ token: '${inside.token}' });
      let made = 0;
      try {
        for (; made < 40; made++) await agent.enrollDelegate({ childId: 'taken-' + made, ttl: 60 });
      } catch (error) {
        console.log(error.constructor.name);
      }
      console.log(made);
      await agent.close(); reeve.close();`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout).toBe('ReeveResourceExhausted\n16\n');
    cli.type('done\n');
    await cli.ended();
    await eventually(async () => expect(await delegates()).toEqual([]));
  });

  test('when the program goes on, the token inside counts, also if it had ended while it was paused', async () => {
    const { cli, inside } = await running();
    await using _cli = cli;
    const { op_id: id } = await world.programOp();
    await world.effective(await world.controlOp(id, 'pause'));
    await revoked(inside);
    await world.effective(await world.controlOp(id, 'resume'));
    await world.gateway.heartbeat(inside);
    cli.type('done\n');
    await cli.ended();
  });

  test('keys of the person and the token of the run are not there', async () => {
    const { stdout } = await world.sh('env; cat /proc/*/environ 2>/dev/null');
    expect(stdout).not.toContain(bootstrapKey);
    expect(new Set(stdout.match(/rva_[\w-]+/g)).size).toBe(1);
  });

  test('the way to the gateway leads nowhere else, and both ways are closed to others', async () => {
    const { stdout } = await world.sh(
      'curl -sS -m 5 "http://$REEVE_GRPC_ADDR/api/v1/ops" 2>&1; curl -sS --noproxy "*" -m 5 "http://$REEVE_GRPC_ADDR/api/v1/ops" 2>&1; true',
    );
    expect(stdout).not.toContain('items');
    expect(stdout).not.toContain('op_id');
  });

  test('models of a proxy on this machine can be called where a rule names its address', async () => {
    await using upstream = await ModelUpstream.start();
    await using proxy = await TestModelProxy.start({ grpc: world.gateway.grpc, upstream: upstream.url });
    const body = JSON.stringify({
      model: 'claude-sonnet-4-5',
      max_tokens: 10,
      messages: [{ role: 'user', content: 'hi' }],
    });
    world.write('project/body.json', body);
    const { stdout } = await world.sh(
      `curl -sS ${proxy.url}/v1/messages -H "x-api-key: $REEVE_AGENT_TOKEN" -H "content-type: application/json" -H "anthropic-version: 2023-06-01" -d @body.json`,
    );
    expect(JSON.parse(stdout)).toMatchObject({ type: 'message' });
    await eventually(() => expect(upstream.seen.length).toBe(1));
  });
});
