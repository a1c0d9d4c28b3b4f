import { expect, test } from 'vitest';
import { ManualClock } from '../testkit/manual-clock.ts';
import { agentId } from '../testkit/requests.ts';
import { Ledger } from './ledger.ts';
import { approverWidth } from './cap-rule.ts';
import type { BudgetRules } from './budget-policy.ts';
import { budgetPolicy, noBudgets } from './budget-policy.ts';
import { tiersOf } from './tier.ts';

const bot = agentId('acme/search/bot');
const [, org, team] = tiersOf(bot);
if (org === undefined || team === undefined) throw new Error('the agent has an org and a team');

const day = (micros: number) => ({ day: micros, month: null });
const uniform = (caps: Partial<BudgetRules['uniform']>) => ({ uniform: { ...noBudgets.uniform, ...caps } });

test.each<[string, string, Partial<BudgetRules>]>([
  ['no', 'team', {}],
  ['everybody’s', 'unbound', uniform({ global: day(5) })],
  ['its org’s', 'unbound', uniform({ org: day(5) })],
  ['its team’s', 'org', uniform({ team: day(5) })],
  ['its own', 'team', uniform({ agent: day(5) })],
  ['its own, not its org’s', 'team', uniform({ agent: day(5), org: day(10) })],
  ['its own and its org’s', 'unbound', uniform({ agent: day(5), org: day(5) })],
  ['its org’s own', 'org', { lowered: [{ of: org, caps: { day: 5 } }] }],
  ['its org’s lowered', 'org', { ...uniform({ org: day(10) }), lowered: [{ of: org, caps: { day: 5 } }] }],
  [
    'its org’s lowered, and the operator’s',
    'unbound',
    { ...uniform({ org: day(9) }), lowered: [{ of: org, caps: { day: 5 } }] },
  ],
  ['its team’s lowered', 'org', { lowered: [{ of: team, caps: { day: 5 } }] }],
])('a charge past %s cap needs an approver of the width %s', (_, width, rules) => {
  const ledger = new Ledger(new ManualClock(), budgetPolicy({ ...noBudgets, ...rules }));
  expect(approverWidth(ledger, tiersOf(bot), 10)).toBe(width);
});
