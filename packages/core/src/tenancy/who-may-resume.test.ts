import { beforeEach, describe, expect, test } from 'vitest';
import type { ApiKeyRecord } from '../access/api-key.ts';
import type { Principal } from '../access/principal.ts';
import { timeOutControls } from '../control/receipts.ts';
import { ack, control, finish, listen, opOf, permissive, run, storedReceipt } from '../testkit/controls.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { controlScope, resumeAgent, suspendAgent } from '../testkit/commands.ts';
import { alwaysListened } from '../testkit/manual-clock.ts';

const bot = agentId('acme/search/bot');

const caller = (credentialId: string, members: Partial<Principal> = {}): Principal => ({
  actor: { id: credentialId, kind: 'api_key', label: credentialId },
  credentialId,
  expiresAt: null,
  asOf: 0,
  scopes: ['write'],
  orgId: null,
  teamId: null,
  ...members,
});

const team = caller('team', { orgId: 'acme', teamId: 'search' });
const org = caller('org', { orgId: 'acme', scopes: ['admin'] });
const writer = caller('writer');
const agents = caller('agents', { orgId: 'acme' });
const rotated = caller('rotated', { orgId: 'acme' });
const made = caller('made', { orgId: 'acme', scopes: ['admin'] });

const keyOf = (id: string, from: Partial<ApiKeyRecord>): ApiKeyRecord => ({
  id,
  hash: id,
  label: id,
  scopes: ['write'],
  orgId: 'acme',
  teamId: null,
  createdAt: 1,
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
  madeBy: null,
  rotatedFrom: null,
  ...from,
});

let g: TestGovernance;
let agent: TestAgent;

/** Adds keys derived from the one that registered the agent. */
function addKeys(test: TestGovernance): void {
  for (const id of ['org', 'agents']) test.gov.keys.put(keyOf(id, {}));
  test.gov.keys.put(keyOf('rotated', { rotatedFrom: 'agents', madeBy: { kind: 'api_key', id: 'org' } }));
  test.gov.keys.put(keyOf('made', { madeBy: { kind: 'api_key', id: 'agents' } }));
}

beforeEach(async () => {
  g = await permissive();
  addKeys(g);
  agent = await g.register(bot, {}, agents);
  await run(g, agent, 'a', 'b');
});

const suspend = (by: Principal) => g.settle(suspendAgent(g.gov, by, bot, 'odd'));
const resume = (by: Principal, test = g) => test.settle(resumeAgent(test.gov, by, bot, ''));

const refused = (code: string) => expect.objectContaining({ code });

describe('a suspension', () => {
  test.each<[string, Principal, string, Principal]>([
    ['the operator', operator, 'an org', org],
    ['the operator', operator, 'a team', team],
    ['an org', org, 'a team', team],
  ])('by %s is not lifted by %s', async (_, wider, __, narrower) => {
    await suspend(wider);
    await expect(resume(narrower)).rejects.toEqual(refused('imposed_by_wider'));
    expect(await g.check(agent)).toMatchObject({ reason: 'agent is suspended' });
    expect(opOf(g, agent, 'a:s').state).toBe('paused');
    await resume(wider);
    expect(await g.check(agent)).toMatchObject({ decision: 'allow' });
  });

  test('is held by the widest who asked for it, in whichever order they did', async () => {
    await suspend(org);
    await suspend(operator);
    await suspend(team);
    expect(g.known(bot).record.suspension).toMatchObject({ width: 'unbound' });
    await expect(resume(org)).rejects.toEqual(refused('imposed_by_wider'));
    const next = await g.crash();
    await expect(resume(org, next)).rejects.toEqual(refused('imposed_by_wider'));
    await resume(writer, next);
    expect(next.known(bot).record.suspension).toBeNull();
  });

  test('that a wider one takes over is on record, and nothing moves a second time', async () => {
    await suspend(team);
    const before = (await g.audit()).length;
    await suspend(operator);
    await suspend(operator);
    expect((await g.audit()).slice(before)).toMatchObject([{ event_type: 'AgentSuspended', actor: operator.actor }]);
  });

  test.each([agents, rotated, made])(
    'is not lifted by whom the agent was registered with: $credentialId',
    async (own) => {
      await suspend(team);
      await expect(resume(own)).rejects.toEqual(refused('own_agent'));
      await resume(org);
    },
  );

  test('is lifted by an operator with admin scope, even one that registered the agent', async () => {
    await g.register(bot, {}, operator);
    await suspend(operator);
    await expect(resume({ ...operator, scopes: ['write'] })).rejects.toEqual(refused('own_agent'));
    await resume(operator);
  });

  test('stays out of reach of all who have ever registered the agent, whoever does so again', async () => {
    await suspend(org);
    for (const by of [made, rotated, writer]) await g.register(bot, {}, by);
    await expect(resume(agents)).rejects.toEqual(refused('own_agent'));
    await expect(resume(writer)).rejects.toEqual(refused('own_agent'));
    agent = await g.register(bot, {}, made);
    await g.deregister(agent);
    const next = await g.crash();
    addKeys(next);
    await next.register(bot, {}, writer);
    for (const by of [agents, made, writer]) await expect(resume(by, next)).rejects.toEqual(refused('own_agent'));
  });
});

