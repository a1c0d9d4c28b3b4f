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

  test('leaves no trace: no entry, no event, no books, no agent', async () => {
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
