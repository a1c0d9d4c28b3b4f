import { describe, expect, test } from 'vitest';
import type { Issuers, TokenCheck } from '../access/issuers.ts';
import { execute } from '../commands.ts';
import { forgetEndedDelegations } from '../control/forget-delegations.ts';
import { timeOutControls } from '../control/receipts.ts';
import { ownWork } from '../journal/warrant.ts';
import { control, listen, storedReceipt } from '../testkit/controls.ts';
import { delegateAgent, revokeDelegation, suspendAgent } from '../testkit/commands.ts';
import { alwaysListened, ManualClock } from '../testkit/manual-clock.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { twoGateways } from '../testkit/two-gateways.ts';
import { admitWorkload } from './admit-workload.ts';
import { credentialEnded, identifyByToken } from './identify.ts';
import type { WorkloadIssuer } from './workload-entry.ts';
import { parseAgentTemplate, parseClaimMatch } from './workload-entry.ts';

const clock = new ManualClock();
const lifeMs = 3_600_000;

/** Believes what a token says after its head, as `eyJ.ns.sa`. Signatures are the matter of the verifier. */
function issuerOf(registers: boolean): Issuers<WorkloadIssuer> {
  const settings: WorkloadIssuer = {
    issuer: 'x',
    audiences: ['y'],
    match: [parseClaimMatch('ns', '{ns:*}'), parseClaimMatch('sa', '{sa:*}')],
    agent: parseAgentTemplate('acme/{ns}/{sa}', ['ns', 'sa']),
    registers,
  };
  const expiresAt = clock.now() + lifeMs;
  const verify = (token: string): TokenCheck => {
    const [, ns, sa] = token.split('.');
    if (sa === 'forged') return { ok: false, why: 'has a wrong signature' };
    return { ok: true, claims: { ns, sa }, expiresAt };
  };
  return { trusted: [{ settings, verifier: { verify } }] };
}

const bot = { id: agentId('acme/prod/bot'), token: 'eyJ.prod.bot' };

async function governed(registers: boolean): Promise<TestGovernance> {
  const test = await testGovernance({ clock, workloads: issuerOf(registers) });
  await test.policies('default: allow');
  return test;
}

async function admitted(test: TestGovernance, { id, token } = bot): Promise<void> {
  const admitting = admitWorkload(test.gov, token, id);
  if (admitting !== undefined) await test.settle(admitting);
}

