import { connect } from '@reeve/sdk';
import { expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

const policy = 'name: test\ndefault: allow\nrules: [{name: never, effect: deny, tools: ["delete_*"]}]\n';

test('an agent delegates, and its delegate is an agent', async () => {
  await using gateway = await TestGateway.start({ policies: { 'p.yaml': policy } });
  using reeve = connect({ address: gateway.grpc, apiKey: bootstrapKey, deadlineMs: 40_000 });
  const boss = await reeve.register({ orgId: 'acme', teamId: 'core', agentId: 'boss' });
  let revoked = false;
  const child = await boss.delegate({
    childId: 'child',
    ttl: 600,
    tools: ['read_*', 'delete_*'],
    actions: ['tool_call'],
    maxCostUsd: '0.50',
    maxChecks: 6,
    name: 'helper',
    onRevoked: () => {
      revoked = true;
    },
  });
  expect(child.id).toEqual({ orgId: 'acme', teamId: 'core', agentId: 'child' });
  expect(await child.run({ tool: 'read_file' }, () => 'text')).toBe('text');
  expect(await child.check({ tool: 'write_file' })).toMatchObject({ decision: 'deny', policyRule: 'delegation' });
  expect(await child.check({ tool: 'delete_file' })).toMatchObject({ decision: 'deny', policyRule: 'test/never' });
  expect(await child.check({ type: 'llm_call', model: 'm' })).toMatchObject({ policyRule: 'delegation' });
  const dear = await child.check({ tool: 'read_file' }, { estimatedCostMicros: 500_001 });
  expect(dear).toMatchObject({ decision: 'deny', policyRule: 'delegation' });
  const running = child.run({ tool: 'read_file' }, async (operation) => {
    await boss.revokeDelegation('child');
    await eventually(() => expect(operation.signal.aborted).toBe(true));
  });
  await expect(running).rejects.toMatchObject({ name: 'OperationTerminatedError' });
  await eventually(() => expect([revoked, child.revoked]).toEqual([true, true]));
  expect(await child.check({ tool: 'read_file' })).toMatchObject({ decision: 'deny' });
  await expect(boss.delegate({ childId: 'child', ttl: 86_401 })).rejects.toThrow('ttl');
  await expect(boss.delegate({ childId: 'boss', ttl: 60 })).rejects.toMatchObject({ name: 'ReeveTokenInUse' });
});
