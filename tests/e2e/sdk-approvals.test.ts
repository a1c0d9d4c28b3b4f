import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { Agent } from '@reeve/sdk';
import { ActionDeniedError, connect, OperationTerminatedError } from '@reeve/sdk';
import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

type Approvals = RouteOutput<Routes['listApprovals']>;

const id = { orgId: 'acme', teamId: 'support', agentId: 'bot' };
const policy = `
name: p
default: allow
rules:
  - { name: ask, effect: require_approval, tools: [shell] }
  - { name: ask-briefly, effect: require_approval, tools: [brief], approvals: { ttl_secs: 1 } }
`;
const asks = { policies: { 'p.yaml': policy } };

function client(address: string) {
  return connect({ address, apiKey: bootstrapKey, deadlineMs: 20_000 });
}

/** A tool that says whether it ran. */
function useTool(agent: Agent, tool: string) {
  const state = { ran: 0 };
  const run = agent.run({ tool, args: { cmd: 'ls' } }, () => {
    state.ran++;
    return 'done';
  });
  run.catch(() => undefined);
  return { run, state };
}

async function openApproval(gateway: TestGateway): Promise<string> {
  return await eventually(async () => {
    const { body } = await gateway.api.get<Approvals>('/api/v1/approvals', bootstrapKey);
    const [approval] = body.items;
    if (approval === undefined) throw new Error('nobody is asked');
    return approval.id;
  });
}

async function decide(gateway: TestGateway, approval: string, what: 'approve' | 'reject', reason = ''): Promise<void> {
  const answer = await gateway.api.post(`/api/v1/approvals/${approval}/${what}`, bootstrapKey, { reason });
  expect(answer.status, answer.text).toBe(200);
}

/** The number of recorded checks of the agent. */
function checksOf(gateway: TestGateway): number {
  return gateway.audit().filter((entry) => entry.decision !== null).length;
}

test('a held action waits, without asking again, and runs when it is approved', async () => {
  await using gateway = await TestGateway.start(asks);
  using reeve = client(gateway.grpc);
  const agent = await reeve.register(id);
  const { run, state } = useTool(agent, 'shell');
  const approval = await openApproval(gateway);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(state.ran).toBe(0);
  await decide(gateway, approval, 'approve', 'fine');
  expect(await run).toBe('done');
  expect(state.ran).toBe(1);
  expect(checksOf(gateway)).toBe(1);
  // The release is acknowledged, and the work reported.
  await eventually(() => {
    const states = gateway.audit().filter((entry) => entry.event_type === 'OpStateChanged');
    expect(states.map((entry) => entry.payload['to'])).toEqual(['running', 'completing']);
  });
});

test('a held action that is rejected never runs, and its caller is told why', async () => {
  await using gateway = await TestGateway.start(asks);
  using reeve = client(gateway.grpc);
  const agent = await reeve.register(id);
  const { run, state } = useTool(agent, 'shell');
  await decide(gateway, await openApproval(gateway), 'reject', 'not on a Friday');
  const error = await run.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(OperationTerminatedError);
  expect(error).toMatchObject({ reason: expect.stringContaining('not on a Friday') as string });
  expect(state.ran).toBe(0);
});

test('a held action that nobody decides on ends when its time is over', async () => {
  await using gateway = await TestGateway.start(asks);
  using reeve = client(gateway.grpc);
  const agent = await reeve.register(id);
  const { run, state } = useTool(agent, 'brief');
  await expect(run).rejects.toMatchObject({ name: 'OperationTerminatedError', reason: 'approval expired' });
  expect(state.ran).toBe(0);
});

for (const what of ['approve', 'reject'] as const) {
  test(`a held action outlives a restart of the gateway and hears that somebody chose to ${what}`, async () => {
    const before = await TestGateway.start(asks);
    const { port } = new URL(`http://${before.grpc}`);
    using reeve = client(before.grpc);
    const agent = await reeve.register(id);
    const { run, state } = useTool(agent, 'shell');
    const approval = await openApproval(before);
    await using gateway = await before.restart('SIGKILL', { ...asks, args: ['--grpc', `127.0.0.1:${port}`] });
    await decide(gateway, approval, what);
    if (what === 'approve') expect(await run).toBe('done');
    else {
      // If the first answer was lost with the gateway, the next check finds it denied.
      const error = await run.catch((reason: unknown) => reason);
      expect(error instanceof OperationTerminatedError || error instanceof ActionDeniedError, String(error)).toBe(true);
      expect(String(error)).toContain('rejected by');
    }
    expect(state.ran).toBe(what === 'approve' ? 1 : 0);
  });
}

test('a check answers pending with the approval, and the same again until it is decided', async () => {
  await using gateway = await TestGateway.start(asks);
  using reeve = client(gateway.grpc);
  const agent = await reeve.register(id);
  const ids = { traceId: 't', spanId: 's' };
  const first = await agent.check({ tool: 'shell' }, ids);
  expect(first).toMatchObject({ decision: 'pending', allowed: false });
  expect(first.approvalId).toMatch(/^apr_/);
  expect(await agent.check({ tool: 'shell' }, ids)).toMatchObject({ approvalId: first.approvalId });
  await decide(gateway, first.approvalId ?? '', 'approve');
  expect(await agent.check({ tool: 'shell' }, ids)).toMatchObject({ decision: 'allow', allowed: true });
});

test('a held action is given up where nobody waits for it any more, and does not run when it is approved', async () => {
  await using gateway = await TestGateway.start(asks);
  using reeve = client(gateway.grpc);
  const agent = await reeve.register(id);
  let ran = 0;
  const held: unknown[] = [];
  const onHeld = ({ approvalId }: { approvalId: string | undefined }) => held.push(approvalId);
  const run = agent.run({ tool: 'shell' }, () => ++ran, { waitMs: 500, onHeld });
  await expect(run).rejects.toBeInstanceOf(ActionDeniedError);
  const approval = await openApproval(gateway);
  expect(held).toEqual([approval]);
  await decide(gateway, approval, 'approve');
  await eventually(() => {
    const ended = gateway.audit().findLast((entry) => entry.event_type === 'OpStateChanged');
    expect(ended?.payload).toMatchObject({ to: 'completing', outcome: 'cancelled' });
  });
  expect(ran).toBe(0);
});
