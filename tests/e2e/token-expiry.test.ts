import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paths, RenewTokenRequest, RenewTokenResponse } from '@reeve/contract';
import { ControlStream } from '../harness/control-stream.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, TestGateway } from '../harness/gateway.ts';

const code = { invalidArgument: 3, unauthenticated: 16 };

let folder: string;
let gateway: TestGateway;
let env: Record<string, string>;
let shift = 0;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-clock-'));
  writeFileSync(join(folder, 'clock'), '0');
  env = {
    NODE_OPTIONS: `--import=${resolve('tests/harness/moving-clock.mjs')}`,
    TEST_CLOCK_FILE: join(folder, 'clock'),
  };
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** Sets the clock of the gateway forward. */
function advance(secs: number): void {
  shift += secs * 1000;
  writeFileSync(join(folder, 'clock'), String(shift));
}

const register = (agentId: string, tokenTtlSecs?: number) => gateway.register({ agentId }, { tokenTtlSecs });

async function renew({ id, token }: Registered): Promise<Registered & { expiresAt: string }> {
  const request = { agentId: id, credentialToken: token };
  const answer = await gateway.client.call(paths.renewToken, RenewTokenRequest, RenewTokenResponse, request);
  return { id, token: answer.credentialToken, expiresAt: answer.expiresAt };
}

test('a token without a life has no end; one with a life says when', async () => {
  expect(await register('lasting')).toMatchObject({ expiresAt: '' });
  const { expiresAt, token } = await register('mortal', 60);
  expect(expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(await gateway.identify(token)).toMatchObject({ expiresAt, tokenTtlSecs: 60 });
  for (const wrong of [0, 59, 31_536_001]) {
    await expect(register('mortal', wrong)).rejects.toMatchObject({ code: code.invalidArgument });
  }
});

test('an expired token is DENY for checks, UNAUTHENTICATED for the rest, and its stream ends', async () => {
  const agent = await register('expiring', 60);
  const { opId } = await gateway.check(agent);
  const stream = await ControlStream.open(gateway, agent);
  advance(61);
  expect(await stream.ended).toMatchObject({ code: code.unauthenticated });
  await eventually(async () =>
    expect(await gateway.check(agent)).toMatchObject({
      decision: 2,
      policyRule: 'identity',
      reason: 'token has expired',
    }),
  );
  const refused = { code: code.unauthenticated };
  await expect(gateway.complete(agent, opId)).rejects.toMatchObject(refused);
  await expect(gateway.heartbeat(agent)).rejects.toMatchObject(refused);
  await expect(gateway.identify(agent.token)).rejects.toMatchObject(refused);
  await expect(renew(agent)).rejects.toMatchObject(refused);
  await expect(gateway.deregister(agent)).rejects.toMatchObject(refused);
});

test('renewing gives a new token with the same life, the old one works for 60 s, and both survive a restart', async () => {
  const old = await register('renewing', 3600);
  const brief = await register('brief', 60);
  advance(2400);
  // From here on the gateway has the new time.
  await eventually(async () => expect(await gateway.check(brief)).toMatchObject({ reason: 'token has expired' }));
  const fresh = await renew(old);
  expect(Date.parse(fresh.expiresAt) - Date.parse(old.expiresAt)).toBeGreaterThanOrEqual(2_400_000);
  expect(gateway.audit().at(-1)).toMatchObject({ event_type: 'AgentTokenRenewed', lineage: { agent_id: 'renewing' } });
  for (const agent of [old, fresh]) expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
  advance(61);
  await eventually(async () => expect(await gateway.check(old)).toMatchObject({ reason: 'token has expired' }));
  expect(await gateway.check(fresh)).toMatchObject({ decision: 1 });
  gateway = await gateway.restart('SIGKILL', { env });
  expect(await gateway.check(old)).toMatchObject({ reason: 'token has expired' });
  expect(await gateway.check(fresh)).toMatchObject({ decision: 1 });
});
