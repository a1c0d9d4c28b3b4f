import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TokenIssuer } from '../harness/token-issuer.ts';
import { LlmWorld } from './llm-world.ts';

let issuer: TokenIssuer;
let folder: string;
let world: LlmWorld;
beforeAll(async () => {
  issuer = await TokenIssuer.start('RS256');
  folder = mkdtempSync(join(tmpdir(), 'reeve-workloads-'));
  const file = join(folder, 'workloads.yaml');
  const keys = `issuer: ${issuer.url}\n  audience: reeve\n  jwks_uri: ${issuer.jwksUri}\n`;
  writeFileSync(file, `- ${keys}  match: {sub: "{sa:*}"}\n  agent: acme/prod/{sa}\n  register: true\n`);
  world = await LlmWorld.start({ env: { SVC_WORKLOADS: file } });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const messages = [{ role: 'user' as const, content: 'How long do refunds take?' }];

test('a proxy takes the JWT of a workload as its token, however long, and nothing of it goes further', async () => {
  const token = await issuer.sign({ sub: 'caller', padding: 'x'.repeat(6000) });
  const answer = await world.openai(token).chat.completions.create({ model: 'gpt-5-mini', messages });
  expect(answer.choices[0]?.message.content).toBe('Refunds take five days.');
  expect(world.checks().at(-1)?.lineage).toMatchObject({ org_id: 'acme', team_id: 'prod', agent_id: 'caller' });
  const told = JSON.stringify(world.upstream.last.headers) + world.proxy.output;
  for (const part of token.split('.')) expect(told).not.toContain(part);
});

test('a JWT that is not right is a bad token there', async () => {
  const token = await issuer.sign({ sub: 'caller', aud: 'else' });
  await expect(world.openai(token).chat.completions.create({ model: 'gpt-5-mini', messages })).rejects.toMatchObject({
    status: 401,
  });
});
