import type { Problem } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acknowledge, ControlStream } from '../harness/control-stream.ts';
import { makeKey, registerAs, tokenOf } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import type { LoggedEntry } from '../harness/audit-log.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

const env = { SVC_CONTROL_ACK_SECS: '1', SVC_RATE_LIMIT_API_PER_MIN: '0' };

let gateway: TestGateway;
/** Four keys: the agent's own, one of its team, one of its org, and an operator's without admin scope. */
let keys: Record<'own' | 'team' | 'org' | 'operator', string>;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
  const made = async (grant: object) => (await makeKey(gateway, { scopes: ['write'], ...grant })).key;
  keys = {
    own: await made({ org_id: 'acme', scopes: ['admin'] }),
    team: await made({ org_id: 'acme', team_id: 'core' }),
    org: await made({ org_id: 'acme' }),
    operator: await made({}),
  };
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function registered(agentId: string, bearer = keys.own, on = gateway): Promise<Registered> {
  const { credentialToken } = await registerAs(on, bearer, { agentId });
  return { id: { orgId: 'acme', teamId: 'core', agentId }, token: credentialToken };
}

const agentPath = ({ id }: Registered) => `/api/v1/agents/acme/core/${id.agentId}`;
const opPath = ({ id }: Registered, opId: string) =>
  `/api/v1/ops/${encodeURIComponent(`acme/core/${id.agentId}/${opId}`)}`;

const suspend = (agent: Registered, bearer: string, on = gateway) => on.api.post(`${agentPath(agent)}/suspend`, bearer);
const resume = (agent: Registered, bearer: string, on = gateway) =>
  on.api.post<Problem>(`${agentPath(agent)}/resume`, bearer);

const imposedByWider = { status: 403, body: { code: 'imposed_by_wider' } };
const ownAgent = { status: 403, body: { code: 'own_agent' } };
const suspended = { reason: 'agent is suspended' };
const unconfirmed = { decision: 2, reason: 'agent has not confirmed a stop' };

describe('a suspension', () => {
  test('is not lifted with the key that the agent registered with, nor with what comes from it', async () => {
    const agent = await registered('kill-switch');
    const child = (await makeKey(gateway, { scopes: ['write'] }, keys.own)).key;
    const grandchild = await makeKey(
      gateway,
      { scopes: ['admin'] },
      (await makeKey(gateway, { scopes: ['admin'] }, keys.own)).key,
    );
    const rotated = await gateway.api.post<{ key: string }>(
      `/api/v1/iam/api-keys/${grandchild.id}/rotate`,
      bootstrapKey,
    );
    const token = await tokenOf(gateway, keys.own, 'write');
    await suspend(agent, bootstrapKey);
    for (const bearer of [keys.own, child, rotated.body.key, token]) {
      const answer = await resume(agent, bearer);
      expect(answer).toMatchObject(ownAgent);
      expect(answer.body.detail).toContain('somebody else must resume it');
    }
    expect(await gateway.check(agent)).toMatchObject(suspended);
    expect(await resume(agent, keys.operator)).toMatchObject({ status: 200 });
    expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
  });

  test('is lifted by who is as wide as the widest that asked for it, and says so', async () => {
    const agent = await registered('widths');
    await suspend(agent, keys.team);
    await suspend(agent, keys.org);
    expect(await resume(agent, keys.team)).toMatchObject({ ...imposedByWider, body: { imposed_by: 'org' } });
    await suspend(agent, keys.operator);
    await suspend(agent, keys.team);
    const answer = await resume(agent, keys.org);
    expect(answer).toMatchObject({ ...imposedByWider, body: { imposed_by: 'unbound' } });
    expect(answer.body.detail).toBe(
      'this was imposed with a credential that is bound to no org; one that is bound to an org cannot lift it',
    );
    expect(await gateway.check(agent)).toMatchObject(suspended);
    expect(await resume(agent, keys.operator)).toMatchObject({ status: 200 });
  });

  test('whoever registers the agent again, and over a restart, stays out of reach of all who have', async () => {
    await using first = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
    const own = (await makeKey(first, { scopes: ['admin'], org_id: 'acme' })).key;
    const child = (await makeKey(first, { scopes: ['write'] }, own)).key;
    const org = (await makeKey(first, { scopes: ['write'], org_id: 'acme' })).key;
    let agent = await registered('launderer', own, first);
    await suspend(agent, org, first);
    await first.deregister(agent);
    await registered('launderer', child, first);
    await using second = await first.restart('SIGKILL', { env });
    agent = await registered('launderer', bootstrapKey, second);
    expect(await second.check(agent)).toMatchObject(suspended);
    for (const bearer of [own, child]) expect(await resume(agent, bearer, second)).toMatchObject(ownAgent);
    expect(await resume(agent, org, second)).toMatchObject({ status: 200 });
    expect(await second.check(agent)).toMatchObject({ decision: 1 });
  });
});

