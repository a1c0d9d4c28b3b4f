import { execFile } from 'node:child_process';
import { inspect } from 'node:util';
import { status } from '@grpc/grpc-js';
import type { RegisterAgentRequest } from '@reeve/contract';
import { expect, test } from 'vitest';
import { apiKey, startClient } from '../test/client.ts';
import { allowing, registering, unavailable } from '../test/scripted-answers.ts';
import { ScriptedGateway } from '../test/scripted-gateway.ts';
import { connect, ReevePermissionDenied, ReeveTokenInUse, ReeveUnauthenticated, ReeveUnavailable } from './index.ts';

const id = { orgId: 'acme', teamId: 'core', agentId: 'bot' };
const token = 'a-token-that-is-long-enough-to-be-taken';

test('registering tells everything, with the key', async () => {
  await using gateway = await ScriptedGateway.start();
  using reeve = connect({ address: gateway.address, apiKey });
  const agent = await reeve.register({
    ...id,
    name: 'Bot',
    framework: 'none',
    version: '1.2.3',
    parent: { orgId: 'acme', agentId: 'boss' },
    metadata: { stage: 'test' },
    tools: ['search'],
    token,
  });
  expect(agent).toMatchObject({ id, created: true, suspended: false, policyVersion: '', revoked: false });
  expect(gateway.received.filter(({ method }) => method !== 'opControlStream')).toEqual([
    {
      method: 'registerAgent',
      authorization: [`Bearer ${apiKey}`],
      message: {
        agentId: id,
        credentialToken: token,
        name: 'Bot',
        framework: 'none',
        version: '1.2.3',
        parentAgentId: { orgId: 'acme', teamId: '', agentId: 'boss' },
        metadata: { stage: 'test' },
        toolNames: ['search'],
      },
    },
  ]);
});

test('a registration that is tried again brings the same token, and the key goes nowhere else', async () => {
  await using client = await startClient({
    registerAgent: (request, nth) => (nth === 1 ? unavailable() : nth === 2 ? 'cut' : registering()(request)),
  });
  await client.agent.check({ tool: 'search' });
  const tokens = client.gateway
    .messages<RegisterAgentRequest>('registerAgent')
    .map(({ credentialToken }) => credentialToken);
  expect(tokens).toHaveLength(3);
  expect(new Set(tokens).size).toBe(1);
  expect(tokens[0]).toMatch(/^rva_[A-Za-z0-9_-]{43}$/);
  const check = client.gateway.received.find(({ method }) => method === 'checkAction');
  expect(check).toMatchObject({ authorization: [], message: { credentialToken: tokens[0] } });
});

test.each([
  [status.UNAUTHENTICATED, ReeveUnauthenticated],
  [status.PERMISSION_DENIED, ReevePermissionDenied],
  [status.ALREADY_EXISTS, ReeveTokenInUse],
  [status.UNAVAILABLE, ReeveUnavailable],
])('a registration refused with status %d throws', async (code, ErrorClass) => {
  await using gateway = await ScriptedGateway.start({ registerAgent: () => ({ code, details: 'refused' }) });
  using reeve = connect({ address: gateway.address, apiKey, retry: { burst: 0 } });
  await expect(reeve.register(id)).rejects.toBeInstanceOf(ErrorClass);
});

test('without a key nothing is registered, and an agent can be attached by its token', async () => {
  await using gateway = await ScriptedGateway.start();
  using reeve = connect({ address: gateway.address });
  await expect(reeve.register(id)).rejects.toThrow('no API key');
  const agent = reeve.attach({ ...id, token });
  expect(await agent.check({ tool: 'search' })).toMatchObject({ allowed: true });
  const calls = gateway.received.filter(({ method }) => method !== 'opControlStream');
  expect(calls).toMatchObject([{ method: 'checkAction', message: { credentialToken: token } }]);
});

test('the agent beats by itself and hears how it stands', async () => {
  await using client = await startClient({
    registerAgent: registering(1),
    heartbeat: (_, nth) => (nth === 1 ? unavailable() : { suspended: true, policyVersion: 'v2' }),
  });
  await expect.poll(() => client.agent.suspended, { timeout: 30_000 }).toBe(true);
  expect(client.agent.policyVersion).toBe('v2');
  expect(client.gateway.count('heartbeat')).toBeGreaterThanOrEqual(2);
});

test('an agent whose token was replaced hears of it once, and stops', async () => {
  await using gateway = await ScriptedGateway.start({
    registerAgent: registering(1),
    heartbeat: () => ({ code: status.UNAUTHENTICATED, details: 'credential token mismatch' }),
  });
  using reeve = connect({ address: gateway.address, apiKey });
  let revoked = 0;
  const agent = await reeve.register({ ...id, onRevoked: () => revoked++ });
  await expect.poll(() => revoked, { timeout: 30_000 }).toBe(1);
  expect(agent.revoked).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(gateway.count('heartbeat')).toBe(1);
  expect(revoked).toBe(1);
});

test('a closed client and a deregistered agent beat no more', async () => {
  await using gateway = await ScriptedGateway.start({ registerAgent: registering(1) });
  const closed = connect({ address: gateway.address, apiKey });
  await closed.register(id);
  closed.close();
  using open = connect({ address: gateway.address, apiKey });
  const agent = await open.register(id);
  await agent.deregister('done');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(gateway.count('heartbeat')).toBe(0);
});

test('no secret shows, whichever way an object or an error is looked at', async () => {
  await using gateway = await ScriptedGateway.start({
    checkAction: () => unavailable(),
    completeAction: () => ({ code: status.UNAUTHENTICATED, details: 'credential token mismatch' }),
  });
  const address = gateway.address;
  using reeve = connect({ address, apiKey, onUnavailable: 'throw', retry: { burst: 1, initialBackoffMs: 1 } });
  const agent = await reeve.register({ ...id, token });
  const errors = await Promise.all([
    agent.check({ tool: 'a' }).catch((error: unknown) => error),
    agent.complete('t:s').catch((error: unknown) => error),
    agent.check({ tool: '' }).catch((error: unknown) => error),
  ]);
  for (const thing of [reeve, agent, ...errors]) {
    const views = [String(thing), JSON.stringify(thing), inspect(thing, { depth: 20, showHidden: true })];
    for (const view of views) {
      expect(view).not.toContain(token);
      expect(view).not.toContain(apiKey);
    }
  }
  expect(errors).toMatchObject([{ code: 'unavailable' }, { code: 'unauthenticated' }, { code: 'invalid_request' }]);
});

test.each([
  ['after its work', '{}'],
  ['with a stream that owes an answer', "{ spanId: 'silent', deadlineMs: 100 }"],
])('a program that forgets to close ends %s', async (_, lastCheck) => {
  await using gateway = await ScriptedGateway.start({
    checkStream: (request) => (request.spanId === 'silent' ? 'silence' : allowing(request)),
  });
  const program = `
    import { connect } from '@reeve/sdk';
    const reeve = connect({ address: '${gateway.address}', apiKey: '${apiKey}', pipeline: 'always' });
    const agent = await reeve.register({ agentId: 'bot' });
    await agent.check({ tool: 'a' });
    await agent.check({ tool: 'b' }, ${lastCheck});
    console.log('done');`;
  const output = await new Promise((resolve, reject) => {
    const child = execFile(process.execPath, ['--input-type=module'], (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
    child.stdin?.end(program);
  });
  expect(output).toBe('done\n');
});
