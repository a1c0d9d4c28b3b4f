import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { identityOptions } from '../../packages/cli/src/agent-identity/identity-options.ts';
import type { IdentityFlags } from '../../packages/cli/src/agent-identity/resolve-agent.ts';
import { resolveAgent } from '../../packages/cli/src/agent-identity/resolve-agent.ts';
import type { Command } from '../../packages/cli/src/command-line/command.ts';
import { defineCommand } from '../../packages/cli/src/command-line/command.ts';
import { parseCommandLine } from '../../packages/cli/src/command-line/parse-command-line.ts';
import type { Shell } from '../../packages/cli/src/shell.ts';
import { TestHome } from '../harness/cli.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const globals = {
  apiKey: undefined,
  context: undefined,
  apiUrl: undefined,
  output: 'table',
  isWide: false,
  timeout: 5,
} as const;

function resolve(home: TestHome, env: Readonly<Record<string, string>>, flags: IdentityFlags = {}, verify?: boolean) {
  const { stdin, stdout, stderr } = process;
  const all = { HOME: home.path, REEVE_GRPC_ADDR: gateway.grpc, REEVE_API_URL: gateway.http, ...env };
  const shell: Shell = { env: all, stdin, stdout, stderr };
  return resolveAgent({ shell, globals, flags, ...(verify === undefined ? {} : { verify }) });
}

const registrations = () => gateway.audit().filter(({ event_type }) => event_type === 'AgentRegistered').length;
const keptIn = (home: TestHome) => readFileSync(join(home.path, '.reeve', 'agents.yaml'), 'utf8');

test('an agent by name is registered once and kept, however many ask at the same time', async () => {
  using home = new TestHome();
  const env = { REEVE_AGENT: 'acme/core/laptop', REEVE_API_KEY: bootstrapKey };
  const before = registrations();
  const all = await Promise.all(Array.from({ length: 8 }, () => resolve(home, env)));
  expect(registrations()).toBe(before + 1);
  const [first] = all;
  expect(new Set(all.map(({ token }) => token))).toEqual(new Set([first?.token]));
  expect(first).toMatchObject({
    gateway: { addresses: [gateway.grpc], tls: undefined },
    agentId: { orgId: 'acme', teamId: 'core', agentId: 'laptop' },
  });
  expect(home.mode('agents.yaml')).toBe('600');
  expect(parse(keptIn(home))).toEqual({
    agents: { [gateway.grpc]: { 'acme/core/laptop': { token: first?.token } } },
  });
  // The kept token needs no credential any more.
  expect((await resolve(home, { REEVE_AGENT: 'acme/core/laptop' })).token).toBe(first?.token);
  expect(registrations()).toBe(before + 1);
});

test('a kept token that the gateway no longer knows is registered anew, once', async () => {
  using home = new TestHome();
  const env = { REEVE_AGENT: '-/-/moved', REEVE_API_KEY: bootstrapKey };
  const first = await resolve(home, env);
  await gateway.register({ orgId: '', teamId: '', agentId: 'moved' });
  const before = registrations();
  const unverified = await Promise.all(Array.from({ length: 4 }, () => resolve(home, env, {}, false)));
  expect(unverified.map(({ token }) => token)).toEqual(Array.from({ length: 4 }, () => first.token));
  const renewed = await Promise.all(unverified.map((agent) => agent.next(agent.token, 'check')));
  expect(new Set(renewed).size).toBe(1);
  expect(registrations()).toBe(before + 1);
  const { token } = await resolve(home, env);
  expect(token).toBe(renewed[0]);
  expect(token).not.toBe(first.token);
  expect(await gateway.identify(token)).toMatchObject({ agentId: { agentId: 'moved' } });
});

test('verified, the same happens by itself', async () => {
  using home = new TestHome();
  const env = { REEVE_AGENT: 'acme/core/lost', REEVE_API_KEY: bootstrapKey };
  const first = await resolve(home, env);
  await gateway.register({ agentId: 'lost' });
  const second = await resolve(home, env);
  expect(second.token).not.toBe(first.token);
  expect(parse(keptIn(home))).toMatchObject({
    agents: { [gateway.grpc]: { 'acme/core/lost': { token: second.token } } },
  });
});

