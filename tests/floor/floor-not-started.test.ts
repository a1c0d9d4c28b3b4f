import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey } from '../harness/gateway.ts';
import type { Start } from './floor-world.ts';
import { FloorWorld, hasFloor } from './floor-world.ts';

const rules = `
name: house
default: allow
rules:
  - { name: asked, effect: require_approval, commands: ["touch asked-**"] }
  - { name: no-absent, effect: deny, commands: ["absent-denied**"] }
`;

let world: FloorWorld;
beforeAll(async () => {
  world = await FloorWorld.start({ SVC_CONTROL_STRICT: 'true', SVC_CONTROL_ACK_SECS: '1' }, rules);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

type Approval = RouteOutput<Routes['listApprovals']>['items'][number];

/** The one approval of an operation whose title has the word. */
async function approvalOf(word: string, state = 'open'): Promise<Approval> {
  const path = `/api/v1/approvals?state=${state}`;
  const { body } = await world.gateway.api.get<RouteOutput<Routes['listApprovals']>>(path, bootstrapKey);
  const found = body.items.find(({ title }) => title.includes(word));
  if (found === undefined) throw new Error(`there is no approval of ${word} that is ${state}`);
  return found;
}

async function post(path: string, body: unknown): Promise<void> {
  const { status, text } = await world.gateway.api.post(path, bootstrapKey, body);
  expect(status, text).toBeLessThan(300);
}

/** A command that waits for its approval. */
async function waiting(word: string, start: Start = {}) {
  const cli = world.begin(['touch', word], start);
  await cli.says(/waiting for an approval/, 'stderr');
  return cli;
}

/** The agent has been told to stop something that nobody runs. */
async function blocked(agent: Registered): Promise<void> {
  const { opId } = await world.gateway.check(agent);
  await post(`/api/v1/ops/${encodeURIComponent(opId)}/terminate`, { reason: 'look' });
  await eventually(async () => {
    const { reason } = await world.gateway.check(agent);
    expect(reason).toBe('agent has not confirmed a stop');
  });
}

const hasRun = (word: string) => existsSync(join(world.project, word));

describe.skipIf(!hasFloor)('a program that may not start', () => {
  test('ends with 126 and the reason if its approval is rejected while it waits', async () => {
    await using cli = await waiting('asked-rejected');
    const { id } = await approvalOf('asked-rejected');
    await post(`/api/v1/approvals/${id}/reject`, { reason: 'nope' });
    await cli.ended();
    expect(cli.exit()).toMatchObject({ code: 126, stdout: '' });
    expect(cli.stderr).toMatch(/^error: denied while it waited: rejected by .*: nope$/m);
    expect(hasRun('asked-rejected')).toBe(false);
  });

  test('ends with 143 if an operator terminates it while it waits', async () => {
    await using cli = await waiting('asked-stopped');
    const { op_id: id } = await approvalOf('asked-stopped');
    await post(`/api/v1/ops/${encodeURIComponent(id)}/terminate`, { reason: 'enough' });
    await cli.ended();
    expect(cli.exit()).toMatchObject({ code: 143, stderr: expect.stringContaining('terminated: enough') as string });
    expect(hasRun('asked-stopped')).toBe(false);
  });

  test('ends with 126 and the reason if its approval expires while it waits', async () => {
    await using brief = await FloorWorld.start({ SVC_APPROVAL_TTL_SECS: '1' }, rules);
    const { code, stderr } = await brief.run(['touch', 'asked-expired']);
    expect(code).toBe(126);
    expect(stderr).toMatch(/^error: denied while it waited: approval expired$/m);
  });

  test('withdraws its request once nobody has approved it in time', async () => {
    const { code, stderr } = await world.run(['touch', 'asked-late'], { flags: ['--approval-wait', '1'] });
    const { id, op_id: opId } = await approvalOf('asked-late', 'cancelled');
    expect({ code, stderr }).toMatchObject({
      code: 126,
      stderr: expect.stringMatching(
        new RegExp(`^error: not approved in time \\(${id}\\); .*withdrawn$`, 'm'),
      ) as string,
    });
    const { status } = await world.gateway.api.post(`/api/v1/approvals/${id}/approve`, bootstrapKey, { reason: '' });
    expect(status).toBe(409);
    const { body } = await world.gateway.api.get(`/api/v1/ops/${encodeURIComponent(opId)}`, bootstrapKey);
    expect(body).toMatchObject({ state: 'terminated' });
  });

  test('withdraws its request if it is interrupted while it waits', async () => {
    await using cli = await waiting('asked-interrupted');
    const { id } = await approvalOf('asked-interrupted');
    cli.child.kill('SIGINT');
    await cli.ended();
    expect(cli.child.signalCode).toBe('SIGINT');
    expect(await approvalOf('asked-interrupted', 'cancelled')).toMatchObject({ id });
    expect(hasRun('asked-interrupted')).toBe(false);
  });

  test('ends with 126 and the reason if its agent, or its org, is suspended', async () => {
    const agent = '/api/v1/agents/acme/core/ada';
    // It is registered by its first run.
    expect((await world.run(['true'])).code).toBe(0);
    await post(`${agent}/suspend`, { reason: 'look' });
    const suspended = await world.run(['true']);
    expect(suspended).toMatchObject({ code: 126, stderr: 'error: denied by identity: agent is suspended\n' });
    await post(`${agent}/resume`, { reason: '' });
    await post('/api/v1/suspensions', { org_id: 'acme', action: 'pause', reason: 'look' });
    const held = await world.run(['true']);
    expect(held).toMatchObject({ code: 126, stderr: 'error: denied by control: org is suspended: look\n' });
    const { body } = await world.gateway.api.get<{ items: { id: string }[] }>('/api/v1/suspensions', bootstrapKey);
    await world.gateway.api.send('DELETE', `/api/v1/suspensions/${body.items[0]?.id}`, { bearer: bootstrapKey });
  });

  test('ends with 126 and the reason if its agent has not confirmed a stop', async () => {
    const bert = await world.gateway.register({ agentId: 'bert' });
    await blocked(bert);
    const env = { REEVE_AGENT_TOKEN: bert.token, REEVE_AGENT: '', REEVE_API_KEY: '' };
    expect(await world.run(['true'], { env })).toMatchObject({
      code: 126,
      stderr: 'error: denied by identity: agent has not confirmed a stop\n',
    });
  });

  test('ends with 126 and the reason if its agent may not act any more once it is approved', async () => {
    const cleo = await world.gateway.register({ agentId: 'cleo' });
    const env = { REEVE_AGENT_TOKEN: cleo.token, REEVE_AGENT: '', REEVE_API_KEY: '' };
    await using cli = await waiting('asked-blocked', { env });
    await blocked(cleo);
    await post(`/api/v1/approvals/${(await approvalOf('asked-blocked')).id}/approve`, { reason: '' });
    await cli.ended();
    expect(cli.exit().code).toBe(126);
    expect(cli.stderr).toMatch(/^error: denied: agent is suspended or has not confirmed a stop/m);
    expect(hasRun('asked-blocked')).toBe(false);
  });

  test('is asked about as it was typed, before anybody looks for it', async () => {
    const before = world.gateway.audit().length;
    expect(await world.run(['absent-denied', 'x'])).toMatchObject({
      code: 126,
      stderr: expect.stringMatching(/^error: denied by house\/no-absent: /) as string,
    });
    expect(await world.run(['absent-allowed', 'x'])).toMatchObject({
      code: 127,
      stderr: 'error: there is no command absent-allowed\n',
    });
    const entries = world.gateway.audit().slice(before);
    expect(entries.filter(({ event_type: type }) => type !== 'AgentRegistered')).toMatchObject([
      { event_type: 'ActionDenied', payload: { action: { command: 'absent-denied', command_args: ['x'] } } },
      { event_type: 'ActionAllowed', payload: { action: { command: 'absent-allowed', command_args: ['x'] } } },
      {
        event_type: 'OpStateChanged',
        payload: { outcome: 'failed', detail: 'exit code 127: there is no command absent-allowed' },
      },
    ]);
  });

  test('ends with 127 if it has no name to ask about', async () => {
    expect(await world.run([''])).toMatchObject({ code: 127, stderr: 'error: there is no command \n' });
  });
});