describe('a workload', () => {
  test('with register: true is registered at first use, as if somebody had, and with nothing of its token', async () => {
    const test = await governed(true);
    await admitted(test);
    expect(await test.check(bot)).toMatchObject({ decision: 'allow' });
    const audit = await test.audit();
    expect(audit.find(({ event_type }) => event_type === 'AgentRegistered')).toMatchObject({
      actor: { kind: 'agent', id: 'acme/prod/bot' },
      payload: { created: true, workload: true },
    });
    expect(test.events).toContainEqual(expect.objectContaining({ type: 'agent', change: 'registered' }));
    expect(JSON.stringify([audit, await test.store.load()])).not.toContain('eyJ');
    expect(test.known(bot.id).record.tokenHash).not.toBe(test.gov.sha256(bot.token));
    await admitted(test);
    expect((await test.audit()).filter(({ event_type }) => event_type === 'AgentRegistered')).toHaveLength(1);
  });

  test('without is refused as unregistered, until somebody registers it', async () => {
    const test = await governed(false);
    await admitted(test);
    expect(await test.check(bot)).toMatchObject({ decision: 'deny', reason: 'agent is not registered' });
    expect(() => identifyByToken(test.gov, bot.token)).toThrow('agent is not registered');
    const registered = await test.register(bot.id);
    for (const agent of [bot, registered]) expect(await test.check(agent)).toMatchObject({ decision: 'allow' });
  });

  test('is that agent and no other', async () => {
    const test = await governed(true);
    await admitted(test);
    const other = await test.register(agentId('acme/prod/other'));
    expect(await test.check({ ...other, token: bot.token })).toMatchObject({
      reason: 'credential token registered to a different agent',
    });
    // Claiming to be another one registers nobody.
    await admitted(test, { id: other.id, token: 'eyJ.prod.third' });
    expect(test.gov.directory.find(agentId('acme/prod/third'))).toBeUndefined();
  });

  test('counts until its exp, without leeway, and so does its stream', async () => {
    const test = await governed(true);
    await admitted(test);
    const { opId } = await test.check(bot);
    const stream = await listen(test, bot);
    clock.advance(lifeMs - 1);
    test.gov.control.endUnproven(credentialEnded);
    expect(stream.failure).toBeUndefined();
    expect(identifyByToken(test.gov, bot.token)).toMatchObject({ agentId: bot.id, ttlSecs: null });
    clock.advance(1);
    test.gov.control.endUnproven(credentialEnded);
    expect(stream.failure).toMatchObject({ code: 'unauthenticated' });
    expect(await test.check(bot)).toMatchObject({
      decision: 'deny',
      reason: 'token has expired',
      policyRule: 'identity',
    });
    await expect(test.complete(bot, opId)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(() => identifyByToken(test.gov, bot.token)).toThrow('token has expired');
  });

  test('whose token does not verify is told why, in one entry', async () => {
    const test = await governed(true);
    const forged = { id: agentId('acme/prod/forged'), token: 'eyJ.prod.forged' };
    await admitted(test, forged);
    expect(await test.check(forged)).toMatchObject({ decision: 'deny', reason: 'token has a wrong signature' });
    const audit = await test.audit();
    expect(audit.filter(({ event_type }) => event_type === 'ActionDenied')).toHaveLength(1);
    expect(JSON.stringify(audit)).not.toContain(forged.token);
  });

  test('is stopped by a suspension, not by deregistering it', async () => {
    const test = await governed(true);
    await admitted(test);
    await test.deregister(bot);
    await admitted(test);
    expect(await test.check(bot)).toMatchObject({ decision: 'allow' });
    await test.settle(suspendAgent(test.gov, operator, bot.id, ''));
    await test.deregister(bot);
    await admitted(test);
    expect(await test.check(bot)).toMatchObject({ decision: 'deny', reason: 'agent is suspended' });
  });

  test('gets no token of the gateway for its JWT', async () => {
    const test = await governed(true);
    await admitted(test);
    const renewing = execute(test.gov, { kind: 'renew_token', agentId: bot.id, token: bot.token });
    await expect(test.settle(renewing)).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  test('takes its id back from a delegate, whose token stops and whose operations end', async () => {
    const test = await governed(true);
    const boss = await test.register(agentId('acme/prod/boss'));
    const granted = await test.settle(delegateAgent(test.gov, boss, 'bot'));
    const squatter = { id: granted.agentId, token: granted.token };
    const lower = await test.settle(delegateAgent(test.gov, squatter, 'lower'));
    const { opId } = await test.check(squatter);
    await admitted(test);
    expect(await test.check(bot)).toMatchObject({ decision: 'allow' });
    expect(test.gov.directory.delegations.find(test.known(bot.id).key)).toBeUndefined();
    expect(await test.check(squatter)).toMatchObject({ decision: 'deny', policyRule: 'identity' });
    expect(await test.check({ id: lower.agentId, token: lower.token })).toMatchObject({
      reason: 'agent is not registered',
    });
    await expect(test.complete(squatter, opId)).rejects.toMatchObject({ code: 'unauthenticated' });
    const audit = await test.audit();
    expect(audit.filter(({ event_type }) => event_type === 'DelegationEnded')).toMatchObject([
      { lineage: { agent_id: 'lower' }, payload: { cause: 'delegator_ended' } },
      { lineage: { agent_id: 'bot' }, payload: { cause: 'workload', by: 'acme/prod/boss' } },
    ]);
    await expect(test.settle(delegateAgent(test.gov, boss, 'bot'))).rejects.toMatchObject({ code: 'agent_exists' });
  });

  describe('owes nothing of what a delegate with its id has not confirmed', () => {
    /** A delegate that listens, and has been told to stop. */
    async function squatted() {
      const test = await governed(true);
      const boss = await test.register(agentId('acme/prod/boss'));
      const granted = await test.settle(delegateAgent(test.gov, boss, 'bot'));
      const squatter = { id: granted.agentId, token: granted.token };
      await listen(test, squatter);
      await test.check(squatter, { traceId: 't', spanId: 's' });
      await control(test, squatter, 't:s', 'terminate');
      return { test, boss, squatter };
    }

    async function timeOut(test: TestGovernance): Promise<void> {
      clock.advance(10_000);
      timeOutControls(test.gov, 100, alwaysListened);
      await test.settle(test.gov.journal.committed());
    }

    const revoke = async ({ test, boss }: Awaited<ReturnType<typeof squatted>>) => {
      await test.settle(revokeDelegation(test.gov, boss, 'bot'));
    };

    test.each<[string, (world: Awaited<ReturnType<typeof squatted>>) => Promise<void>]>([
      ['in time', ({ test }) => timeOut(test)],
      ['yet', async () => {}],
      [
        'in time, with the delegation over since',
        async (world) => {
          await timeOut(world.test);
          await revoke(world);
        },
      ],
      [
        'in time, with the delegation forgotten as far as it can be',
        async (world) => {
          await timeOut(world.test);
          await revoke(world);
          clock.advance(120_000);
          world.test.gov.ops.sweep();
          await world.test.settle(
            world.test.gov.journal.turn(ownWork, () => forgetEndedDelegations(world.test.gov, 10)),
          );
        },
      ],
    ])('%s', async (_, happens) => {
      const world = await squatted();
      await happens(world);
      await admitted(world.test);
      expect(await world.test.check(bot)).toMatchObject({ decision: 'allow' });
      await timeOut(world.test);
      expect(await world.test.check(bot)).toMatchObject({ decision: 'allow' });
      const restarted = await world.test.crash();
      expect(restarted.known(bot.id).blocked).toBe(false);
      expect((await storedReceipt(restarted, bot, 1)).status).toBe('unconfirmed');
    });

    test('and the log says that the stop blocks it no more', async () => {
      const { test } = await squatted();
      await timeOut(test);
      await admitted(test);
      const told = (await test.audit()).filter(({ event_type }) => event_type === 'OpControlUnconfirmed');
      expect(told).toMatchObject([
        { reason: 'not acknowledged in time', payload: { blocked: true } },
        { reason: 'the agent of a workload has its id', payload: { blocked: false } },
      ]);
    });

    test('but the next delegate with its id does, until somebody lifts it', async () => {
      const world = await squatted();
      const { test, boss } = world;
      await timeOut(test);
      await revoke(world);
      const granted = await test.settle(delegateAgent(test.gov, boss, 'bot'));
      const next = { id: granted.agentId, token: granted.token };
      expect(await test.check(next)).toMatchObject({ decision: 'deny', reason: 'agent has not confirmed a stop' });
    });
  });

  test('is still stopped if an agent of its own has its name, and nobody can delegate that debt away', async () => {
    const test = await governed(true);
    const boss = await test.register(agentId('acme/prod/boss'));
    await admitted(test);
    await listen(test, bot);
    await test.check(bot, { traceId: 't', spanId: 's' });
    await control(test, bot, 't:s', 'terminate');
    await test.deregister(bot);
    const refused = { code: 'suspended' };
    await expect(test.settle(delegateAgent(test.gov, boss, 'bot'))).rejects.toMatchObject(refused);
    clock.advance(10_000);
    timeOutControls(test.gov, 100, alwaysListened);
    await test.settle(test.gov.journal.committed());
    await expect(test.settle(delegateAgent(test.gov, boss, 'bot'))).rejects.toMatchObject(refused);
    await admitted(test);
    expect(await test.check(bot)).toMatchObject({ decision: 'deny', reason: 'agent has not confirmed a stop' });
  });

  test('without register never acts as a delegate that has its id', async () => {
    const test = await governed(false);
    const boss = await test.register(agentId('acme/prod/boss'));
    const { agentId: id, token } = await test.settle(delegateAgent(test.gov, boss, 'bot'));
    await admitted(test);
    const reason = 'token is of a workload, and a delegate has its id';
    expect(await test.check(bot)).toMatchObject({ decision: 'deny', policyRule: 'identity', reason });
    expect(() => identifyByToken(test.gov, bot.token)).toThrow(reason);
    expect(await test.check({ id, token })).toMatchObject({ decision: 'allow' });
  });

  test('costs other tokens nothing', async () => {
    const test = await governed(true);
    expect(admitWorkload(test.gov, 'rva_x', bot.id)).toBeUndefined();
    expect(admitWorkload((await testGovernance()).gov, bot.token, bot.id)).toBeUndefined();
  });

  test('of an org that is full is refused', async () => {
    const test = await testGovernance({ clock, workloads: issuerOf(true), agentBounds: { agents: 0 } });
    await expect(admitted(test)).rejects.toMatchObject({ code: 'too_many_agents' });
  });
});

test('that comes to two gateways at once is registered once', async () => {
  const { one, two, settle, follow } = await twoGateways('default: allow', { workloads: issuerOf(true) });
  await follow();
  const both = [one, two].map(({ gov }) => admitWorkload(gov, bot.token, bot.id));
  await settle();
  for (const admitting of both) await admitting;
  await follow();
  expect((await one.audit()).filter(({ event_type }) => event_type === 'AgentRegistered')).toHaveLength(1);
  for (const { gov } of [one, two]) expect(gov.directory.size).toBe(1);
});

test('that comes to one gateway while its id is delegated at another has its id in the end', async () => {
  const { one, two, settle, settled, register, follow } = await twoGateways('default: allow', {
    workloads: issuerOf(true),
  });
  const boss = await register('acme/prod/boss');
  await follow();
  const admitting = admitWorkload(one.gov, bot.token, bot.id);
  const delegating = delegateAgent(two.gov, boss, bot.id.agentId).catch((error: unknown) => error);
  await settle();
  await admitting;
  await delegating;
  await follow();
  await settled(Promise.resolve(admitWorkload(two.gov, bot.token, bot.id)));
  await follow();
  for (const { gov } of [one, two]) {
    expect(identifyByToken(gov, bot.token)).toMatchObject({ agentId: bot.id });
    expect([...gov.directory.delegations.all].filter(({ endedAt }) => endedAt === null)).toEqual([]);
  }
});
