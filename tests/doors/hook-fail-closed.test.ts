import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { paths } from '@reeve/contract';
import { hookHostNames } from '@reeve/contract/names';
import { GrpcServer } from '@reeve/grpc-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decisionOf, HookMachine, toolEvent } from './hook-host.ts';

let machine: HookMachine;
beforeAll(async () => {
  machine = await HookMachine.start('name: house\ndefault: allow\n');
});
afterAll(async () => {
  await machine[Symbol.asyncDispose]();
});

const ls = toolEvent('PreToolUse', 's-1', 'toolu_1', 'Bash', { command: 'ls' });
const nobody = () => ({ ...machine.env, REEVE_GRPC_ADDR: '127.0.0.1:1', REEVE_AGENT_TOKEN: 'rva_of_nobody' });

test('garbage is blocked in every host', async () => {
  for (const host of hookHostNames) {
    for (const text of ['no json', '{"hook_event_name": 7}']) {
      const { code, stdout, stderr } = await machine.send(host, text);
      expect({ host, text, code, stdout }).toEqual({ host, text, code: 2, stdout: '' });
      expect(stderr).toMatch(/^Reeve: /);
    }
  }
});

test('without the gateway, the tool is not used, and the answer says so', async () => {
  const { code, answer } = await machine.send('claude-code', ls, [], nobody());
  expect(code).toBe(0);
  expect(decisionOf({ answer } as never)).toMatchObject({ decision: 'deny' });
  expect(decisionOf({ answer } as never).reason).toMatch(/^Reeve is not reachable: the gateway does not answer/);
});

test('of several gateways, the first that answers is asked', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const addresses = ['127.0.0.1:1', `127.0.0.1:${port}`, machine.gateway.grpc];
  const env = { ...machine.env, REEVE_GRPC_ADDR: addresses.join(',') };
  const asked = toolEvent('PreToolUse', 's-several', 'toolu_1', 'Bash', { command: 'ls' });
  const answer = await machine.send('claude-code', asked, [], env);
  silent.close();
  expect([answer.code, decisionOf(answer).decision]).toEqual([0, undefined]);
  expect(Object.values(await machine.states('s-several'))).toEqual(['running']);
  const nowhere = { ...nobody(), REEVE_GRPC_ADDR: '127.0.0.1:1,127.0.0.1:2' };
  const { reason } = decisionOf(await machine.send('claude-code', ls, [], nowhere));
  expect(reason).toMatch(/127\.0\.0\.1:1: connect ECONNREFUSED.*; 127\.0\.0\.1:2: connect ECONNREFUSED/);
});

test('a wrong option blocks too', async () => {
  expect(await machine.send('codex', ls, ['--approval-wait', 'long'])).toMatchObject({ code: 2, stdout: '' });
});

test('without an identity nothing is allowed', async () => {
  const { REEVE_AGENT: _, ...env } = machine.env;
  const answer = await machine.send('claude-code', ls, [], env);
  expect(decisionOf(answer).reason).toContain('no agent: give --agent');
});

test('a token that is nobody’s allows nothing, and is not shown', async () => {
  const env = { ...machine.env, REEVE_AGENT_TOKEN: 'rva_0123456789abcdef0123456789abcdef' };
  const answer = await machine.send('claude-code', ls, [], env);
  expect(decisionOf(answer).decision).toBe('deny');
  expect(answer.stdout + answer.stderr).not.toContain('rva_0123');
});

test('--fail-open lets through what nobody could be asked about, and says so', async () => {
  const answer = await machine.send('claude-code', ls, ['--fail-open'], nobody());
  expect(decisionOf(answer).decision).toBeUndefined();
  expect(answer.stderr).toContain('let through, because of --fail-open');
});

test('--fail-open lets nothing through that the gateway refuses to judge', async () => {
  const file = { file_path: `/workspace/${'x'.repeat(9000)}` };
  const event = toolEvent('PreToolUse', 's-long', 'toolu_1', 'Read', file);
  const answer = await machine.send('claude-code', event, ['--fail-open']);
  expect(decisionOf(answer).decision).toBe('deny');
});

test('--fail-open lets nothing through where the answer is too long to be read', async () => {
  const answer = Buffer.alloc(5 * 1024 * 1024);
  const server = new GrpcServer({
    unary: new Map([paths.checkAction, paths.identifyAgent].map((path) => [path, (_, call) => call.answer(answer)])),
    stream: new Map(),
    statusOf: () => ({ code: 13, message: '' }),
  });
  const env = { ...nobody(), REEVE_GRPC_ADDR: `127.0.0.1:${await server.listen('127.0.0.1', 0)}` };
  const { decision, reason } = decisionOf(await machine.send('claude-code', ls, ['--fail-open'], env));
  await server.drain(0);
  expect([decision, reason]).toEqual(['deny', expect.stringContaining('the gateway refused the question')]);
});

test('--fail-open lets nothing through at which the hook itself fails', async () => {
  const strict = await HookMachine.start('name: house\ndefault: deny\n');
  const nested = async (depth: number) => {
    const input = `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    const about = '"hook_event_name":"PreToolUse","tool_use_id":"toolu_1","tool_name":"mcp__db__drop","cwd":"/"';
    const event = `{${about},"session_id":"s-${depth}","tool_input":${input}}`;
    const { code, answer, stderr } = await strict.send('claude-code', event, ['--fail-open']);
    const isDenied = code === 2 || decisionOf({ answer } as never).decision === 'deny';
    expect({ depth, isDenied, stderr }).toMatchObject({ depth, isDenied: true });
    return code;
  };
  // Somewhere in between, the stack is deep enough to read the event, and no longer to ask about it.
  let [read, unread] = [1000, 20_000];
  expect([await nested(read), await nested(unread)]).toEqual([0, 2]);
  while (unread - read > 1) {
    const between = Math.floor((read + unread) / 2);
    if ((await nested(between)) === 0) read = between;
    else unread = between;
  }

  const folder = join(strict.home.path, '.reeve', 'hooks');
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'no folder');
  const unkept = await strict.send('claude-code', ls, ['--fail-open']);
  await strict[Symbol.asyncDispose]();
  expect(decisionOf(unkept).decision).toBe('deny');
});

test('a report that cannot be delivered disturbs nobody, and is made up for at the end of the session', async () => {
  const use = (name: string) => toolEvent(name, 's-late', 'toolu_9', 'Bash', { command: 'ls' });
  await machine.send('claude-code', use('PreToolUse'));
  const late = await machine.send('claude-code', use('PostToolUse'), [], {
    ...machine.env,
    REEVE_GRPC_ADDR: '127.0.0.1:1',
  });
  expect(late).toMatchObject({ code: 0, stdout: '{}\n' });
  expect(late.stderr).toContain('could not be reported');
  expect(await machine.states('s-late')).toEqual({ toolu_9: 'running' });
  await machine.send('claude-code', { hook_event_name: 'SessionEnd', session_id: 's-late', reason: 'other' });
  expect(await machine.states('s-late')).toEqual({ toolu_9: 'completing' });
});

test('a token that the gateway forgot is registered again', async () => {
  const agent = { orgId: 'acme', teamId: 'core', agentId: 'ada' };
  await machine.send('claude-code', toolEvent('PreToolUse', 's-new', 'a', 'Bash', { command: 'ls' }));
  await machine.gateway.register(agent);
  const answer = await machine.send('claude-code', toolEvent('PreToolUse', 's-new', 'b', 'Bash', { command: 'ls' }));
  expect(decisionOf(answer).decision).toBeUndefined();
  expect(await machine.states('s-new')).toMatchObject({ b: 'running' });
});