describe('a paused operation', () => {
  async function running(agentId: string, ...spans: string[]): Promise<Registered> {
    const agent = await registered(agentId);
    for (const spanId of spans) await gateway.check(agent, { traceId: agentId, spanId });
    return agent;
  }
  const control = (agent: Registered, opId: string, action: string, bearer: string) =>
    gateway.api.post(`${opPath(agent, opId)}/${action}`, bearer);

  test('runs on by who is as wide as whoever paused it, and never by its own agent', async () => {
    const agent = await running('pauser', 'a');
    expect(await control(agent, 'pauser:a', 'pause', keys.org)).toMatchObject({ status: 202 });
    expect(await control(agent, 'pauser:a', 'resume', keys.team)).toMatchObject(imposedByWider);
    expect(await control(agent, 'pauser:a', 'resume', keys.own)).toMatchObject(ownAgent);
    expect(await gateway.check(agent, { traceId: 'pauser', spanId: 'a' })).toMatchObject({ opState: 'paused' });
    expect(await control(agent, 'pauser:a', 'resume', keys.org)).toMatchObject({ status: 202 });
    expect(await control(agent, 'pauser:a', 'resume', keys.team)).toMatchObject({ status: 409 });
  });

  test('is held by a suspension of its agent that is wider than its pause', async () => {
    const agent = await running('both', 'a', 'b');
    await control(agent, 'both:a', 'pause', keys.team);
    await suspend(agent, bootstrapKey);
    for (const opId of ['both:a', 'both:b']) {
      expect(await control(agent, opId, 'resume', keys.team)).toMatchObject(imposedByWider);
    }
    await resume(agent, bootstrapKey);
    expect(await control(agent, 'both:a', 'resume', keys.team)).toMatchObject({ status: 202 });
    expect(await control(agent, 'both:b', 'resume', keys.team)).toMatchObject({ status: 409 });
  });

  test('is skipped by a scoped resume that may not have it', async () => {
    const agent = await running('scoped', 'a', 'b', 'c');
    await control(agent, 'scoped:a', 'pause', bootstrapKey);
    await control(agent, 'scoped:b', 'pause', keys.team);
    const bulk = (bearer: string, dryRun = false) =>
      gateway.api.post('/api/v1/control', bearer, {
        action: 'resume',
        scope: { agent_id: 'scoped' },
        reason: 'on',
        dry_run: dryRun,
      });
    expect(await bulk(keys.own)).toMatchObject({ status: 202, body: { matched: 3, changed: 0, skipped: 3 } });
    expect(await bulk(keys.org, true)).toMatchObject({ body: { matched: 3, changed: 1, skipped: 2 } });
    expect(await bulk(keys.org)).toMatchObject({ body: { matched: 3, changed: 1, skipped: 2 } });
    const state = async (span: string) => (await gateway.check(agent, { traceId: 'scoped', spanId: span })).opState;
    expect([await state('a'), await state('b')]).toEqual(['paused', 'running']);
    expect(await bulk(keys.operator)).toMatchObject({ body: { matched: 3, changed: 1, skipped: 2 } });
    expect(await state('a')).toBe('running');
  });
});

interface Noted {
  readonly id: string;
  readonly updated_at: string;
}

