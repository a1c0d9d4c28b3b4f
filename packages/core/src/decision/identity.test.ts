import { describe, expect, test } from 'vitest';
import { agentId } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';

const acmeBot = agentId('acme/search/bot');
const umbrellaBot = agentId('umbrella/search/bot');

async function governed(): Promise<{ test: TestGovernance; acme: TestAgent; umbrella: TestAgent }> {
  const test = await testGovernance();
  await test.policies('default: allow');
  const acme = await test.register(acmeBot);
  const umbrella = await test.register(umbrellaBot);
  return { test, acme, umbrella };
}

async function suspend(test: TestGovernance, agent: TestAgent): Promise<void> {
  const { record, lastSeenAt } = test.known(agent.id);
  test.gov.directory.put(
    { ...record, suspension: { at: test.clock.now(), reason: 'odd', width: 'unbound' } },
    lastSeenAt,
  );
  await Promise.resolve();
}

interface Refusal {
  readonly reason: string;
  readonly claim: (world: { acme: TestAgent; umbrella: TestAgent }) => TestAgent;
  readonly suspended?: true;
  readonly eventType: 'ActionDenied' | 'A2AImpersonationAttempted';
  readonly org: string | null;
}

/** Contract, section 4: the five refusals, and whose org each is recorded under (section 8). */
const refusals: readonly (readonly [string, Refusal])[] = [
  [
    'no token for a registered agent',
    {
      reason: 'missing credential token',
      claim: ({ acme }) => ({ ...acme, token: '' }),
      eventType: 'ActionDenied',
      org: 'acme',
    },
  ],
  [
    'no token for an unknown agent',
    {
      reason: 'missing credential token',
      claim: () => ({ id: agentId('acme/search/ghost'), token: '' }),
      eventType: 'ActionDenied',
      org: null,
    },
  ],
  [
    'a token that nobody has, for a registered agent',
    {
      reason: 'credential token mismatch',
      claim: ({ acme }) => ({ ...acme, token: 'made-up' }),
      eventType: 'ActionDenied',
      org: 'acme',
    },
  ],
  [
    'a token that nobody has, for an unknown agent',
    {
      reason: 'agent is not registered',
      claim: () => ({ id: agentId('acme/search/ghost'), token: 'made-up' }),
      eventType: 'ActionDenied',
      org: null,
    },
  ],
  [
    "another org's token, for an unknown agent",
    {
      reason: 'credential token registered to a different agent',
      claim: ({ acme }) => ({ id: agentId('umbrella/search/ghost'), token: acme.token }),
      eventType: 'A2AImpersonationAttempted',
      org: 'acme',
    },
  ],
  [
    "another org's token, for a registered agent",
    {
      reason: 'credential token registered to a different agent',
      claim: ({ acme, umbrella }) => ({ ...umbrella, token: acme.token }),
      eventType: 'A2AImpersonationAttempted',
      org: 'acme',
    },
  ],
  [
    'its own token under another team',
    {
      reason: 'credential token registered to a different agent',
      claim: ({ acme }) => ({ id: agentId('acme/other/bot'), token: acme.token }),
      eventType: 'A2AImpersonationAttempted',
      org: 'acme',
    },
  ],
  [
    'its own token without its org',
    {
      reason: 'credential token registered to a different agent',
      claim: ({ acme }) => ({ id: agentId('/search/bot'), token: acme.token }),
      eventType: 'A2AImpersonationAttempted',
      org: 'acme',
    },
  ],
  [
    'a suspended agent',
    {
      reason: 'agent is suspended',
      claim: ({ acme }) => acme,
      suspended: true,
      eventType: 'ActionDenied',
      org: 'acme',
    },
  ],
];

