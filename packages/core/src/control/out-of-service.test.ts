import { beforeEach, expect, test } from 'vitest';
import { approve, expire, person, reject } from '../testkit/approvals.ts';
import { controlScope, delegateAgent, resumeAgent, suspendAgent } from '../testkit/commands.ts';
import { control, finish, opOf, permissive, run } from '../testkit/controls.ts';
import { agentId, operator, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';

const asking = `
name: p
default: allow
rules:
  - { name: ask, effect: require_approval, tools: [pay] }
  - { name: two, effect: require_approval, tools: [wire], approvals: { count: 2 } }
`;
const unavailable = { code: 'store_unavailable' };

let g: TestGovernance;
let lost: TestAgent;
let fine: TestAgent;

beforeEach(async () => {
  g = await permissive();
  await g.policies(asking);
  lost = await g.register(agentId('acme/search/lost'));
  fine = await g.register(agentId('acme/search/fine'));
  for (const agent of [lost, fine]) await run(g, agent, 'a', 'b');
});

/** Not all that another gateway has done to this agent can be read. */
const loseSight = () => g.gov.directory.outOfService.add({ agents: ['acme/search/lost'], orgs: [], everything: false });

const state = (agent: TestAgent, opId: string) => opOf(g, agent, opId).state;

test('nothing of an agent that is out of service runs on, and all of it can be stopped', async () => {
  for (const agent of [lost, fine]) await control(g, agent, 'a:s', 'pause');
  loseSight();
  await expect(control(g, lost, 'a:s', 'resume')).rejects.toMatchObject(unavailable);
  const scope = { orgId: 'acme', teamId: 'search' };
  const resume = { action: 'resume', scope, reason: '', dryRun: false, idempotencyKey: null } as const;
  expect(await finish(g, controlScope(g.gov, operator, resume))).toMatchObject({ changed: 1, skipped: 3 });
  expect([state(lost, 'a:s'), state(fine, 'a:s')]).toEqual(['paused', 'running']);
  await control(g, lost, 'a:s', 'terminate');
  await control(g, lost, 'b:s', 'pause');
  expect([state(lost, 'a:s'), state(lost, 'b:s')]).toEqual(['terminated', 'paused']);
});

test('nothing of its delegates runs on either', async () => {
  const { agentId: id, token } = await finish(g, delegateAgent(g.gov, lost, 'child'));
  const child = { id, token };
  await run(g, child, 'c');
  await control(g, child, 'c:s', 'pause');
  loseSight();
  await expect(control(g, child, 'c:s', 'resume')).rejects.toMatchObject(unavailable);
  expect(state(child, 'c:s')).toBe('paused');
});

test('its suspension stays', async () => {
  await finish(g, suspendAgent(g.gov, operator, lost.id, ''));
  loseSight();
  await expect(finish(g, resumeAgent(g.gov, operator, lost.id, ''))).rejects.toMatchObject(unavailable);
  expect(g.gov.directory.find(lost.id)?.record.suspension).not.toBeNull();
});

test('what it waits for is rejected, and not approved', async () => {
  const ask = (spanId: string) => g.check(lost, { traceId: 't', spanId, action: useTool('pay') });
  const [one, two] = [await ask('1'), await ask('2')];
  loseSight();
  await expect(approve(g, one.approvalId ?? '', person('alice'))).rejects.toMatchObject(unavailable);
  expect(state(lost, 't:1')).toBe('pending');
  await reject(g, two.approvalId ?? '', person('alice'));
  expect(state(lost, 't:2')).toBe('terminated');
});

test('no verdict of several is noted: it would open again what another gateway has closed', async () => {
  const { approvalId } = await g.check(lost, { traceId: 't', spanId: '1', action: useTool('wire') });
  loseSight();
  await expect(approve(g, approvalId ?? '', person('alice'))).rejects.toMatchObject(unavailable);
  expect(g.gov.approvals.find(approvalId ?? '')?.verdicts).toEqual([]);
});

test('what it waits for does not expire here: another gateway may have decided it', async () => {
  const ask = (agent: TestAgent) => g.check(agent, { traceId: 't', spanId: '1', action: useTool('pay') });
  for (const agent of [lost, fine]) await ask(agent);
  loseSight();
  g.clock.advance(24 * 3600 * 1000);
  await expire(g);
  expect([state(lost, 't:1'), state(fine, 't:1')]).toEqual(['pending', 'terminated']);
});
