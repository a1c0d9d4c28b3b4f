import { reserve } from '../testkit/charges.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { action } from '../action/action.ts';
import type { RawCheckRequest } from '../action/check-request.ts';
import { agentId, checkOf, operator, useTool } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { simulate } from './simulate.ts';

const bot = agentId('acme/search/bot');

function policyWith(onExceed: string): string {
  return `
name: p
rules:
  - {name: tools, effect: allow, tools: ["t*"]}
  - {name: no, effect: deny, tools: [t3]}
  - {name: ask, effect: require_approval, tools: [t4]}
  - {name: models, effect: allow, models: ["*"]}
budget: {agent_daily_limit_usd: 1, org_monthly_limit_usd: 2, action_on_exceed: ${onExceed}}
pricing:
  unknown_price: deny
  gpt-*: {input_per_mtok_usd: 1, output_per_mtok_usd: 2}
`;
}

async function governed(policy: string): Promise<TestGovernance> {
  const test = await testGovernance();
  await test.policies(policy);
  return test;
}

function simulated(test: TestGovernance, members: Partial<RawCheckRequest>, text?: string) {
  const candidate = text === undefined ? undefined : { text, merge: false };
  return simulate(test.gov, operator, checkOf({ agentId: bot, ...members }), candidate);
}

describe('a simulation', () => {
  const asked = fc.oneof(
    fc.constantFrom('t1', 't3', 't4', 'other').map((tool) => useTool(tool)),
    fc
      .tuple(fc.constantFrom('gpt-5', 'claude'), fc.nat(400_000))
      .map(([model, promptTokens]) => action('llm_call', { model, promptTokens })),
  );
  const check = fc.record({
    action: asked,
    estimatedCostMicros: fc.option(fc.constantFrom(0, 100_000, 400_000, 1_500_000)),
  });

  test.each(['deny', 'require_approval'])(
    'says what a check is then answered, where caps are to %s',
    async (onExceed) => {
      await fc.assert(
        fc.asyncProperty(fc.array(check, { minLength: 1, maxLength: 12 }), async (checks) => {
          const test = await governed(policyWith(onExceed));
          const agent = await test.register(bot);
          for (const members of checks) {
            const { decision, reason, policyRule, costMicros } = simulated(test, members);
            const answer = await test.check(agent, members);
            expect({ decision, reason, policyRule }).toEqual({
              decision: answer.decision,
              reason: answer.reason,
              policyRule: answer.policyRule,
            });
            const { payload } = (await test.audit()).find((entry) => entry.op_id === answer.opId) ?? {};
            expect(payload?.['cost_micros']).toBe(costMicros);
          }
        }),
        { numRuns: 40 },
      );
    },
  );

  test('leaves no trace: no entry, no event, no balance, no agent', async () => {
    const test = await governed(policyWith('deny'));
    const before = { entries: (await test.audit()).length, events: test.events.length, commits: test.commits.length };
    for (let time = 0; time < 5; time++) {
      expect(simulated(test, { estimatedCostMicros: 900_000 }).decision).toBe('deny');
      expect(simulated(test, { action: useTool('t1'), estimatedCostMicros: 900_000 }).decision).toBe('allow');
    }
    test.turn();
    expect({ entries: (await test.audit()).length, events: test.events.length, commits: test.commits.length }).toEqual(
      before,
    );
    expect(test.gov.ledger.all()).toEqual([]);
    expect(test.gov.directory.size).toBe(0);
  });

  test('under a candidate leaves what is in force as it was', async () => {
    const test = await governed(policyWith('deny'));
    const { policies } = test.gov;
    expect(simulated(test, { action: useTool('t1') }, 'name: other').decision).toBe('deny');
    expect(simulated(test, { action: useTool('t1'), estimatedCostMicros: 5_000_000 }, 'default: allow').decision).toBe(
      'allow',
    );
    expect(test.gov.policies).toBe(policies);
    expect(simulated(test, { action: useTool('t1') }).decision).toBe('allow');
  });
});

describe('to whoever is bound to a tenant a simulation', () => {
  const bound = { ...operator, orgId: 'acme' };
  const spending = { estimatedCostMicros: 600_000, action: useTool('t1') };
  const policy = (caps: string) => `default: allow\nbudget: {${caps}}\n`;

  test('says nothing of what everybody has spent', async () => {
    const test = await governed(policy('daily_limit_usd: 1'));
    reserve(test.gov.ledger, agentId('umbrella/lab/rat'), 600_000);
    const check = checkOf({ agentId: bot, ...spending });
    expect(simulate(test.gov, operator, check, undefined)).toMatchObject({
      decision: 'deny',
      policyRule: 'budget/global.day',
    });
    expect(simulate(test.gov, bound, check, undefined)).toMatchObject({ decision: 'allow', costMicros: 600_000 });
  });

  test('looks at the caps of its own org', async () => {
    const test = await governed(policy('org_daily_limit_usd: 1'));
    reserve(test.gov.ledger, bot, 600_000);
    const check = checkOf({ agentId: bot, ...spending });
    expect(simulate(test.gov, bound, check, undefined)).toMatchObject({ policyRule: 'budget/org.day' });
  });

  test('is refused where the agent is another tenant’s, and to whoever may not read', async () => {
    const test = await governed(policy(''));
    const ask = (by: typeof operator) => simulate(test.gov, by, checkOf({ agentId: bot }), undefined);
    expect(() => ask({ ...operator, orgId: 'umbrella' })).toThrow(expect.objectContaining({ code: 'outside_tenant' }));
    expect(() => ask({ ...operator, scopes: [] })).toThrow(expect.objectContaining({ code: 'insufficient_scope' }));
  });
});

describe('a simulation tells on which terms people would be asked', () => {
  const rules = 'rules: [{name: ask, effect: require_approval, tools: [t1], approvals: {count: 2, ttl_secs: 60}}]';
  const budget = 'budget: {agent_daily_limit_usd: 1, action_on_exceed: require_approval}';
  const dear = { estimatedCostMicros: 2_000_000 };

  test.each<[string, Partial<RawCheckRequest>, object | undefined]>([
    ['a rule', { action: useTool('t1') }, { rules: ['p/ask'], count: 2, waitMs: 60_000, grants: true }],
    ['a budget', { action: useTool('t2'), ...dear }, { rules: [], count: 1, waitMs: 300_000, grants: false }],
    ['both', { action: useTool('t1'), ...dear }, { rules: ['p/ask'], count: 2, waitMs: 60_000, grants: false }],
    ['nobody', { action: useTool('t2') }, undefined],
  ])('by %s', async (_, members, approvals) => {
    const test = await governed(`name: p\ndefault: allow\n${rules}\n${budget}\n`);
    const { decision, approvals: told } = simulated(test, members);
    expect([decision, told]).toEqual([approvals === undefined ? 'allow' : 'pending', approvals]);
  });
});
