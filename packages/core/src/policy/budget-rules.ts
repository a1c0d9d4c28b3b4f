import type { BudgetRules, Caps } from '../budget/budget-policy.ts';
import { noBudgets, noCaps } from '../budget/budget-policy.ts';
import type { BudgetTier, TierOf } from '../budget/tier.ts';
import type { PolicyDocument, PolicyScope } from './document.ts';

/** What all documents together say of budgets: the global one of everybody, scoped ones of their tenant. */
export function budgetRules(documents: readonly PolicyDocument[]): BudgetRules {
  const global = documents.find(({ scope, budget }) => scope.tier === 'global' && budget !== undefined)?.budget;
  const uniform = (tier: BudgetTier): Caps => ({ ...noCaps, ...global?.caps[tier] });
  return {
    timeZone: global?.timeZone ?? noBudgets.timeZone,
    actionOnExceed: global?.actionOnExceed ?? noBudgets.actionOnExceed,
    uniform: { global: uniform('global'), org: uniform('org'), team: uniform('team'), agent: uniform('agent') },
    own: ownCaps(documents.filter(({ author }) => author === undefined)),
    lowered: ownCaps(documents.filter(({ author }) => author !== undefined)),
  };
}

function ownCaps(documents: readonly PolicyDocument[]): BudgetRules['own'] {
  return documents.flatMap(({ scope, budget }) =>
    scope.tier === 'global' || budget === undefined ? [] : [{ of: tierOf(scope), caps: budget.caps[scope.tier] ?? {} }],
  );
}

function tierOf(scope: Exclude<PolicyScope, { tier: 'global' }>): TierOf {
  const nobody = { orgId: '', teamId: '', agentId: '' };
  return { ...nobody, ...scope };
}