describe('a paused operation', () => {
  test('runs on by who is at least as wide as whoever paused it, and not by the agent', async () => {
    await control(g, agent, 'a:s', 'pause', '', org);
    await expect(control(g, agent, 'a:s', 'resume', '', team)).rejects.toEqual(refused('imposed_by_wider'));
    await expect(control(g, agent, 'a:s', 'resume', '', made)).rejects.toEqual(refused('own_agent'));
    const next = await g.crash();
    await expect(control(next, agent, 'a:s', 'resume', '', team)).rejects.toEqual(refused('imposed_by_wider'));
    await control(next, agent, 'a:s', 'resume', '', org);
    expect(opOf(next, agent, 'a:s').state).toBe('running');
  });

  test('is held by a wider suspension of its agent, too, for as long as there is one', async () => {
    await control(g, agent, 'a:s', 'pause', '', team);
    await suspend(operator);
    for (const opId of ['a:s', 'b:s']) {
      await expect(control(g, agent, opId, 'resume', '', team)).rejects.toEqual(refused('imposed_by_wider'));
    }
    await resume(operator);
    expect(opOf(g, agent, 'b:s').state).toBe('running');
    await control(g, agent, 'a:s', 'resume', '', team);
    expect(opOf(g, agent, 'a:s').state).toBe('running');
  });

  test('may be terminated by anyone: that lifts nothing', async () => {
    await control(g, agent, 'a:s', 'pause', '', operator);
    await control(g, agent, 'a:s', 'terminate', '', agents);
    expect(opOf(g, agent, 'a:s').state).toBe('terminated');
  });

  test('is skipped by a scoped resume that may not have it', async () => {
    await control(g, agent, 'a:s', 'pause', '', operator);
    await control(g, agent, 'b:s', 'pause', '', team);
    const bulk = (by: Principal, dryRun: boolean) =>
      finish(
        g,
        controlScope(g.gov, by, {
          action: 'resume',
          scope: { agentId: 'bot' },
          reason: '',
          dryRun,
          idempotencyKey: null,
        }),
      );
    expect(await bulk(agents, false)).toMatchObject({ matched: 2, changed: 0, skipped: 2 });
    for (const dryRun of [true, false])
      expect(await bulk(org, dryRun)).toMatchObject({ matched: 2, changed: 1, skipped: 1 });
    expect([opOf(g, agent, 'a:s').state, opOf(g, agent, 'b:s').state]).toEqual(['paused', 'running']);
    expect(await bulk(writer, false)).toMatchObject({ matched: 2, changed: 1, skipped: 1 });
    expect(opOf(g, agent, 'a:s').state).toBe('running');
  });
});

