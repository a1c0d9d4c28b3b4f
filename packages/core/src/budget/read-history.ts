import type { Principal } from '../access/principal.ts';
import { narrowedTo, requireScope } from '../access/principal.ts';
import type { Budgets } from './budgets.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { ClosedPeriodReader } from './balance.ts';
import type { BudgetFilter } from './list-budgets.ts';
import type { Micros, Total } from '../kernel/money.ts';
import type { Period } from './period.ts';
import type { TierOf } from './tier.ts';
import { everybody } from './tier.ts';

export interface HistoryQuery extends Pick<BudgetFilter, 'orgId' | 'teamId' | 'agentId'> {
  readonly period: Period;
  /** How many days or months at most. */
  readonly count: number;
}

/** What was spent in one day or month. */
export interface SpentWindow {
  readonly startsAt: EpochMs;
  readonly endsAt: EpochMs;
  readonly spentMicros: Total;
  readonly limitMicros: Micros | null;
  /** False of the present one, which goes on. */
  readonly closed: boolean;
}

/**
 * What one tier has spent day by day, or month by month, the newest last. Those of which nothing is on record are left out:
 * nothing known is not nothing spent.
 */
export async function readHistory(
  gov: Budgets,
  by: Principal,
  log: ClosedPeriodReader,
  { period, count, ...filter }: HistoryQuery,
): Promise<SpentWindow[]> {
  requireScope(by, 'read');
  const of = tierMeant(by, filter);
  if (of === undefined) return [];
  const { id, start: startsAt, end: endsAt } = gov.ledger.window(period);
  const spentMicros = gov.ledger.read(of).spent[period];
  const limitMicros = gov.ledger.policy.capsOf(of)[period];
  await gov.journal.committed();
  const before = (await log.closedPeriods(of, period, count)).filter(
    // Of a day that the clock had been ahead at, nothing is left where it was booked elsewhere.
    (balance) => balance.id < id && balance.spentMicros !== 0,
  );
  const windows: SpentWindow[] = before.map((balance) => ({ ...windowOf(balance), closed: true }));
  if (spentMicros !== 0) windows.push({ startsAt, endsAt, spentMicros, limitMicros, closed: false });
  return windows.slice(-count);
}

function windowOf({ startsAt, endsAt, spentMicros, limitMicros }: Omit<SpentWindow, 'closed'>) {
  return { startsAt, endsAt, spentMicros, limitMicros };
}

/** The narrowest tier that is named, within what the caller may see; without a name, everybody's. */
function tierMeant(by: Principal, filter: Pick<BudgetFilter, 'orgId' | 'teamId' | 'agentId'>): TierOf | undefined {
  const within = narrowedTo(by, filter);
  if (within === 'nothing') return undefined;
  const { orgId = '', teamId = '' } = within;
  const { agentId = '' } = filter;
  if (agentId !== '') return { tier: 'agent', orgId, teamId, agentId };
  if (teamId !== '') return { tier: 'team', orgId, teamId, agentId: '' };
  if (orgId !== '') return { tier: 'org', orgId, teamId: '', agentId: '' };
  // Agents without an org have no org tier, and those without a team no team tier.
  const namesNobody = within.orgId !== undefined || within.teamId !== undefined || filter.agentId !== undefined;
  return namesNobody ? undefined : everybody;
}
