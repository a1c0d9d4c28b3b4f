import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@reeve/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bootstrapKey } from '../harness/gateway.ts';
import { TokenIssuer } from '../harness/token-issuer.ts';
import { decisionOf, HookMachine, toolEvent } from './hook-host.ts';
import { LlmWorld } from './llm-world.ts';
import { scripted } from './mcp-world.ts';
import { RawMcpClient } from './raw-mcp-client.ts';

const policy = 'name: test\nrules: [{name: staff, effect: allow, users: ["*@acme.com"]}]\n';

let issuer: TokenIssuer;
let world: LlmWorld;
let folder: string;
let ann: string;
let eve: string;
beforeAll(async () => {
  issuer = await TokenIssuer.start();
  folder = mkdtempSync(join(tmpdir(), 'reeve-behalf-'));
  const file = join(folder, 'subjects.yaml');
  writeFileSync(file, issuer.subjects);
  world = await LlmWorld.start({ policy, env: { SVC_SUBJECTS: file } });
  ann = await issuer.sign({ sub: 'u-1', email: 'ann@acme.com' });
  eve = await issuer.sign({ sub: 'u-2', email: 'eve@elsewhere.com' });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const lastUser = () => (world.checks().at(-1)?.payload['user'] as { email: string } | undefined)?.email;

describe('a model call', () => {
  const body = JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hi' }] });
  const call = (headers: Readonly<Record<string, string>>) => world.post('/v1/chat/completions', body, headers);

  test('is made for the user of x-reeve-subject, who stays unknown to the provider', async () => {
    expect((await call({ 'x-reeve-subject': ann })).status).toBe(200);
    expect(lastUser()).toBe('ann@acme.com');
    expect(JSON.stringify(world.upstream.last)).not.toContain(ann);
    expect(world.upstream.last.headers['x-reeve-subject']).toBeUndefined();
  });

  test.each([
    ['without a user', () => ({}), 'no rule allows'],
    ['for nobody, by an empty header', () => ({ 'x-reeve-subject': '' }), 'no rule allows'],
    ['for another user', () => ({ 'x-reeve-subject': eve }), 'no rule allows'],
    ['with a token that does not verify', () => ({ 'x-reeve-subject': `${ann}x` }), 'subject token: '],
    ['with two tokens', () => ({ 'x-reeve-subject': `${ann}, ${eve}` }), 'subject token: '],
  ])('%s is denied, and nothing of the token is told', async (_, headers, reason) => {
    const response = await call(headers());
    const text = await response.text();
    expect(response.status).toBe(403);
    expect(text).toContain(reason);
    for (const token of [ann, eve]) expect(text + world.proxy.output).not.toContain(token.slice(-40));
  });

  test('with the token of the user in the address is refused', async () => {
    const response = await world.post(`/v1/chat/completions?x=${ann}`, body, { 'x-reeve-subject': ann });
    expect(response.status).toBe(400);
  });
});

describe('a hook', () => {
  const event = (id: string) => toolEvent('PreToolUse', 's-1', id, 'Bash', { command: 'ls' });
  const send = (id: string, env: Record<string, string>, flags: readonly string[] = []) => {
    const machine = new HookMachine(world.gateway, env);
    return machine.send('claude-code', event(id), flags).finally(() => machine.home[Symbol.dispose]());
  };
  const file = () => join(folder, 'token');

  test('acts for the user whose token the file holds, read each time', async () => {
    const env = { REEVE_SUBJECT_TOKEN_FILE: file() };
    writeFileSync(file(), `${ann}\n`);
    expect(decisionOf(await send('a', env)).decision).toBeUndefined();
    writeFileSync(file(), eve);
    expect(decisionOf(await send('b', env))).toMatchObject({ decision: 'deny' });
    writeFileSync(file(), await issuer.sign({ sub: 'u-1', email: 'ann@acme.com', jti: 'renewed' }));
    expect(decisionOf(await send('c', env)).decision).toBeUndefined();
    writeFileSync(file(), 'nonsense');
    const { decision, reason } = decisionOf(await send('d', env));
    expect([decision, reason]).toEqual(['deny', expect.stringContaining('subject token: is not a JWT')]);
  });

  test.each([
    ['missing', undefined],
    ['empty', '\n'],
  ])('denies where the file is named and %s, also with --fail-open, and asks nobody', async (_, text) => {
    rmSync(file(), { force: true });
    if (text !== undefined) writeFileSync(file(), text);
    const before = world.gateway.audit().length;
    for (const flags of [[], ['--fail-open']]) {
      const { decision, reason } = decisionOf(await send('e', { REEVE_SUBJECT_TOKEN_FILE: file() }, flags));
      expect([decision, reason]).toEqual(['deny', expect.stringContaining('REEVE_SUBJECT_TOKEN_FILE')]);
    }
    expect(world.gateway.audit()).toHaveLength(before);
  });

  test('acts for nobody where no file is named', async () => {
    expect(decisionOf(await send('f', {}))).toMatchObject({ decision: 'deny' });
  });
});

describe('mcp run', () => {
  test('acts for the user whose token the file holds, read for each call, and for nobody without one', async () => {
    const file = join(folder, 'mcp-token');
    const { token } = await world.gateway.register({ agentId: 'mcp' });
    const env = {
      REEVE_AGENT_TOKEN: token,
      REEVE_GRPC_ADDR: world.gateway.grpc,
      REEVE_SUBJECT_TOKEN_FILE: file,
      HEARD_FILE: join(folder, 'heard'),
    };
    writeFileSync(file, `${ann}\n`);
    const args = ['--server', 'scripted', '--fail-open', '--', ...scripted];
    await using client = await new RawMcpClient(args, env).initialize();
    const call = async () => (await client.call('echo', { n: 1 })).content[0]?.text ?? '';
    expect(await call()).toBe('{"n":1}');
    expect(lastUser()).toBe('ann@acme.com');
    writeFileSync(file, eve);
    expect(await call()).toMatch(/^Denied by policy/);
    const before = world.gateway.audit().length;
    for (const text of ['\n', undefined]) {
      if (text === undefined) rmSync(file);
      else writeFileSync(file, text);
      expect(await call()).toContain('REEVE_SUBJECT_TOKEN_FILE');
    }
    expect(world.gateway.audit()).toHaveLength(before);
    writeFileSync(file, await issuer.sign({ sub: 'u-1', email: 'ann@acme.com', jti: 'next' }));
    expect(await call()).toBe('{"n":1}');
    expect(client.lines.join('') + client.stderr).not.toContain(ann.slice(-40));
  });
});

test('an agent of the SDK acts for a user', async () => {
  using reeve = connect({ address: world.gateway.grpc, apiKey: bootstrapKey });
  const agent = await reeve.register({ orgId: 'acme', teamId: 'core', agentId: 'sdk' });
  expect(await agent.check({ tool: 'search' }, { subjectToken: ann })).toMatchObject({ policyRule: 'test/staff' });
  expect(await agent.check({ tool: 'search' })).toMatchObject({ decision: 'deny' });
  const forAnn = agent.onBehalfOf(ann);
  expect(await forAnn.run({ tool: 'search' }, () => 'done')).toBe('done');
  expect(lastUser()).toBe('ann@acme.com');
  await expect(forAnn.onBehalfOf(eve).run({ tool: 'search' }, () => 'done')).rejects.toThrow('no rule allows');
  expect((await reeve.identify(world.agent.token)).subjectIssuers).toEqual([issuer.url]);
});
