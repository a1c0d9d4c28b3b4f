import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CheckActionRequest, CheckActionResponse, paths, RenewTokenRequest, RenewTokenResponse } from '@reeve/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ControlStream } from '../harness/control-stream.ts';
import { delegate } from '../harness/delegate.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, checkRequest, runServe, TestGateway } from '../harness/gateway.ts';
import { TokenIssuer } from '../harness/token-issuer.ts';

const unauthenticated = { code: 16 };

let issuer: TokenIssuer;
let other: TokenIssuer;
let folder: string;
let file: string;
let gateway: TestGateway;
beforeAll(async () => {
  [issuer, other] = [await TokenIssuer.start(), await TokenIssuer.start('RS256')];
  folder = mkdtempSync(join(tmpdir(), 'reeve-workloads-'));
  file = join(folder, 'workloads.yaml');
  writeFileSync(file, entries());
  gateway = await TestGateway.start({
    policies: { 'all.yaml': allowAll },
    env: { SVC_WORKLOADS: file, SVC_LOG_LEVEL: 'trace' },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await Promise.all([issuer[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
  rmSync(folder, { recursive: true });
});

/** Service accounts of Kubernetes, and jobs that are not registered by themselves. */
function entries(): string {
  const of = ({ url, jwksUri }: TokenIssuer) => `- issuer: ${url}\n  audience: [reeve, else]\n  jwks_uri: ${jwksUri}\n`;
  return [
    `${of(issuer)}  match: {sub: "system:serviceaccount:{ns:*}:{sa:*}"}\n  agent: acme/{ns}/{sa}\n  register: true\n`,
    `${of(issuer)}  match: {kubernetes\\.io.namespace: ci}\n  agent: acme/ci/{kubernetes\\.io.serviceaccount.name}\n`,
    `${of(other)}  match: {sub: "**"}\n  agent: acme/other/{sub}\n  register: true\n`,
  ].join('');
}

async function workload(sa: string, claims: Readonly<Record<string, unknown>> = {}, by = issuer): Promise<Registered> {
  const token = await by.sign({ sub: `system:serviceaccount:prod:${sa}`, ...claims });
  return { id: { orgId: 'acme', teamId: 'prod', agentId: sa }, token };
}

const inSeconds = (secs: number) => Math.floor(Date.now() / 1000) + secs;

test('a JWT is the credential of its agent wherever a token is taken, and nothing of it is stored or logged', async () => {
  const bot = await workload('bot');
  expect(await gateway.identify(bot.token)).toMatchObject({ agentId: bot.id, suspended: false, tokenTtlSecs: 0 });
  const { opId, decision } = await gateway.check(bot);
  expect(decision).toBe(1);
  expect(await gateway.heartbeat(bot)).toMatchObject({ suspended: false });
  expect(await gateway.complete(bot, opId)).toMatchObject({ state: 'completing' });
  const responses = await gateway.batch([checkRequest(bot), checkRequest(await workload('batch'))]);
  expect(responses.map((answer) => answer.decision)).toEqual([1, 1]);
  const stream = await ControlStream.open(gateway, bot);
  const renewal = { agentId: bot.id, credentialToken: bot.token };
  await expect(
    gateway.client.call(paths.renewToken, RenewTokenRequest, RenewTokenResponse, renewal),
  ).rejects.toMatchObject({ code: 3 });
  await gateway.deregister(bot);
  expect(await stream.ended).toMatchObject(unauthenticated);
  // It registers itself again.
  expect(await gateway.check(bot)).toMatchObject({ decision: 1 });
  const registered = gateway.audit().filter(({ event_type }) => event_type === 'AgentRegistered');
  expect(registered.map(({ lineage }) => lineage?.agent_id)).toEqual(['bot', 'batch', 'bot']);
  const told = JSON.stringify(gateway.audit()) + gateway.output().stderr;
  for (const part of bot.token.split('.')) expect(told).not.toContain(part);
});

test('the first entry that matches counts; one without register refuses whom nobody has registered', async () => {
  const claims = { sub: 'job:7', 'kubernetes.io': { namespace: 'ci', serviceaccount: { name: 'builder' } } };
  const id = { orgId: 'acme', teamId: 'ci', agentId: 'builder' };
  const job = { id, token: await issuer.sign(claims) };
  expect(await gateway.check(job)).toMatchObject({ decision: 2, reason: 'agent is not registered' });
  await expect(gateway.identify(job.token)).rejects.toMatchObject(unauthenticated);
  const registered = await gateway.register(id);
  for (const agent of [job, registered]) expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
  const both = await workload('both', { 'kubernetes.io': { namespace: 'ci', serviceaccount: { name: 'builder' } } });
  expect(await gateway.identify(both.token)).toMatchObject({ agentId: both.id });
});

test('a delegate that has the id of a workload gives way to it, and its token is refused', async () => {
  const boss = await workload('boss');
  await gateway.heartbeat(boss);
  const squatter = await delegate(gateway, boss, 'taken');
  expect(await gateway.check(squatter)).toMatchObject({ decision: 1 });
  const taken = await workload('taken');
  expect(await gateway.check(taken)).toMatchObject({ decision: 1 });
  expect(await gateway.check(squatter)).toMatchObject({ decision: 2, reason: 'credential token mismatch' });
  const ended = gateway.audit().find(({ event_type }) => event_type === 'DelegationEnded');
  expect(ended).toMatchObject({ lineage: { agent_id: 'taken' }, payload: { cause: 'workload', by: 'acme/prod/boss' } });
  await expect(delegate(gateway, boss, 'taken')).rejects.toMatchObject({ code: 6 });
});

test.each<[string, Readonly<Record<string, unknown>>, string]>([
  ['expired', { exp: inSeconds(-1) }, 'token has expired'],
  ['not valid yet', { nbf: inSeconds(120) }, 'token is not valid yet'],
  ['for others', { aud: 'somebody' }, 'token is for another audience'],
  ['of others', { iss: 'https://else.example' }, 'token is of no configured issuer'],
  ['of nobody who matches', { sub: 'system:node:x' }, 'token matches no entry'],
  ['smuggling', { sub: 'system:serviceaccount:prod/../x:bot' }, 'token matches no entry'],
])('a token that is %s is DENY with its reason, and UNAUTHENTICATED', async (_what, claims, reason) => {
  const bad = await workload('bad', claims);
  expect(await gateway.check(bad)).toMatchObject({ decision: 2, policyRule: 'identity', reason });
  await expect(gateway.heartbeat(bad)).rejects.toMatchObject({ ...unauthenticated, details: reason });
  await expect(gateway.identify(bad.token)).rejects.toMatchObject({ ...unauthenticated, details: reason });
  expect(gateway.audit().at(-1)).toMatchObject({ event_type: 'ActionDenied', reason });
});

test('a token signed by another issuer, changed, unsigned or too long proves nothing', async () => {
  const bot = await workload('bot');
  const [head = '', , signature = ''] = bot.token.split('.');
  const claims = Buffer.from(JSON.stringify({ iss: issuer.url, aud: 'reeve', exp: inSeconds(60), sub: 'x' }));
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  for (const token of [
    await other.sign({ iss: issuer.url, sub: 'system:serviceaccount:prod:bot' }, { kid: 'key-1' }),
    `${head}.${claims.toString('base64url')}.${signature}`,
    `${none}.${bot.token.split('.')[1]}.`,
  ]) {
    expect(await gateway.check({ ...bot, token })).toMatchObject({ decision: 2, policyRule: 'identity' });
  }
  const long = { ...bot, token: `eyJ${'x'.repeat(16_384)}` };
  await expect(gateway.check(long)).rejects.toMatchObject({ code: 3 });
  const victim = await workload('victim');
  expect(await gateway.check(victim)).toMatchObject({ decision: 1 });
  expect(await gateway.check({ ...victim, token: bot.token })).toMatchObject({
    reason: 'credential token registered to a different agent',
  });
});

test('a stream ends with UNAUTHENTICATED when the token expires', async () => {
  const brief = await workload('brief', { exp: inSeconds(3) });
  const stream = await ControlStream.open(gateway, brief);
  expect(await stream.ended).toMatchObject(unauthenticated);
  expect(await gateway.check(brief)).toMatchObject({ decision: 2, reason: 'token has expired' });
});

test('suspension stops a workload, deregistering does not', async () => {
  const held = await workload('held');
  await gateway.check(held);
  const path = '/api/v1/agents/acme/prod/held';
  expect((await gateway.api.post(`${path}/suspend`, bootstrapKey, {})).status).toBe(200);
  await gateway.deregister(held);
  expect(await gateway.check(held)).toMatchObject({ decision: 2, reason: 'agent is suspended' });
});

test('keys rotate without a lost check', async () => {
  const before = await workload('rotating');
  expect(await gateway.check(before)).toMatchObject({ decision: 1 });
  await issuer.addKey('EdDSA');
  const after = await workload('rotating');
  const checks = await Promise.all([before, after, before, after].map((agent) => gateway.check(agent)));
  expect(checks.map(({ decision }) => decision)).toEqual([1, 1, 1, 1]);
});

test('an issuer that hangs delays only those who need its keys', async () => {
  other.behaviour = () => undefined;
  await other.addKey('ES384');
  const waiting = gateway.check({
    id: { orgId: 'acme', teamId: 'other', agentId: 'slow' },
    token: await other.sign({ sub: 'slow' }),
  });
  const state = { answered: false };
  void waiting.then(() => (state.answered = true));
  const bot = await workload('bot');
  for (let times = 0; times < 20; times++) expect(await gateway.check(bot)).toMatchObject({ decision: 1 });
  expect(state.answered).toBe(false);
  expect(await waiting).toMatchObject({ decision: 2, policyRule: 'identity' });
});

test('the file is read again when it changes; one that is wrong leaves the former in force', async () => {
  const bot = await workload('bot');
  const readiness = async () => (await gateway.ready()).body;
  writeFileSync(file, `${entries()}- {}\n`);
  await eventually(async () => expect(await readiness()).toMatchObject({ status: 'degraded' }));
  expect(await gateway.check(bot)).toMatchObject({ decision: 1 });
  writeFileSync(file, '[]\n');
  await eventually(async () => expect(await gateway.check(bot)).toMatchObject({ decision: 2 }));
  writeFileSync(file, entries());
  await eventually(async () => expect(await gateway.check(bot)).toMatchObject({ decision: 1 }));
  expect(await readiness()).toMatchObject({ status: 'ok' });
  const wrong = join(folder, 'wrong.yaml');
  writeFileSync(wrong, '- issuer: x\n  audience: y\n  jwks_uri: https://x/\n  match: {sub: "{"}\n  agent: a/b/c\n');
  const { code, stderr } = await runServe(['--data', join(folder, 'data'), '--workloads', wrong]);
  expect([code, stderr.trim().split('\n')]).toEqual([2, [expect.stringContaining(`${wrong}:4:17: "{" begins`)]]);
});

test('an agent that cannot be registered is refused by itself, and not the batch or the stream that it is in', async () => {
  await using small = await TestGateway.start({
    policies: { 'all.yaml': allowAll },
    env: { SVC_WORKLOADS: file, SVC_MAX_AGENTS_PER_ORG: '1' },
  });
  const [first, second] = [await workload('first'), await workload('second')];
  // The gateway may have the keys of the issuer already. It cannot get the new one.
  other.behaviour = () => undefined;
  await other.addKey('ES384');
  const unverifiable = await workload('first', { sub: 'first' }, other);
  // Which of two new agents is registered first is a race. This one is there already.
  expect(await small.check(first)).toMatchObject({ decision: 1 });
  const requests = [first, second, unverifiable, first].map((agent) => checkRequest(agent));
  const responses = await small.batch(requests);
  const refused = expect.stringMatching(/^token cannot register its agent: .*SVC_MAX_AGENTS_PER_ORG is 1/);
  const expected = [
    { decision: 1 },
    { decision: 2, policyRule: 'identity', reason: refused },
    { decision: 2, policyRule: 'identity', reason: expect.stringMatching(/^token cannot be verified/) },
    { decision: 1 },
  ];
  expect(responses).toMatchObject(expected);
  const stream = small.client.stream(paths.checkStream, CheckActionRequest, CheckActionResponse);
  const answers: unknown[] = [];
  stream.on('data', (answer: unknown) => answers.push(answer));
  for (const agent of [first, second, unverifiable, first]) stream.write(checkRequest(agent));
  stream.end();
  await once(stream, 'end');
  expect(answers).toMatchObject(expected);
  // Every other call is about one agent alone, and fails as registering it does.
  await expect(small.heartbeat(second)).rejects.toMatchObject({ code: 8 });
});