test('flags come before variables, and a token before a name', async () => {
  using home = new TestHome();
  const file = join(home.path, 'token');
  writeFileSync(file, 'token-of-the-file-with-enough-characters\n');
  const env = {
    REEVE_AGENT_TOKEN: 'token-of-the-environment-that-is-long',
    REEVE_AGENT: 'acme/core/env',
    REEVE_API_KEY: bootstrapKey,
  };
  const before = registrations();
  const ofFile = await resolve(home, env, { agentTokenFile: file });
  expect(ofFile).toMatchObject({
    token: 'token-of-the-file-with-enough-characters',
    gateway: { addresses: [gateway.grpc], tls: undefined },
    agentId: undefined,
  });
  // Whoever writes another token into it is followed.
  expect(await ofFile.next(ofFile.token, 'check')).toBeUndefined();
  writeFileSync(file, 'another-token-of-the-file-with-characters\n');
  expect(await ofFile.next(ofFile.token, 'check')).toBe('another-token-of-the-file-with-characters');
  expect((await resolve(home, env)).token).toBe('token-of-the-environment-that-is-long');
  expect(registrations()).toBe(before);
  const flagged = await resolve(home, env, { agent: 'acme/core/flag', grpcAddr: gateway.grpc });
  expect(flagged.agentId).toEqual({ orgId: 'acme', teamId: 'core', agentId: 'flag' });
});

test('what a command reads of its options is what the flags are', async () => {
  using home = new TestHome();
  const command = defineCommand({
    args: {},
    options: identityOptions,
    examples: [],
    run: async (input) => {
      const { agentId } = await resolve(home, { REEVE_API_KEY: bootstrapKey }, input.options);
      return agentId?.orgId === '' && agentId.agentId === 'typed' ? 0 : 1;
    },
  });
  const table = { act: { summary: 'Acts.', load: () => Promise.resolve(command as Command) } };
  const parsed = await parseCommandLine(table, ['act', '--agent', '-/-/typed', '--grpc-addr', gateway.grpc]);
  if (parsed.kind !== 'run') throw new Error(`it is ${parsed.kind}`);
  const { stdin, stdout, stderr } = process;
  expect(await parsed.command.run(parsed.input, { env: {}, stdin, stdout, stderr })).toBe(0);
});

test('the session of the context registers, too, and a broken file counts as none', async () => {
  using home = new TestHome();
  await home.run(['login', '--api-key', bootstrapKey], { env: { REEVE_API_URL: gateway.http } });
  home.write('agents.yaml', 'agents: [broken');
  const { token } = await resolve(home, { REEVE_AGENT: 'acme/core/session' });
  expect(await gateway.identify(token)).toMatchObject({ agentId: { agentId: 'session' } });
  expect(parse(keptIn(home))).toMatchObject({ agents: { [gateway.grpc]: { 'acme/core/session': { token } } } });
});

test('with the gateway away, a kept token stays, and nothing can be registered', async () => {
  using home = new TestHome();
  const address = '127.0.0.1:1';
  home.write('agents.yaml', `agents:\n  "${address}":\n    acme/core/kept:\n      token: a-token-that-is-kept\n`);
  const env = { REEVE_GRPC_ADDR: address, REEVE_API_KEY: bootstrapKey };
  expect((await resolve(home, { ...env, REEVE_AGENT: 'acme/core/kept' })).token).toBe('a-token-that-is-kept');
  await expect(resolve(home, { ...env, REEVE_AGENT: 'acme/core/other' })).rejects.toThrow(
    /^cannot register acme\/core\/other at 127\.0\.0\.1:1: /,
  );
}, 30_000);

test.each<[string, Readonly<Record<string, string>>, IdentityFlags]>([
  ['no agent: give --agent', {}, {}],
  ['not both', {}, { agent: 'a/b/c', agentTokenFile: 'x' }],
  ['cannot read the file', {}, { agentTokenFile: '/nowhere/token' }],
  ["holds no agent's token", { REEVE_AGENT_TOKEN: 'two\nlines' }, {}],
  ['REEVE_AGENT must be ORG/TEAM/AGENT', { REEVE_AGENT: 'bot' }, {}],
  ['--agent must be ORG/TEAM/AGENT', {}, { agent: 'a/b/c/d' }],
  ['--grpc-addr must be HOST:PORT', {}, { agent: 'a/b/c', grpcAddr: 'nowhere' }],
  ['set REEVE_API_KEY or run "reeve login"', { REEVE_AGENT: 'a/b/c' }, {}],
])('a mistake is told: %s', async (words, env, flags) => {
  using home = new TestHome();
  await expect(resolve(home, env, flags)).rejects.toThrow(words);
});