describe('a pause by a wider credential of what a narrower one has paused', () => {
  const control = (agent: Registered, opId: string, action: string, bearer: string, on = gateway) =>
    on.api.post<{ op: Noted; control: Noted }>(`${opPath(agent, opId)}/${action}`, bearer);
  const pauseWithin = (scope: object, on = gateway, dryRun = false) =>
    on.api.post<{ control_id: string }>('/api/v1/control', bootstrapKey, {
      action: 'pause',
      scope,
      reason: 'all hands',
      dry_run: dryRun,
    });

  test('takes the operation over without moving it, once, and tells its agent', async () => {
    const agent = await registered('first');
    await gateway.check(agent, { traceId: 'first', spanId: 'a' });
    const stream = await ControlStream.open(gateway, agent);
    const paused = await control(agent, 'first:a', 'pause', keys.team);
    const before = gateway.audit().length;
    const shown = await gateway.api.get<Noted>(opPath(agent, 'first:a'), bootstrapKey);
    const taken = await control(agent, 'first:a', 'pause', keys.operator);
    expect(taken).toMatchObject({ status: 202, body: { op: { state: 'paused' }, control: { action: 'pause' } } });
    const { op, control: receipt } = taken.body;
    expect(op).toMatchObject({ control: { id: receipt.id }, updated_at: shown.body.updated_at });
    expect(receipt.id).not.toBe(paused.body.control.id);
    // Whatever nobody confirms is told after a second, here and of agents above.
    const isOfOperators = ({ event_type }: LoggedEntry) => event_type !== 'OpControlUnconfirmed';
    expect(gateway.audit().slice(before).filter(isOfOperators)).toMatchObject([
      { event_type: 'OpControlRequested', op_id: 'first:a', payload: { action: 'pause', control_id: receipt.id } },
      {
        event_type: 'OpPauseWidened',
        op_id: 'first:a',
        actor: { kind: 'api_key' },
        payload: { control_id: receipt.id, previous_width: 'team', width: 'unbound' },
      },
    ]);
    expect(await stream.heard(2)).toEqual(['1 pause first:a', '2 pause first:a']);
    for (const bearer of [keys.team, keys.org, keys.operator]) {
      expect(await control(agent, 'first:a', 'pause', bearer)).toMatchObject({ status: 409 });
    }
    for (const bearer of [keys.team, keys.org]) {
      expect(await control(agent, 'first:a', 'resume', bearer)).toMatchObject(imposedByWider);
    }
    expect(await control(agent, 'first:a', 'resume', keys.operator)).toMatchObject({ status: 202 });
    expect(await gateway.check(agent, { traceId: 'first', spanId: 'a' })).toMatchObject({ opState: 'running' });
  });

  test('counts as changed in a scope, also where a suspension holds the operation meanwhile', async () => {
    const agent = await registered('crowd');
    for (const spanId of ['a', 'b', 'c']) await gateway.check(agent, { traceId: 'crowd', spanId });
    await control(agent, 'crowd:a', 'pause', keys.team);
    await control(agent, 'crowd:b', 'pause', bootstrapKey);
    await suspend(agent, bootstrapKey);
    const scope = { agent_id: 'crowd' };
    const counts = { matched: 3, changed: 1, skipped: 2 };
    expect(await pauseWithin(scope, gateway, true)).toMatchObject({ status: 200, body: counts });
    const bulk = await pauseWithin(scope);
    expect(bulk).toMatchObject({ status: 202, body: counts });
    expect(await pauseWithin(scope)).toMatchObject({ body: { changed: 0, skipped: 3 } });
    const receipts = await gateway.api.get(`/api/v1/control/${bulk.body.control_id}`, bootstrapKey);
    expect(receipts).toMatchObject({ body: { receipts: [{ op_id: 'crowd:a', action: 'pause' }] } });
    await resume(agent, bootstrapKey);
    expect(await control(agent, 'crowd:a', 'resume', keys.team)).toMatchObject(imposedByWider);
    expect(await control(agent, 'crowd:c', 'resume', keys.team)).toMatchObject({ status: 409 });
  });

  test('outlives a restart, and the suspension by which the narrower one paused it', async () => {
    await using first = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
    const team = (await makeKey(first, { scopes: ['write'], org_id: 'acme', team_id: 'core' })).key;
    const agent = await registered('kept', bootstrapKey, first);
    for (const spanId of ['a', 'b']) await first.check(agent, { traceId: 'kept', spanId });
    await control(agent, 'kept:a', 'pause', team, first);
    await suspend(agent, team, first);
    expect(await control(agent, 'kept:a', 'pause', bootstrapKey, first)).toMatchObject({ status: 202 });
    expect(await pauseWithin({ all: true }, first)).toMatchObject({ body: { matched: 2, changed: 1, skipped: 1 } });
    await using second = await first.restart('SIGKILL', { env });
    expect(await resume(agent, team, second)).toMatchObject({ status: 200 });
    for (const opId of ['kept:a', 'kept:b']) {
      expect(await control(agent, opId, 'resume', team, second)).toMatchObject(imposedByWider);
      expect(await control(agent, opId, 'resume', bootstrapKey, second)).toMatchObject({ status: 202 });
    }
  });
});

describe('a stop that the agent does not confirm', () => {
  /** An agent with a control stream that the operator stops. */
  async function stopped(agentId: string): Promise<Registered> {
    const agent = await registered(agentId);
    await gateway.check(agent, { traceId: agentId, spanId: 'a' });
    const stream = await ControlStream.open(gateway, agent);
    await gateway.api.post(`${opPath(agent, `${agentId}:a`)}/terminate`, bootstrapKey);
    expect(await stream.heard(1)).toEqual([`1 terminate ${agentId}:a`]);
    return agent;
  }
  const blocked = (agent: Registered) =>
    eventually(async () => expect(await gateway.check(agent)).toMatchObject(unconfirmed));

  test('is lifted by the operator alone, and not by the agent', async () => {
    const agent = await stopped('deaf');
    await blocked(agent);
    expect(await resume(agent, keys.own)).toMatchObject(ownAgent);
    expect(await resume(agent, keys.org)).toMatchObject(imposedByWider);
    expect(await gateway.check(agent)).toMatchObject(unconfirmed);
    expect(await resume(agent, keys.operator)).toMatchObject({ status: 200 });
    expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
  });

  test.each([
    ['leaves and registers again at once', true, () => keys.own],
    ['leaves and is registered by somebody else', true, () => bootstrapKey],
    ['registers anew without listening', false, () => keys.own],
  ])('is not escaped by one that %s', async (how, leaves, bearer) => {
    const agent = await stopped(how.replaceAll(' ', '-'));
    if (leaves) await gateway.deregister(agent);
    const again = await registered(agent.id.agentId, bearer());
    await blocked(again);
    expect(await resume(again, keys.own)).toMatchObject(ownAgent);
    expect(await resume(again, keys.org)).toMatchObject(imposedByWider);
    const stream = await ControlStream.open(gateway, again);
    expect(await stream.heard(1)).toEqual([expect.stringMatching(/^1 terminate /)]);
    await acknowledge(gateway, again, 1, 'EFFECTIVE');
    expect(await gateway.check(again)).toMatchObject({ decision: 1 });
  });
});
