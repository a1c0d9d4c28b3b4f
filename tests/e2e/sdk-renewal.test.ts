import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect } from '@reeve/sdk';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

/* The clock of the gateway is behind by nearly two thirds of a token's life. So a client takes a new token for one that
   has come that far, and renews it soon. */

const lifeSecs = 3600;
const behindMs = -2_398_500;

let folder: string;
let gateway: TestGateway;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-clock-'));
  setClock(behindMs);
  const env = {
    NODE_OPTIONS: `--import=${resolve('tests/harness/moving-clock.mjs')}`,
    TEST_CLOCK_FILE: join(folder, 'clock'),
  };
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
});
beforeEach(() => setClock(behindMs));
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

function setClock(shiftMs: number): void {
  writeFileSync(join(folder, 'clock'), String(shiftMs));
}

async function register(agentId: string): Promise<string> {
  return (await gateway.register({ agentId }, { tokenTtlSecs: lifeSecs })).token;
}

const renewals = () => gateway.audit().filter(({ event_type }) => event_type === 'AgentTokenRenewed').length;

test('the SDK renews at two thirds of the life, and no call is lost: not while it does, nor once the old token is dead', async () => {
  using reeve = connect({ address: gateway.grpc });
  const revoked = { told: false };
  const agent = await reeve.agent({ token: await register('renewing'), onRevoked: () => (revoked.told = true) });
  const refused: string[] = [];
  const state = { asking: true };
  const asking = (async () => {
    while (state.asking) {
      const answer = await agent.check({ type: 'tool_call', tool: 'search' });
      if (answer.allowed) await agent.complete(answer.opId);
      else refused.push(answer.reason);
    }
  })();
  const held = await agent.check({ type: 'tool_call', tool: 'search' });
  await eventually(() => expect(renewals()).toBe(1));
  setClock(behindMs + 61_000);
  await agent.complete(held.opId);
  await eventually(async () => expect(await agent.heartbeat()).toMatchObject({ suspended: false }));
  state.asking = false;
  await asking;
  expect(refused).toEqual([]);
  expect([agent.revoked, revoked.told]).toEqual([false, false]);
  // The stream has the new token, too: a control arrives.
  const { opId } = await agent.check({ type: 'tool_call', tool: 'search' });
  const stopped = await gateway.api.post(`/api/v1/ops/${opId}/terminate`, bootstrapKey, {});
  expect(stopped.status).toBe(202);
  await eventually(() => expect(agent.operation(opId)?.state ?? 'terminated').toBe('terminated'));
  await agent.close();
});

test('a token that others hold, too, is not renewed', async () => {
  const before = renewals();
  using reeve = connect({ address: gateway.grpc });
  const token = await register('shared');
  const agent = await reeve.agent({ token, shared: true });
  const alone = await reeve.agent({ token: await register('alone') });
  await eventually(() => expect(renewals()).toBe(before + 1));
  expect(await agent.check({ type: 'tool_call', tool: 'search' })).toMatchObject({ allowed: true });
  expect(gateway.audit().findLast(({ event_type }) => event_type === 'AgentTokenRenewed')?.lineage?.agent_id).toBe(
    'alone',
  );
  await Promise.all([agent.close(), alone.close()]);
});
