import type { Principal } from '../access/index.ts';
import { requireScope, requireUnbound } from '../access/index.ts';
import { canonicalJson, draftOf, lineageOfId, redactText } from '../audit/index.ts';
import { checkLength, invalid, ReeveError, minus, parseUsd, plus, totalJson, usdOfMicros } from '../kernel/index.ts';
import type { Budgets } from './budgets.ts';
import type { AgentId, Total } from '../kernel/index.ts';
import type { BudgetRow } from './read-budgets.ts';
import { rowOf } from './read-budgets.ts';
import { noteApproached } from './note-approached.ts';
import type { Period } from './period.ts';
import { periods } from './period.ts';
import type { TierOf } from './tier.ts';
import { tiersUpFrom } from './tier.ts';

const longestReason = 8192;

export interface Correction {
  /** Names the tier: an agent, an org, or a team of an org. */
  readonly agent?: AgentId | undefined;
  readonly orgId?: string | undefined;
  readonly teamId?: string | undefined;
  /** Dollars with their sign, `-1.50`. */
  readonly amountUsd: string;
  readonly reason: string;
}

/**
 * Corrects what was settled today and this month, in a tier and all tiers above it. A day loses no more than the least
 * that any of these tiers has spent on it: what was booked on other days counts for the month alone. No month falls
 * below zero.
 */
export async function correctBudget(gov: Budgets, by: Principal, correction: Correction): Promise<BudgetRow[]> {
  requireScope(by, 'admin');
  requireUnbound(by);
  checkLength('reason', correction.reason, longestReason);
  if (correction.reason.trim() === '') throw invalid('reason', 'must say why');
  return await gov.journal.turn(gov.callers.warrantOf(by), () => correct(gov, by, correction));
}

function correct(gov: Budgets, by: Principal, correction: Correction): BudgetRow[] {
  const of = tierNamed(correction);
  requireKnown(gov, of);
  const tiers = tiersUpFrom(of);
  const amounts = amountsOf(gov, tiers, correction.amountUsd);
  const approached = gov.ledger.approachedBy(tiers, { reserved: 0, settled: amounts });
  const day = gov.ledger.bookedTo;
  const at = gov.clock.now();
  const lineage = gov.directory.find(of)?.lineage ?? lineageOfId(of);
  gov.journal.record(
    draftOf({
      at,
      eventType: 'BudgetCorrected',
      lineage,
      actor: by.actor,
      reason: redactText(correction.reason),
      payload: canonicalJson({
        amount_micros: totalJson(amounts.month),
        booked: day,
        day_amount_micros: totalJson(amounts.day),
        ...(by.requestId === undefined ? {} : { request_id: by.requestId }),
        tier: of.tier,
      }),
    }),
  );
  const rows = () => tiers.flatMap((tier) => periods.map((period) => rowOf(gov, tier, period)));
  for (const { of: corrected, period, limitMicros, spentMicros, reservedMicros } of rows()) {
    const amountMicros = amounts[period];
    if (amountMicros === 0) continue;
    gov.journal.apply({
      type: 'budget',
      at,
      of: corrected,
      change: 'corrected',
      period,
      day,
      percent: null,
      amountMicros,
      limitMicros,
      totalMicros: plus(plus(spentMicros, amountMicros), reservedMicros),
    });
  }
  noteApproached(gov, lineage, approached);
  return rows();
}

function tierNamed({ agent, orgId = '', teamId = '' }: Correction): TierOf {
  if (agent === undefined) {
    if (orgId === '') throw invalid('org_id', 'must be given where no agent is');
    return { tier: teamId === '' ? 'org' : 'team', orgId, teamId, agentId: '' };
  }
  if (orgId !== '' || teamId !== '') throw invalid('agent', 'must stand alone, without org_id and team_id');
  return { tier: 'agent', ...agent };
}

/** Refuses misspelt names: an agent of the tier must be registered, or the tier must have spent something. */
function requireKnown(gov: Budgets, of: TierOf): void {
  const { spent, reserved } = gov.ledger.read(of);
  if (spent.month !== 0 || spent.day !== 0 || reserved !== 0) return;
  const { orgId, teamId } = of;
  if (of.tier === 'agent') {
    if (gov.directory.find(of) === undefined) throw unknown('agent_not_found', of);
  } else {
    const [known] = of.tier === 'team' ? gov.directory.inTeam(orgId, teamId) : gov.directory.inOrg(orgId);
    if (known === undefined) throw unknown(of.tier === 'team' ? 'team_not_found' : 'agent_not_found', of);
  }
}

function unknown(code: 'agent_not_found' | 'team_not_found', { tier, orgId, teamId, agentId }: TierOf): ReeveError {
  const name = tier === 'agent' ? agentId : tier === 'team' ? teamId : orgId;
  return new ReeveError(code, `nobody of the ${tier} "${name}" is registered, and nothing was spent there this month`);
}

function amountsOf(gov: Budgets, tiers: readonly TierOf[], text: string): Readonly<Record<Period, Total>> {
  const amount = parseUsd(text);
  if (amount === undefined || amount === 0) {
    throw invalid('amount_usd', 'must be US dollars other than 0 with at most 12 digits and 6 decimals, as "-1.50"');
  }
  if (amount > 0) return { day: amount, month: amount };
  const least = (period: Period) =>
    tiers.map((of) => gov.ledger.read(of).spent[period]).reduce((one, other) => (other < one ? other : one));
  const [month, day] = [least('month'), least('day')];
  if (plus(month, amount) < 0) {
    throw invalid('amount_usd', `must take off at most the ${usdOfMicros(month)} USD that were settled this month`);
  }
  if (plus(day, amount) >= 0) return { day: amount, month: amount };
  return { day: day > 0 ? minus(0, day) : 0, month: amount };
}
