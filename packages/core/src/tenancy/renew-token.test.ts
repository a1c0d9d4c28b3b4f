import { describe, expect, test } from 'vitest';
import { execute } from '../commands.ts';
import { control, listen } from '../testkit/controls.ts';
import { agentId, operator, registration } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { sha256, testGovernance } from '../testkit/test-governance.ts';
import { registerAgent, resumeAgent, suspendAgent } from '../testkit/commands.ts';
import { twoGateways } from '../testkit/two-gateways.ts';
import { credentialEnded, identifyByToken } from './identify.ts';

const bot = agentId('acme/search/bot');

interface Held {
  readonly id: typeof bot;
  readonly token: string;
}

async function renewed(test: TestGovernance, { id, token }: Held): Promise<Held & { expiresAt: number | null }> {
  const answer = await test.settle(execute(test.gov, { kind: 'renew_token', agentId: id, token }));
  return { id, ...answer };
}

async function governed(): Promise<TestGovernance> {
  const test = await testGovernance();
  await test.policies('default: allow');
  return test;
}

describe('a token that expires', () => {
  test.each([60, 31_536_000])('may be asked for with %d s, and never by default', async (ttlSecs) => {
    const test = await governed();
    const made = await test.settle(registerAgent(test.gov, operator, registration(bot, { ttlSecs })));
    expect(made.expiresAt).toBe(test.clock.now() + ttlSecs * 1000);
    const never = await test.settle(registerAgent(test.gov, operator, registration(bot)));
    expect(never.expiresAt).toBeNull();
    expect(test.known(bot).record).not.toHaveProperty('tokenLife');
  });

  test.each([0, 59, 31_536_001, 60.5, -1])('may not be asked for with %d s', async (ttlSecs) => {
    const test = await governed();
    await expect(test.register(bot, { ttlSecs })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('token_ttl_secs'),
    });
  });

  test('proves nothing any more once its time has come, to the millisecond', async () => {
    const test = await governed();
    const agent = await test.register(bot, { ttlSecs: 60 });
    const { opId } = await test.check(agent);
    test.clock.advance(59_999);
    expect(await test.check(agent)).toMatchObject({ decision: 'allow' });
    expect(identifyByToken(test.gov, agent.token)).toMatchObject({ agentId: bot, ttlSecs: 60 });
    test.clock.advance(1);
    expect(await test.check(agent)).toMatchObject({
      decision: 'deny',
      reason: 'token has expired',
      policyRule: 'identity',
    });
    const expired = { code: 'unauthenticated', message: 'token has expired' };
    await expect(test.complete(agent, opId)).rejects.toMatchObject(expired);
    await expect(renewed(test, agent)).rejects.toMatchObject(expired);
    await expect(test.deregister(agent)).rejects.toMatchObject(expired);
    expect(() => identifyByToken(test.gov, agent.token)).toThrow('token has expired');
    // An expired token of another agent is that agent's token all the same.
    const other = await test.register(agentId('umbrella/x/y'));
    expect(await test.check({ id: other.id, token: agent.token })).toMatchObject({
      reason: 'credential token registered to a different agent',
    });
  });

  test('is as expired after a restart', async () => {
    const test = await governed();
    const agent = await test.register(bot, { ttlSecs: 60 });
    const next = await test.crash();
    expect(await next.check(agent)).toMatchObject({ decision: 'allow' });
    next.clock.advance(60_000);
    expect(await next.check(agent)).toMatchObject({ reason: 'token has expired' });
  });

  test('is replaced with the same life by whoever may replace it', async () => {
    const test = await governed();
    await test.register(bot, { ttlSecs: 60 });
    const again = registration(bot, { ifRegistered: 'keep' });
    const kept = await test.settle(registerAgent(test.gov, operator, again));
    expect(kept.expiresAt).toBe(test.clock.now() + 60_000);
  });
});

