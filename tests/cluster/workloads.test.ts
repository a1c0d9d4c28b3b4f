import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RenewTokenRequest, RenewTokenResponse, paths } from '@reeve/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bootstrapKey } from '../harness/gateway.ts';
import { TokenIssuer } from '../harness/token-issuer.ts';
import type { Pair } from './pair.ts';
import { startPair } from './pair.ts';

let issuer: TokenIssuer;
let folder: string;
let pair: Pair;
beforeAll(async () => {
  issuer = await TokenIssuer.start();
  folder = mkdtempSync(join(tmpdir(), 'reeve-workloads-'));
  const file = join(folder, 'workloads.yaml');
  const keys = `issuer: ${issuer.url}\n  audience: reeve\n  jwks_uri: ${issuer.jwksUri}\n`;
  writeFileSync(file, `- ${keys}  match: {sub: "{sa:*}"}\n  agent: acme/prod/{sa}\n  register: true\n`);
  pair = await startPair({ SVC_WORKLOADS: file });
});
afterAll(async () => {
  await pair[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const workload = async (sa: string) => ({
  id: { orgId: 'acme', teamId: 'prod', agentId: sa },
  token: await issuer.sign({ sub: sa }),
});

test('workloads that come to both gateways at once are registered once each, and every check is answered', async () => {
  const names = Array.from({ length: 8 }, (_, n) => `bot-${n}`);
  const agents = await Promise.all(names.map(workload));
  const answers = await Promise.all(
    agents.flatMap((agent) => [pair.one, pair.two].map((gateway) => gateway.check(agent))),
  );
  expect(new Set(answers.map(({ decision }) => decision))).toEqual(new Set([1]));
  const registered = pair.one.audit().filter(({ event_type }) => event_type === 'AgentRegistered');
  expect(registered.map(({ lineage }) => lineage?.agent_id).toSorted()).toEqual(names);
});

test('an operation that a workload begins at one it completes at the other; a suspension stops it at both', async () => {
  const bot = await workload('moving');
  const { opId } = await pair.one.check(bot);
  expect(await pair.two.complete(bot, opId)).toMatchObject({ state: 'completing' });
  const { status } = await pair.one.api.post('/api/v1/agents/acme/prod/moving/suspend', bootstrapKey, {});
  expect(status).toBe(200);
  for (const gateway of [pair.one, pair.two]) {
    expect(await gateway.check(bot)).toMatchObject({ decision: 2, reason: 'agent is suspended' });
  }
  await pair.two.deregister(bot);
  expect(await pair.one.check(bot)).toMatchObject({ decision: 2, reason: 'agent is suspended' });
});

test('a token that is renewed at one works at the other at once, and so does the old one', async () => {
  const old = await pair.one.register({ teamId: 'prod', agentId: 'renewed' }, { tokenTtlSecs: 3600 });
  const { id } = old;
  const renewal = { agentId: id, credentialToken: old.token };
  const answer = await pair.one.client.call(paths.renewToken, RenewTokenRequest, RenewTokenResponse, renewal);
  for (const token of [answer.credentialToken, old.token]) {
    expect(await pair.two.check({ id, token })).toMatchObject({ decision: 1 });
  }
});
