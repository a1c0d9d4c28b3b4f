import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect } from '@reeve/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { eventually } from '../harness/eventually.ts';
import { HookMachine } from './hook-host.ts';
import { serveServers } from './mcp-processes.ts';
import { McpWorld, scripted } from './mcp-world.ts';
import { McpVisitor } from './mcp-visitor.ts';
import { RawMcpClient } from './raw-mcp-client.ts';

/* The clock of the gateway is set by each test, so that tokens end when the test says so and not when a machine is slow. */

const lifeSecs = 3600;
let folder: string;
let world: McpWorld;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-rotation-'));
  setClock(0);
  world = await McpWorld.start(undefined, clockEnv());
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

function clockEnv(): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${resolve('tests/harness/moving-clock.mjs')}`,
    TEST_CLOCK_FILE: join(folder, 'clock'),
  };
}

/** Never 0, which counts as no change. */
function setClock(shiftMs: number): void {
  writeFileSync(join(folder, 'clock'), String(shiftMs + 1));
}

async function untilRefused(token: string): Promise<void> {
  using reeve = connect({ address: world.gateway.grpc });
  await eventually(() => expect(reeve.identify(token)).rejects.toThrow('expired'));
}

async function renewed(token: string): Promise<string> {
  using reeve = connect({ address: world.gateway.grpc });
  return (await reeve.renewToken(token)).token;
}

const expiring = async (agentId: string) =>
  (await world.gateway.register({ agentId }, { tokenTtlSecs: lifeSecs })).token;

test('mcp run follows a file that somebody rotates, says what to do if nobody does, and goes on once somebody has', async () => {
  const file = join(folder, 'token');
  const first = await expiring('filed');
  writeFileSync(file, `${first}\n`);
  const { REEVE_AGENT_TOKEN: _, ...env } = world.env;
  const args = ['--server', 'scripted', '--agent-token-file', file, '--', ...scripted];
  await using client = await new RawMcpClient(args, env).initialize();
  expect((await client.call('echo', { n: 1 })).isError).not.toBe(true);

  const second = await renewed(first);
  writeFileSync(file, `${second}\n`);
  setClock(61_000);
  await untilRefused(first);
  expect(await client.call('echo', { n: 2 })).toMatchObject({ content: [{ text: '{"n":2}' }] });

  setClock(61_000 + lifeSecs * 1000);
  await untilRefused(second);
  const refused = await eventually(async () => {
    const answer = await client.call('echo', { n: 3 });
    expect(answer.content[0]?.text).toContain(`write a token that works into ${file}`);
    return answer;
  });
  expect(refused).toMatchObject({ isError: true });
  expect(refused.content[0]?.text).toContain('token has expired');

  writeFileSync(file, `${await expiring('filed')}\n`);
  expect(await client.call('echo', { n: 4 })).toMatchObject({ content: [{ text: '{"n":4}' }] });
}, 120_000);

test('a session of mcp serve, and a call in it, go on when the client has renewed its token', async () => {
  const [command, ...args] = scripted;
  await using proxy = serveServers(world, { scripted: { command, args, env: { HEARD_FILE: world.heardFile } } });
  const first = await expiring('visitor');
  const visitor = new McpVisitor(await proxy.address(), 'scripted');
  await visitor.open(first);
  const params = { name: 'slow', arguments: {} };
  const slow = visitor.send({ jsonrpc: '2.0', id: 'slow', method: 'tools/call', params }, first);
  const { op_id: opId } = await world.op();
  const second = await renewed(first);
  const echo = async (token: string) => (await visitor.call(token, {}, { n: 1 })).text();
  expect(await echo(second)).toContain(String.raw`{\"n\":1}`);
  setClock(61_000);
  await untilRefused(first);
  expect(await echo(second)).toContain(String.raw`{\"n\":1}`);
  // The call that was begun with the old token goes on, and a control reaches it.
  expect((await world.op()).op_id).toBe(opId);
  await world.control('terminate', opId);
  expect(await (await slow).text()).toContain('"isError":true');
  // The old token opens nothing.
  expect(await echo(first)).not.toContain(String.raw`{\"n\":1}`);
  expect((await visitor.call(first)).status).toBe(401);
}, 120_000);

test('hooks of one machine keep a token with a life, renew it once between them, and register again after its end', async () => {
  // As if two thirds of every new token were over already.
  setClock(-(lifeSecs * 1000 * 2) / 3 - 60_000);
  await using machine = await HookMachine.start('name: all\ndefault: allow\n', clockEnv());
  machine.env['REEVE_AGENT_TOKEN_TTL'] = String(lifeSecs);
  const use = (id: string, session = 's') => ({
    hook_event_name: 'PreToolUse',
    session_id: session,
    tool_use_id: id,
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    cwd: '/',
  });
  const count = (type: string) => machine.gateway.audit().filter(({ event_type }) => event_type === type).length;
  const kept = () => {
    const { agents } = parse(readFileSync(join(machine.home.path, '.reeve', 'agents.yaml'), 'utf8')) as {
      agents: Record<string, Record<string, { token: string; ttl_secs: number; expires_at: string }>>;
    };
    return agents[machine.gateway.grpc]?.['acme/core/ada'];
  };
  expect((await machine.send('claude-code', use('a'))).stderr).toBe('');
  expect(kept()).toMatchObject({ ttl_secs: lifeSecs, expires_at: expect.any(String) });
  const before = kept()?.token;
  // From now on, new tokens have their whole life.
  setClock(0);
  await eventually(async () => {
    const { expiresAt } = await machine.gateway.register({ agentId: 'probe' }, { tokenTtlSecs: lifeSecs });
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(lifeSecs * 900);
  });
  const { REEVE_API_KEY: _, ...keyless } = machine.env;
  const both = await Promise.all(['b', 'c'].map((id) => machine.send('claude-code', use(id), [], keyless)));
  expect(both.map(({ stderr }) => stderr)).toEqual(['', '']);
  expect(await machine.states('s')).toMatchObject({ b: 'running', c: 'running' });
  expect(count('AgentTokenRenewed')).toBe(1);
  expect(kept()?.token).not.toBe(before);
  // Nobody used it until its end.
  setClock(lifeSecs * 2000);
  using reeve = connect({ address: machine.gateway.grpc });
  await eventually(() => expect(reeve.identify(kept()?.token ?? '')).rejects.toThrow('expired'));
  const keylessAnswer = await machine.send('claude-code', use('d'), [], keyless);
  expect(keylessAnswer.stdout).toContain('deny');
  expect(keylessAnswer.stdout).toContain('set REEVE_API_KEY');
  await machine.send('claude-code', use('e', 's-anew'));
  expect(await machine.states('s-anew')).toMatchObject({ e: 'running' });
}, 120_000);