describe('renewing', () => {
  test('gives a new token with the same life; the old one works for 60 s more', async () => {
    const test = await governed();
    const old = await test.register(bot, { ttlSecs: 3600, name: 'Bot' });
    test.clock.advance(2_400_000);
    const fresh = await renewed(test, old);
    expect(fresh.token).toMatch(/^rva_[A-Za-z0-9_-]{43}$/);
    expect(fresh.expiresAt).toBe(test.clock.now() + 3_600_000);
    expect(test.known(bot).record.name).toBe('Bot');
    for (const agent of [old, fresh]) expect(await test.check(agent)).toMatchObject({ decision: 'allow' });
    test.clock.advance(59_999);
    expect(await test.check(old)).toMatchObject({ decision: 'allow' });
    test.clock.advance(1);
    expect(await test.check(old)).toMatchObject({ reason: 'token has expired', policyRule: 'identity' });
    expect(await test.check(fresh)).toMatchObject({ decision: 'allow' });
  });

  test('works for a token without end, and gives one without end', async () => {
    const test = await governed();
    const fresh = await renewed(test, await test.register(bot));
    expect(fresh.expiresAt).toBeNull();
  });

  test('is on record as what it is, without the token', async () => {
    const test = await governed();
    const fresh = await renewed(test, await test.register(bot, { ttlSecs: 60 }));
    const audit = await test.audit();
    expect(audit.at(-1)).toMatchObject({
      event_type: 'AgentTokenRenewed',
      actor: { kind: 'agent', id: 'acme/search/bot' },
      payload: { expires_at: new Date(fresh.expiresAt ?? 0).toISOString() },
    });
    expect(JSON.stringify([audit, await test.store.load()])).not.toContain(fresh.token);
  });

  test('again with the former token brings back an agent whose answer was lost', async () => {
    const test = await governed();
    const old = await test.register(bot, { ttlSecs: 3600 });
    const lost = await renewed(test, old);
    test.clock.advance(30_000);
    const found = await renewed(test, old);
    for (const agent of [old, lost, found]) expect(await test.check(agent)).toMatchObject({ decision: 'allow' });
    test.clock.advance(30_000);
    expect(await test.check(old)).toMatchObject({ reason: 'token has expired' });
    expect(await test.check(lost)).toMatchObject({ decision: 'allow' });
  });

  test('without end leaves few former tokens', async () => {
    const test = await governed();
    let agent: Held = await test.register(bot, { ttlSecs: 3600 });
    const first = agent;
    for (let times = 0; times < 20; times++) agent = await renewed(test, agent);
    expect(test.known(bot).record.tokenLife?.former).toHaveLength(8);
    expect(await test.check(first)).toMatchObject({ decision: 'deny' });
    expect(await test.check(agent)).toMatchObject({ decision: 'allow' });
  });

  test('lifts no suspension, and registering again ends all tokens of before', async () => {
    const test = await governed();
    const old = await test.register(bot, { ttlSecs: 3600 });
    await test.settle(suspendAgent(test.gov, operator, bot, ''));
    const fresh = await renewed(test, old);
    expect(await test.check(fresh)).toMatchObject({ reason: 'agent is suspended' });
    await test.settle(resumeAgent(test.gov, operator, bot, ''));
    const again = await test.register(bot);
    for (const agent of [old, fresh]) {
      expect(await test.check(agent)).toMatchObject({ reason: 'credential token mismatch' });
      expect(test.gov.directory.ownerOf(sha256(agent.token))).toBeUndefined();
    }
    expect(test.gov.directory.ownerOf(sha256(again.token))).toBe(test.known(bot));
  });

  test('is taken back if it cannot become durable', async () => {
    const test = await governed();
    const old = await test.register(bot, { ttlSecs: 3600 });
    const before = test.known(bot).record;
    test.failure = new Error('the disk is full');
    await expect(renewed(test, old)).rejects.toThrow();
    test.failure = undefined;
    expect(test.known(bot).record).toEqual(before);
    expect(await test.check(old)).toMatchObject({ decision: 'allow' });
  });
});

describe('a control stream', () => {
  test('ends when its token expires, and outlives a renewal by the 60 s of the old one', async () => {
    const test = await governed();
    const old = await test.register(bot, { ttlSecs: 3600 });
    const stream = await listen(test, old);
    const fresh = await renewed(test, old);
    const other = await listen(test, fresh);
    const sweep = () => test.gov.control.endUnproven(credentialEnded);
    sweep();
    expect(stream.failure).toBeUndefined();
    test.clock.advance(60_000);
    sweep();
    expect(stream.failure).toMatchObject({ code: 'unauthenticated' });
    expect(other.failure).toBeUndefined();
    test.clock.advance(3_540_000);
    sweep();
    expect(other.failure).toMatchObject({ code: 'unauthenticated' });
  });

  test('of a token that is renewed while it opens is open, and obliges the agent as others do', async () => {
    const test = await governed();
    const old = await test.register(bot, { ttlSecs: 3600 });
    const opening = listen(test, old);
    const fresh = await renewed(test, old);
    const stream = await opening;
    expect(test.known(bot).record.controlled).toBe(true);
    const { opId } = await test.check(fresh);
    await control(test, fresh, opId, 'pause');
    expect(stream.signals()).toEqual(['1 pause']);
  });

  test('of a token that another gateway renews meanwhile, too', async () => {
    const { one, two, settled, settle, register, follow } = await twoGateways('default: allow');
    const old = await register('acme/search/bot');
    await follow();
    await settled(execute(one.gov, { kind: 'renew_token', agentId: old.id, token: old.token }), [one]);
    // It has not heard of that yet.
    const opening = listen(two, old);
    await settle();
    await opening;
    await follow();
    for (const { gov } of [one, two]) expect(gov.directory.find(old.id)?.record.controlled).toBe(true);
  });
});

test('at another gateway the new token counts at once, and the old one as long', async () => {
  const { one, two, settled, register, follow, clock } = await twoGateways('default: allow');
  const old = await register('acme/search/bot');
  const answer = await settled(execute(one.gov, { kind: 'renew_token', agentId: old.id, token: old.token }));
  await follow();
  const fresh = { id: old.id, token: answer.token };
  for (const agent of [old, fresh]) expect(await settled(two.check(agent))).toMatchObject({ decision: 'allow' });
  clock.advance(60_000);
  expect(await settled(two.check(old))).toMatchObject({ reason: 'token has expired' });
  expect(await settled(two.check(fresh))).toMatchObject({ decision: 'allow' });
});

test('of two renewals at two gateways, both new tokens work, the earlier one for 60 s', async () => {
  const { one, two, settle, register, follow, clock, settled } = await twoGateways('default: allow');
  const old = await register('acme/search/bot');
  await follow();
  const both = [one, two].map(({ gov }) => execute(gov, { kind: 'renew_token', agentId: old.id, token: old.token }));
  await settle();
  const tokens = (await Promise.all(both)).map(({ token }) => ({ id: old.id, token }));
  await follow();
  for (const agent of tokens) expect(await settled(one.check(agent))).toMatchObject({ decision: 'allow' });
  clock.advance(60_000);
  const answers = [];
  for (const agent of tokens) answers.push((await settled(two.check(agent))).decision);
  expect(answers.toSorted()).toEqual(['allow', 'deny']);
});
