import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Decision } from '@reeve/contract';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, checkRequest, TestGateway, toolCall } from '../harness/gateway.ts';
import type { Algorithm } from '../harness/token-issuer.ts';
import { TokenIssuer } from '../harness/token-issuer.ts';

type Approval = RouteOutput<Routes['getApproval']>;
type Logs = RouteOutput<Routes['listLogs']>;
type Simulation = RouteOutput<Routes['simulatePolicy']>;

const policy = `
name: p
rules:
  - {name: staff, effect: allow, tools: [search, mail], users: ["*@acme.com", "svc-*"]}
  - {name: admins, effect: allow, tools: [reset], when: '"admins" in user.groups && user.claims.level > 2'}
  - {name: pay, effect: require_approval, tools: [pay]}
  - {name: alone, effect: allow, tools: [ping], when: '!has(user.sub) && user.email == "" && user.groups == []'}
`;

let issuer: TokenIssuer;
let gateway: TestGateway;
let agent: Registered;
let folder: string;
let home: TestHome;
const shown: string[] = [];

beforeAll(async () => {
  issuer = await TokenIssuer.start();
  folder = mkdtempSync(join(tmpdir(), 'reeve-subjects-'));
  writeFileSync(
    join(folder, 'subjects.yaml'),
    `- {issuer: "${issuer.url}", audience: [reeve, other], jwks_uri: "${issuer.jwksUri}"}\n`,
  );
  gateway = await TestGateway.start({
    policies: { 'p.yaml': policy },
    args: ['--subjects', join(folder, 'subjects.yaml')],
  });
  agent = await gateway.register({ agentId: 'bot' });
  home = new TestHome();
});
afterAll(async () => {
  home[Symbol.dispose]();
  await gateway[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const now = () => Math.floor(Date.now() / 1000);
const ann = (claims: object = {}) => issuer.sign({ sub: 'u-1', email: 'ann@acme.com', ...claims });
const run = (...args: string[]) =>
  home.run(args, { env: { REEVE_API_URL: gateway.http, REEVE_API_KEY: bootstrapKey } });

/** Checks with a token, which must be found nowhere afterwards. */
function check(subjectToken: string | undefined, tool = 'search', extra: object = {}) {
  if (subjectToken !== undefined && subjectToken.length > 40) shown.push(subjectToken);
  return gateway.check(agent, { context: toolCall(tool), subjectToken, ...extra });
}

describe('a token is taken', () => {
  test.each<Algorithm>(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'])('that is signed with %s', async (alg) => {
    await using own = await TestGateway.start({ policies: { 'p.yaml': policy }, env: { SVC_SUBJECTS: fileOf(alg) } });
    const keys = await TokenIssuer.start(alg);
    writeFileSync(
      fileOf(alg),
      `- {issuer: "${keys.url}", audience: reeve, jwks_file: keys-${alg}.json, claims: {email: upn}}\n`,
    );
    writeFileSync(join(folder, `keys-${alg}.json`), keys.keySet());
    const bot = await own.register({ agentId: 'bot' });
    const subjectToken = await keys.sign({ sub: 'u-1', upn: 'ann@acme.com' });
    await eventually(async () => {
      expect(await own.check(bot, { subjectToken })).toMatchObject({ decision: Decision.ALLOW, policyRule: 'p/staff' });
    });
    await keys[Symbol.asyncDispose]();
  });

  function fileOf(alg: string): string {
    const path = join(folder, `subjects-${alg}.yaml`);
    writeFileSync(path, '[]\n');
    return path;
  }

  test.each([
    ['for one of several audiences', () => ann({ aud: ['x', 'other'] })],
    ['that expired within the leeway', () => ann({ exp: now() - 40 })],
    ['that holds from a moment within the leeway', () => ann({ nbf: now() + 40 })],
    ['of the type at+jwt', () => issuer.sign({ sub: 'u-1', email: 'ann@acme.com' }, { typ: 'at+jwt' })],
    ['without an email, by its sub', () => issuer.sign({ sub: 'svc-1' })],
    [
      'with an email that is not verified, by its sub',
      () => ann({ sub: 'svc-2', email: 'x@y.z', email_verified: false }),
    ],
  ])('%s', async (_, token) => {
    expect(await check(await token())).toMatchObject({ decision: Decision.ALLOW, policyRule: 'p/staff' });
  });
});

describe('a token is refused', () => {
  const b64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = () => ({ iss: issuer.url, aud: 'reeve', exp: now() + 600, sub: 'u-1', email: 'ann@acme.com' });
  const none = () => `${b64({ alg: 'none', typ: 'JWT' })}.${b64(claims())}.`;
  const hs256 = () => {
    const text = `${b64({ alg: 'HS256', kid: issuer.keys.at(-1)?.kid })}.${b64(claims())}`;
    return `${text}.${createHmac('sha256', issuer.keySet()).update(text).digest('base64url')}`;
  };
  const foreign = async () => {
    const other = await TokenIssuer.start();
    const token = await other.sign({ iss: issuer.url, sub: 'u-1', email: 'ann@acme.com' });
    await other[Symbol.asyncDispose]();
    return token;
  };

  test.each([
    ['alg none', none, 'is not signed with one of'],
    ['HS256', hs256, 'is not signed with one of'],
    ['another audience', () => ann({ aud: 'elsewhere' }), 'is for another audience'],
    ['no audience', () => ann({ aud: undefined }), 'is for another audience'],
    ['expired', () => ann({ exp: now() - 61 }), 'has expired'],
    ['no exp', () => ann({ exp: undefined }), 'does not say when it expires'],
    ['not valid yet', () => ann({ nbf: now() + 90 }), 'is not valid yet'],
    ['another type', () => issuer.sign({ sub: 'u-1' }, { typ: 'logout+jwt' }), 'is of another type'],
    ['another issuer', () => ann({ iss: 'https://evil.example' }), 'is of no configured issuer'],
    ["somebody else's key", foreign, 'has a wrong signature'],
    ['no sub', () => issuer.sign({ email: 'ann@acme.com' }), 'has no "sub"'],
    ['not a JWT at all', () => 'Bearer x', 'is not a JWT'],
    ['half of one', async () => (await ann()).slice(0, -9), 'cannot be verified: it or its key is malformed'],
  ])('%s: DENY, one reason, one entry with the agent', async (_, token, why) => {
    const before = gateway.audit().length;
    const answer = await check(await token());
    expect(answer).toMatchObject({ decision: Decision.DENY, policyRule: 'identity', opId: '' });
    expect(answer.reason.startsWith(`subject token: ${why}`)).toBe(true);
    const entries = gateway.audit().slice(before);
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({
      event_type: 'ActionDenied',
      policy_rule: 'identity',
      reason: answer.reason,
      lineage: { org_id: 'acme', agent_id: 'bot' },
      actor: { kind: 'agent' },
    });
    expect(entries[0]?.payload).not.toHaveProperty('user');
  });

  test('of more than 16 KiB: INVALID_ARGUMENT, alone and in a batch', async () => {
    const subjectToken = await ann({ filler: 'x'.repeat(13_000) });
    expect(subjectToken.length).toBeGreaterThan(16 * 1024);
    const refusal = { code: 3, details: expect.stringContaining('subject_token') };
    await expect(check(subjectToken)).rejects.toMatchObject(refusal);
    const requests = [checkRequest(agent), checkRequest(agent, { subjectToken })];
    const batch = gateway.batch(requests);
    await expect(batch).rejects.toMatchObject({
      code: 3,
      details: expect.stringContaining('requests[1].subject_token'),
    });
    expect(await check(await ann({ filler: 'x'.repeat(11_000) }))).toMatchObject({ decision: Decision.ALLOW });
  });

  test('where no issuer is configured: DENY, never ignored; an empty one counts as absent', async () => {
    await using plain = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
    const bot = await plain.register({ agentId: 'bot' });
    expect(await plain.check(bot, { subjectToken: await ann() })).toMatchObject({
      decision: Decision.DENY,
      policyRule: 'identity',
      reason: 'subject token: no issuer of users is configured',
    });
    expect(await plain.check(bot, { subjectToken: '' })).toMatchObject({ decision: Decision.ALLOW });
    expect((await plain.identify(bot.token)).subjectIssuers).toEqual([]);
  });
});

describe('once verified', () => {
  test('conditions see the user, and without one its members are empty', async () => {
    expect(await check(await ann({ groups: ['admins'], level: 3 }), 'reset')).toMatchObject({ policyRule: 'p/admins' });
    expect(await check(await ann({ groups: ['admins'], level: 2 }), 'reset')).toMatchObject({ policyRule: 'default' });
    expect(await check(undefined, 'reset')).toMatchObject({ policyRule: 'default' });
    expect(await check(undefined, 'ping')).toMatchObject({ policyRule: 'p/alone' });
    expect(await check('', 'ping')).toMatchObject({ policyRule: 'p/alone' });
    expect(await check(await ann(), 'ping')).toMatchObject({ policyRule: 'default' });
  });

  test('a replay with another subject, with one that it had not, or without the one it had, is another request', async () => {
    const reason = 'operation id was used for another request';
    const bob = await issuer.sign({ sub: 'u-2', email: 'bob@acme.com' });
    const same = (traceId: string) => ({ traceId, spanId: '1' });
    await check(await ann(), 'mail', same('a'));
    await check(undefined, 'ping', same('b'));
    expect(await check(bob, 'mail', same('a'))).toMatchObject({ decision: Decision.DENY, reason });
    expect(await check(undefined, 'mail', same('a'))).toMatchObject({ decision: Decision.DENY, reason });
    expect(await check(await ann(), 'ping', same('b'))).toMatchObject({ decision: Decision.DENY, reason });
    expect(await check(await ann({ jti: 'new' }), 'mail', same('a'))).toMatchObject({ decision: Decision.ALLOW });
  });

  test('the log names the user, and finds entries by email or sub', async () => {
    const token = await issuer.sign({ sub: 'u-log', email: 'Logged@acme.com', groups: ['secret-group'] });
    const { opId } = await check(token, 'mail');
    const user = { issuer: issuer.url, sub: 'u-log', email: 'Logged@acme.com' };
    for (const wanted of ['logged@ACME.com', 'u-log']) {
      const { body } = await gateway.api.get<Logs>(`/api/v1/logs?user=${encodeURIComponent(wanted)}`, bootstrapKey);
      expect(body.items.map((entry) => [entry.op_id, entry.payload['user']])).toEqual([[opId, user]]);
    }
    const headers = { authorization: `Bearer ${bootstrapKey}` };
    const exported = await (await fetch(`${gateway.http}/api/v1/logs/export?user=u-log`, { headers })).text();
    expect(exported.trim().split('\n')).toEqual([expect.stringContaining(opId)]);
    expect(JSON.stringify(gateway.audit())).not.toContain('secret-group');
    const bound = await makeKey(gateway, { scopes: ['read'], org_id: 'globex' });
    const { body } = await gateway.api.get<Logs>('/api/v1/logs?user=u-log', bound.key);
    expect(body.items).toEqual([]);
    const listed = await run('logs', '--user', 'logged@acme.com', '--output', 'json');
    expect(listed.stdout).toContain(opId);
    const csv = await run('audit', 'export', '--user', 'u-log', '--format', 'csv');
    expect(csv.stdout.trim().split('\n')).toHaveLength(2);
  });

  test('an approval shows the user', async () => {
    const { approvalId } = await check(await ann(), 'pay');
    const { body } = await gateway.api.get<Approval>(`/api/v1/approvals/${approvalId}`, bootstrapKey);
    expect(body.user).toEqual({ issuer: issuer.url, sub: 'u-1', email: 'ann@acme.com' });
    expect((await run('approvals', 'show', approvalId)).stdout).toContain(`ann@acme.com (${issuer.url})`);
    const other = await check(undefined, 'pay');
    const alone = await gateway.api.get<Approval>(`/api/v1/approvals/${other.approvalId}`, bootstrapKey);
    expect(alone.body.user).toBeNull();
  });

  test('simulate takes a user, and explain knows the one that was', async () => {
    const asked = (user: object | undefined) =>
      gateway.api.post<Simulation>('/api/v1/policies/simulate', bootstrapKey, {
        agent: { org_id: 'acme', team_id: 'core', agent_id: 'bot' },
        action_type: 'tool_call',
        context: { tool_name: 'reset' },
        ...(user === undefined ? {} : { user }),
      });
    const groups = ['admins'];
    expect((await asked({ sub: 'u', groups, claims: { level: 3 } })).body.policy_rule).toBe('p/admins');
    expect((await asked({ sub: 'u', groups: [] })).body.policy_rule).toBe('default');
    expect((await asked(undefined)).body.policy_rule).toBe('default');
    const simulated = await run(
      'policy',
      'simulate',
      '--agent',
      'acme/core/bot',
      '--tool',
      'mail',
      '--user',
      'a@acme.com',
    );
    expect(simulated.stdout).toContain('p/staff');
    const { opId } = await check(await ann(), 'mail');
    const { body } = await gateway.api.get<{ rules: { rule: string; matched: boolean; why: string }[] }>(
      `/api/v1/decisions/${opId}/explain`,
      bootstrapKey,
    );
    expect(body.rules.find(({ rule }) => rule === 'staff')).toMatchObject({ matched: true });
    expect(JSON.stringify(body)).toContain('ann@acme.com');
  });

  test('an agent learns whose tokens of users are taken', async () => {
    expect((await gateway.identify(agent.token)).subjectIssuers).toEqual([issuer.url]);
  });
});

test('only the check that needs a key waits for its issuer', async () => {
  await check(await ann());
  const stalled = Promise.withResolvers<void>();
  issuer.behaviour = (response) => void stalled.promise.then(() => response.end(issuer.keySet()));
  await issuer.addKey();
  let answered = false;
  const waiting = check(await ann());
  void waiting.then(() => (answered = true));
  expect(await check(undefined, 'ping')).toMatchObject({ decision: Decision.ALLOW });
  expect(answered).toBe(false);
  stalled.resolve();
  issuer.behaviour = 'well';
  expect(await waiting).toMatchObject({ decision: Decision.ALLOW });
});

test('nothing of any token is in the log, in the output or in an answer', () => {
  const everything = JSON.stringify(gateway.audit()) + JSON.stringify(gateway.output());
  expect(shown.length).toBeGreaterThan(20);
  for (const token of shown) {
    for (const part of token.split('.').filter((each) => each.length > 8)) expect(everything).not.toContain(part);
  }
});
