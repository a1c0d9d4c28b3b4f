import { afterAll, beforeAll, expect, test } from 'vitest';
import { bootstrapKey } from '../harness/gateway.ts';
import type { HookAnswer } from './hook-host.ts';
import { decisionOf, HookMachine, toolEvent } from './hook-host.ts';

const policy = `
name: house
default: allow
rules:
  - { name: pushes, effect: require_approval, commands: ["git push**"] }
`;

let machine: HookMachine;
beforeAll(async () => {
  machine = await HookMachine.start(policy, { SVC_CONTROL_ACK_SECS: '1' });
});
afterAll(async () => {
  await machine[Symbol.asyncDispose]();
});

const push = (session: string, id: string, command = 'git push') =>
  toolEvent('PreToolUse', session, id, 'Bash', { command });
const end = (session: string) => ({ session_id: session, hook_event_name: 'SessionEnd', reason: 'other' });

function control(action: string, run: string) {
  return machine.gateway.api.post('/api/v1/control', bootstrapKey, { action, scope: { run_id: run }, reason: 'look' });
}

function answerOf({ stdout }: { readonly stdout: string }): HookAnswer {
  return { code: 0, stdout, stderr: '', answer: JSON.parse(stdout) as HookAnswer['answer'] };
}

test('what is held waits, and goes on when a person approves', async () => {
  await using hook = machine.begin('claude-code', push('s-wait', 'a', 'git add . && git push'));
  await machine.decide(await machine.askedPerson(), 'approve');
  await hook.ended();
  expect(decisionOf(answerOf(hook)).decision).toBe('allow');
  expect(await machine.states('s-wait')).toEqual({ a: 'running', 'a-2': 'running' });
});

test('a session that is stopped after it has waited is stopped alone, until it is resumed', async () => {
  await using hook = machine.begin('claude-code', push('s-waited', 'a'));
  await machine.decide(await machine.askedPerson(), 'approve');
  await hook.ended();
  const listed = async (session: string, id: string) =>
    decisionOf(await machine.send('claude-code', push(session, id, 'ls'))).reason;
  expect((await control('terminate', 's-waited')).status).toBe(202);
  const unconfirmed = () => machine.gateway.audit().some(({ event_type }) => event_type === 'OpControlUnconfirmed');
  await expect.poll(unconfirmed).toBe(true);
  expect(await listed('s-waited', 'b')).toContain('run is terminated');
  expect(await listed('s-beside', 'a')).toBe('');
  expect((await control('resume', 's-waited')).status).toBe(202);
  expect(await listed('s-waited', 'c')).toBe('');
});

test('what an operator pauses while another part of the same use waits does not begin with it', async () => {
  await using hook = machine.begin('claude-code', push('s-part', 'a', 'git add . && git push'));
  const approval = await machine.askedPerson();
  expect((await control('pause', 's-part')).status).toBe(202);
  expect(await machine.states('s-part')).toEqual({ a: 'paused', 'a-2': 'pending' });
  await machine.decide(approval, 'approve');
  await hook.ended();
  expect(decisionOf(answerOf(hook))).toMatchObject({
    decision: 'deny',
    reason: expect.stringMatching(/^Held by an operator: .* is paused \(operation .*Once it is resumed, /),
  });
  expect((await control('resume', 's-part')).status).toBe(202);
  await machine.send('claude-code', end('s-part'));
});

test('what a person rejects is denied', async () => {
  await using hook = machine.begin('claude-code', push('s-no', 'a', 'git add . && git push'));
  await machine.decide(await machine.askedPerson(), 'reject');
  await hook.ended();
  expect(decisionOf(answerOf(hook)).decision).toBe('deny');
  expect(await machine.states('s-no')).toEqual({ a: 'completing', 'a-2': 'terminated' });
});

test('what nobody decides in time is denied with its approval, and counts once when it is asked again', async () => {
  const line = 'git add . && git push';
  const first = await machine.send('claude-code', push('s-later', 'a', line), ['--approval-wait', '1']);
  const approval = await machine.askedPerson();
  expect(decisionOf(first).reason).toMatch(/^Waiting for approval: git push: approval /);
  expect(decisionOf(first).reason).toContain(`reeve approvals approve ${approval}`);
  expect(await machine.states('s-later')).toEqual({ a: 'completing', 'a-2': 'pending' });

  const again = await machine.send('claude-code', push('s-later', 'b', line), ['--approval-wait', '0']);
  expect(decisionOf(again).reason).toContain(approval);
  await machine.decide(approval, 'approve');

  const third = await machine.send('claude-code', push('s-later', 'c', line), ['--approval-wait', '0']);
  expect(decisionOf(third).decision).toBe('allow');
  expect(await machine.states('s-later')).toMatchObject({ 'a-2': 'running', c: 'running' });
  await machine.send('claude-code', toolEvent('PostToolUse', 's-later', 'c', 'Bash', { command: line }));
  expect(await machine.states('s-later')).toMatchObject({ 'a-2': 'completing', c: 'completing' });

  const fourth = await machine.send('claude-code', push('s-later', 'd', line), ['--approval-wait', '0']);
  expect(decisionOf(fourth).reason).toMatch(/^Waiting for approval/);
  expect(decisionOf(fourth).reason).not.toContain(approval);

  await machine.send('claude-code', end('s-later'));
  expect((await machine.states('s-later'))['d-2']).toBe('terminated');
});

test('another session does not use the approval', async () => {
  await machine.send('claude-code', push('s-mine', 'a'), ['--approval-wait', '0']);
  await machine.decide(await machine.askedPerson(), 'approve');
  const other = await machine.send('claude-code', push('s-other', 'a'), ['--approval-wait', '0']);
  expect(decisionOf(other).decision).toBe('deny');
  await machine.send('claude-code', end('s-mine'));
  await machine.send('claude-code', end('s-other'));
});

test('two equal tool uses at the same time need an approval each', async () => {
  await using first = machine.begin('claude-code', push('s-two', 'a'));
  const approval = await machine.askedPerson();
  const second = await machine.send('claude-code', push('s-two', 'b'), ['--approval-wait', '0']);
  expect(decisionOf(second).decision).toBe('deny');
  expect(decisionOf(second).reason).not.toContain(approval);
  await machine.decide(approval, 'approve');
  await first.ended();
  expect(decisionOf(answerOf(first)).decision).toBe('allow');
  await machine.send('claude-code', end('s-two'));
});

test('a stopped run denies what comes after', async () => {
  const ls = (id: string) => toolEvent('PreToolUse', 's-stop', id, 'Bash', { command: 'ls' });
  await machine.send('claude-code', ls('a'));
  const stop = { action: 'terminate', scope: { run_id: 's-stop' }, reason: 'enough' };
  const { status, text } = await machine.gateway.api.post('/api/v1/control', bootstrapKey, stop);
  expect(status, text).toBe(202);
  expect(decisionOf(await machine.send('claude-code', ls('b'))).reason).toContain('run is terminated');
});
