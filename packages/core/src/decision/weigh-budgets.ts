import type { Action, CheckRequest } from '../action/index.ts';
import type { Decision } from '../audit/index.ts';
import { redactText } from '../audit/index.ts';
import { findPrice, knownPriceOf, priceOf } from '../budget/index.ts';
import type { BudgetPolicy, Exceeded, KnownBalances, PriceSource, TierOf } from '../budget/index.ts';
import { timestamp, minus, usdOfMicros } from '../kernel/index.ts';
import type { AgentId, Micros } from '../kernel/index.ts';
import type { Asking, PolicySet, Tier, Verdict } from '../policy/index.ts';
import { alsoOfBudget } from '../policy/index.ts';
import type { Limit } from './answer.ts';

/** What the budgets make of a policy verdict. */
export interface Weighed {
  readonly decision: Decision;
  readonly reason: string;
  readonly policyRule: string;
  readonly tier: Tier;
  /** The cap that the charge would pass. */
  readonly exceeded: Exceeded | undefined;
  /** The terms on which people are asked, if they are. */
  readonly asking: Asking | undefined;
}

/** The caps that a charge must respect: those in force, or those of a candidate. */
export interface Caps {
  readonly policy: Pick<BudgetPolicy, 'actionOnExceed'>;
  exceededBy(charge: Micros): Exceeded | undefined;
}

interface Weighing {
  readonly ledger: Pick<KnownBalances, 'resetsAt'>;
  /** The most that one action may cost. */
  readonly mostActionMicros: Micros;
}

/**
 * The verdict of the budgets, for decisions, simulations and cases alike. It reserves, records and tells nothing.
 * `isTold` says whether the reason may name the amounts of a tier.
 */
export function weighBudgets(
  { ledger, mostActionMicros }: Weighing,
  caps: Caps,
  { agentId, action }: Pick<CheckRequest, 'agentId' | 'action'>,
  { effect, reason, rule: policyRule, tier, asking }: Verdict,
  { micros: charge, price }: Charge,
  isTold: (of: TierOf, agent: AgentId) => boolean = isToldAmounts,
): Weighed {
  const none = { exceeded: undefined, asking: undefined };
  if (effect === 'deny') return { decision: 'deny', reason, policyRule, tier, ...none };
  if (charge === undefined) return { decision: 'deny', ...unpricedReason(action), tier: 'budget', ...none };
  if (charge > mostActionMicros) {
    return { decision: 'deny', ...overpricedReason(action, charge, mostActionMicros), tier: 'budget', ...none };
  }
  const exceeded = charge === 0 ? undefined : caps.exceededBy(charge);
  if (exceeded === undefined) {
    if (effect === 'allow') return { decision: 'allow', reason, policyRule, tier, ...none };
    return { decision: 'pending', reason, policyRule, tier, exceeded, asking };
  }
  const cost = `${usdOfMicros(charge)} USD${price === undefined || price === 'configured' ? '' : ` (price ${price})`}`;
  const refusal = exceededReason(ledger, exceeded, cost, { agentId, isTold: isTold(exceeded.of, agentId) });
  if (caps.policy.actionOnExceed === 'deny') {
    return { decision: 'deny', ...refusal, tier: 'budget', exceeded, asking: undefined };
  }
  // The terms of the rule still hold.
  const both = effect === 'require_approval' ? `${refusal.reason}; and ${reason}` : refusal.reason;
  return { decision: 'pending', ...refusal, reason: both, tier: 'budget', exceeded, asking: alsoOfBudget(asking) };
}

/** The most that an action costs. */
export interface Charge {
  /** Undefined if the model has no price and policy refuses such calls. */
  readonly micros: Micros | undefined;
  /** Where the price of the model comes from, if that price decided. */
  readonly price?: PriceSource;
}

/**
 * The most that an action costs. The agent's estimate counts, but never below a price that policy knows. Without an
 * estimate, a model call costs its tokens at the model's price; anything else costs nothing.
 */
export function chargeOf({ pricing }: PolicySet, { estimatedCostMicros, action }: CheckRequest): Charge {
  if (action.type !== 'llm_call') return { micros: estimatedCostMicros ?? 0 };
  const known = knownPriceOf(pricing, action);
  if (known === undefined) return { micros: estimatedCostMicros ?? priceOf(pricing, action) };
  if (estimatedCostMicros !== null && estimatedCostMicros >= known) return { micros: estimatedCostMicros };
  const source = findPrice(pricing, action.model)?.source;
  return source === undefined ? { micros: known } : { micros: known, price: source };
}

interface Refusal {
  readonly reason: string;
  readonly policyRule: string;
}

const budgetRule = /^budget\/(?:(?:global|org|team|agent)\.(?:day|month)|pricing)$/;

/** Whether a budget decided, not a rule. An org may be called `budget`, and its document names begin with that. */
export function isBudgetRule(policyRule: string): boolean {
  return budgetRule.test(policyRule);
}

/** The refusal of a call whose model has no price, if policy refuses such calls. */
function unpricedReason({ model }: Action): Refusal {
  return {
    reason: `the model "${redactText(model)}" has no price, and policy refuses such; estimate the cost or add a price`,
    policyRule: 'budget/pricing',
  };
}

/** The refusal of a call whose tokens cost more than one action may. */
function overpricedReason({ model }: Action, charge: Micros, mostMicros: Micros): Refusal {
  return {
    reason:
      `by the price of the model "${redactText(model)}" this call costs ${usdOfMicros(charge)} USD at most, and one ` +
      `action may cost ${usdOfMicros(mostMicros)} USD; ask for fewer tokens`,
    policyRule: 'budget/pricing',
  };
}

/** Whether an agent may learn the amounts of a tier. Global spend is no org's business. */
function isToldAmounts({ tier }: TierOf, { orgId }: AgentId): boolean {
  return tier !== 'global' || orgId === '';
}

/** Names the cap that a charge would pass, and what is left of it if the reader may learn that. */
function exceededReason(
  ledger: Pick<KnownBalances, 'resetsAt'>,
  exceeded: Exceeded,
  cost: string,
  { agentId: { agentId }, isTold }: { readonly agentId: AgentId; readonly isTold: boolean },
): Refusal {
  const { of, period, limitMicros, totalMicros } = exceeded;
  const isAnothers = of.tier === 'agent' && of.agentId !== agentId;
  const own = of.tier === 'global' ? 'global cap' : `${of.tier}'s cap`;
  const whose = isAnothers ? `cap of the agent "${of.agentId}", on whose behalf it acts,` : own;
  const until = timestamp(ledger.resetsAt(period));
  const policyRule = `budget/${of.tier}.${period}`;
  if (!isTold) return { reason: `${cost} would pass the ${whose} of the ${period}, which ends ${until}`, policyRule };
  const left = usdOfMicros(totalMicros < limitMicros ? minus(limitMicros, totalMicros) : 0);
  const reason = `${cost} would pass the ${whose} of ${usdOfMicros(limitMicros)} USD a ${period}; ${left} USD are left until ${until}`;
  return { reason, policyRule };
}

/** The cap that a refused charge would have passed, as the agent may see it. */
export function limitTold({ of, period, limitMicros, totalMicros }: Exceeded, agent: AgentId): Limit {
  const { tier } = of;
  return isToldAmounts(of, agent)
    ? { tier, period, limitMicros, totalMicros }
    : { tier, period, limitMicros: 0, totalMicros: 0 };
}