describe('a stop that is not confirmed', () => {
  const refusal = { decision: 'deny', reason: 'agent has not confirmed a stop' };
  const timeOut = async (test: TestGovernance) => {
    test.clock.advance(10_000);
    timeOutControls(test.gov, 100, alwaysListened);
    await finish(test, test.gov.journal.committed());
  };

  test('is lifted by who is at least as wide, and not by the agent', async () => {
    await listen(g, agent);
    await control(g, agent, 'a:s', 'pause', '', operator);
    await control(g, agent, 'b:s', 'pause', '', team);
    await timeOut(g);
    await expect(resume(org)).rejects.toEqual(refused('imposed_by_wider'));
    await expect(resume(agents)).rejects.toEqual(refused('own_agent'));
    expect(await g.check(agent)).toMatchObject(refusal);
    await resume(writer);
    expect(await g.check(agent)).toMatchObject({ decision: 'allow' });
  });

  test('is not escaped by leaving before its time is over', async () => {
    await listen(g, agent);
    await control(g, agent, 'a:s', 'terminate', '', operator);
    await g.deregister(agent);
    const again = await g.register(bot, {}, rotated);
    expect(await storedReceipt(g, agent, 1)).toMatchObject({ status: 'delivered', waiting: true });
    await timeOut(g);
    expect(await g.check(again)).toMatchObject(refusal);
    for (const by of [agents, rotated, made]) await expect(resume(by)).rejects.toEqual(refused('own_agent'));
    await expect(resume(org)).rejects.toEqual(refused('imposed_by_wider'));
    expect((await listen(g, again)).signals()).toEqual(['1 terminate']);
    await ack(g, again, 1, 'effective');
    expect(await g.check(again)).toMatchObject({ decision: 'allow' });
  });

  test('is not escaped by registering anew without listening', async () => {
    await listen(g, agent);
    await control(g, agent, 'a:s', 'pause', '', operator);
    const again = await g.register(bot, {}, agents);
    await timeOut(g);
    expect(await g.check(again)).toMatchObject(refusal);
  });

  test('is not escaped by a stop that reaches nobody, as the stream was closed before', async () => {
    (await listen(g, agent)).subscription.close();
    await control(g, agent, 'a:s', 'pause', '', operator);
    await g.deregister(agent);
    const next = await g.crash();
    addKeys(next);
    await timeOut(next);
    const again = await next.register(bot, {}, writer);
    expect(await next.check(again)).toMatchObject(refusal);
    await expect(resume(agents, next)).rejects.toEqual(refused('own_agent'));
  });

  test('is given up with an agent that owed no answer, and one that was lifted does not come back', async () => {
    await control(g, agent, 'a:s', 'pause', '', operator);
    await g.deregister(agent);
    expect([...g.gov.directory.left()]).toMatchObject([{ record: { id: bot }, blocked: false }]);
    agent = await g.register(bot, {}, agents);
    await run(g, agent, 'later');
    await listen(g, agent);
    await control(g, agent, 'later:s', 'pause', '', operator);
    await timeOut(g);
    await resume(operator);
    await g.deregister(agent);
    agent = await g.register(bot, {}, agents);
    await timeOut(g);
    expect(await g.check(agent)).toMatchObject({ decision: 'allow' });
  });

  test('is not pushed out by many more from somebody narrower', async () => {
    const names = Array.from({ length: 1001 }, (_, index) => `n${index}`);
    await run(g, agent, ...names);
    await listen(g, agent);
    await control(g, agent, 'a:s', 'terminate', '', operator);
    for (const name of names) await control(g, agent, `${name}:s`, 'terminate', '', team);
    g.clock.advance(60_000);
    g.gov.ops.sweep();
    await run(g, agent, 'last');
    await control(g, agent, 'last:s', 'terminate', '', team);
    expect(await storedReceipt(g, agent, 1)).toMatchObject({ status: 'unconfirmed', blocks: true });
    await expect(resume(team)).rejects.toEqual(refused('imposed_by_wider'));
  });
});

test('who has registered an agent is the same in memory and after a restart, if the key behind a key registers it, too', async () => {
  const other = agentId('acme/search/other');
  await g.register(other, {}, made);
  await g.register(other, {}, agents);
  const next = await g.crash();
  expect(next.known(other).record.registeredWith).toEqual(g.known(other).record.registeredWith);
});