describe.each(refusals)('%s', (_, { reason, claim, suspended, eventType, org }) => {
  test(`is denied: ${reason}`, async () => {
    const { test, acme, umbrella } = await governed();
    if (suspended === true) await suspend(test, acme);
    const answer = await test.check(claim({ acme, umbrella }), { traceId: 't', spanId: 's' });
    expect(answer).toMatchObject({ decision: 'deny', reason, policyRule: 'identity', opId: '', opState: '' });
  });

  test('leaves no operation, one entry, and an event where the tenant is known', async () => {
    const { test, acme, umbrella } = await governed();
    if (suspended === true) await suspend(test, acme);
    const before = (await test.audit()).length;
    const published = test.events.length;
    const claimed = claim({ acme, umbrella });
    await test.check(claimed, { traceId: 't', spanId: 's' });
    for (const agent of test.gov.directory.all()) expect(test.gov.ops.of(agent).size).toBe(0);
    const decision = { type: 'decision', decision: 'deny', reason, policyRule: 'identity', opId: '', agent: acme.id };
    const alert = {
      type: 'audit_alert',
      alert: 'impersonation',
      agent: acme.id,
      details: { claimed_org_id: claimed.id.orgId, owner_org_id: 'acme', owner_agent_id: acme.id.agentId },
    };
    expect(test.events.slice(published)).toMatchObject([
      ...(org === null ? [] : [decision]),
      ...(eventType === 'A2AImpersonationAttempted' ? [alert] : []),
    ]);
    const entries = (await test.audit()).slice(before);
    expect(entries).toMatchObject([
      {
        event_type: eventType,
        decision: 'deny',
        reason,
        policy_rule: 'identity',
        op_id: null,
        trace_id: 't',
        span_id: 's',
        lineage: { org_id: org },
        payload: {
          action_type: 'tool_call',
          claimed_org_id: claimed.id.orgId,
          claimed_team_id: claimed.id.teamId,
          claimed_agent_id: claimed.id.agentId,
        },
      },
    ]);
  });

  test('is refused before any policy is asked', async () => {
    const { test, acme, umbrella } = await governed();
    if (suspended === true) await suspend(test, acme);
    const asked = test.gov.policies.evaluate;
    test.gov.policies.evaluate = () => {
      throw new Error('policy must not be asked');
    };
    const answer = await test.check(claim({ acme, umbrella }));
    test.gov.policies.evaluate = asked;
    expect(answer.policyRule).toBe('identity');
  });
});

test('an impersonation is recorded as an act of the real owner, with whom it claimed to be', async () => {
  const { test, acme, umbrella } = await governed();
  await test.check({ ...umbrella, token: acme.token });
  expect((await test.audit()).at(-1)).toMatchObject({
    event_type: 'A2AImpersonationAttempted',
    actor: { id: 'acme/search/bot', kind: 'agent', label: 'bot' },
    lineage: { org_id: 'acme', team_id: 'search', agent_id: 'bot' },
    payload: {
      claimed_org_id: 'umbrella',
      claimed_team_id: 'search',
      claimed_agent_id: 'bot',
      owner_org_id: 'acme',
      owner_team_id: 'search',
      owner_agent_id: 'bot',
    },
  });
});

test('a claim that nobody vouches for names no tenant, whatever it claims', async () => {
  const { test } = await governed();
  await test.check({ id: agentId('acme/search/ghost'), token: 'made-up' });
  expect((await test.audit()).at(-1)).toMatchObject({
    actor: { id: 'acme/search/ghost', kind: 'unauthenticated', label: '' },
    lineage: {
      org_id: null,
      team_id: 'search',
      agent_id: 'ghost',
      root_agent_id: 'ghost',
      parent_agent_id: null,
      depth: 0,
    },
  });
});

test('a suspended agent that borrows a token is an impersonator first', async () => {
  const { test, acme, umbrella } = await governed();
  await suspend(test, acme);
  const answer = await test.check({ ...acme, token: umbrella.token });
  expect(answer.reason).toBe('credential token registered to a different agent');
});

test('an old token is no longer known once it was replaced', async () => {
  const { test, acme } = await governed();
  const renewed = await test.register(acmeBot);
  expect(await test.check(acme)).toMatchObject({ decision: 'deny', reason: 'credential token mismatch' });
  expect(await test.check(renewed)).toMatchObject({ decision: 'allow' });
});

test('a deregistered agent is not registered', async () => {
  const { test, acme } = await governed();
  await test.deregister(acme);
  expect(await test.check(acme)).toMatchObject({ decision: 'deny', reason: 'agent is not registered' });
});

test('no token enters the log', async () => {
  const { test, acme, umbrella } = await governed();
  await test.check(acme);
  await test.check({ ...umbrella, token: acme.token });
  const log = JSON.stringify(await test.audit());
  expect(log).not.toContain(acme.token);
  expect(log).not.toContain(umbrella.token);
});
