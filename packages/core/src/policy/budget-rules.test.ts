import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Caps } from '../budget/budget-policy.ts';
import { budgetPolicy } from '../budget/budget-policy.ts';
import { periods } from '../budget/period.ts';
import type { TierOf } from '../budget/tier.ts';
import { tiersOf } from '../budget/tier.ts';
import { agentId } from '../testkit/requests.ts';
import { budgetRules } from './policy-set.ts';
import type { PolicyDocument, PolicyScope } from './document.ts';

const scopes: readonly Exclude<PolicyScope, { tier: 'global' }>[] = [
  { tier: 'org', orgId: 'acme' },
  { tier: 'team', orgId: 'acme', teamId: 'web' },
  { tier: 'agent', orgId: 'acme', teamId: 'web', agentId: 'bot' },
  { tier: 'org', orgId: 'umbrella' },
];
const amount = fc.integer({ min: 0, max: 9 });
const caps = fc.record({ day: amount, month: amount }, { requiredKeys: [] });
const uniform: fc.Arbitrary<PolicyDocument> = fc
  .record({ global: caps, org: caps, team: caps, agent: caps }, { requiredKeys: [] })
  .map((tiers) => ({ name: 'base', scope: { tier: 'global' }, rules: [], budget: { caps: tiers } }));
const scoped = (author: 'org' | 'team' | undefined): fc.Arbitrary<PolicyDocument> =>
  fc.record({ scope: fc.constantFrom(...scopes), own: caps }).map(({ scope, own }) => ({
    name: 'x',
    scope,
    rules: [],
    budget: { caps: { [scope.tier]: own } },
    ...(author === undefined ? {} : { author }),
  }));
const operators = fc.tuple(uniform, fc.array(scoped(undefined), { maxLength: 4 })).map(([base, own]) => [base, ...own]);
const tenants = fc.array(fc.oneof(scoped('org'), scoped('team')), { maxLength: 6 });
const tiers: readonly TierOf[] = ['acme/web/bot', 'umbrella/web/bot'].flatMap((id) => tiersOf(agentId(id)));

const capsUnder = (documents: readonly PolicyDocument[]) => {
  const policy = budgetPolicy(budgetRules(documents));
  return (of: TierOf): Caps => policy.capsOf(of);
};
const orInfinity = (cap: number | null | undefined) => cap ?? Infinity;

describe('caps', () => {
  test('of bound authors only lower what holds without them, each period by itself', () => {
    fc.assert(
      fc.property(operators, tenants, (operator, tenant) => {
        const without = capsUnder(operator);
        const withThem = capsUnder([...operator, ...tenant]);
        for (const of of tiers) {
          const said = tenant
            .filter(({ scope }) => isOf(scope, of))
            .map(({ scope, budget }) => budget?.caps[scope.tier]);
          for (const period of periods) {
            const lowest = Math.min(orInfinity(without(of)[period]), ...said.map((each) => orInfinity(each?.[period])));
            expect(orInfinity(withThem(of)[period])).toBe(lowest);
          }
        }
      }),
    );
  });

  test('are the same in whatever order documents of bound authors and the operator’s come', () => {
    fc.assert(
      fc.property(operators, tenants, (operator, tenant) => {
        const [first, second] = [capsUnder([...operator, ...tenant]), capsUnder([...tenant.toReversed(), ...operator])];
        for (const of of tiers) expect(first(of)).toEqual(second(of));
      }),
    );
  });

  test('of the operator for one tenant stand in place of the uniform ones, also where they are higher', () => {
    const base: PolicyDocument = {
      name: 'base',
      scope: { tier: 'global' },
      rules: [],
      budget: { caps: { org: { day: 5, month: 50 } } },
    };
    const vip: PolicyDocument = {
      name: 'vip',
      scope: { tier: 'org', orgId: 'acme' },
      rules: [],
      budget: { caps: { org: { day: 9 } } },
    };
    const [, org] = tiers;
    expect(org === undefined ? undefined : capsUnder([base, vip])(org)).toEqual({ day: 9, month: 50 });
    const greedy: PolicyDocument = { ...vip, name: 'acme/vip', author: 'org', budget: { caps: { org: { day: 999 } } } };
    expect(org === undefined ? undefined : capsUnder([base, vip, greedy])(org)).toEqual({ day: 9, month: 50 });
  });
});

function isOf(scope: PolicyScope, of: TierOf): boolean {
  return (
    scope.tier === of.tier &&
    Object.entries(scope).every(([member, id]) =>
      Object.entries(of).some(([name, other]) => name === member && other === id),
    )
  );
}
