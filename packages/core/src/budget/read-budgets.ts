import type { Principal } from '../access/index.ts';
import { narrowedTo, requireScope } from '../access/index.ts';
import type { ClosedPeriodReader } from './balance.ts';
import type { Budgets } from './budgets.ts';
import type { Period } from './period.ts';
import { periods } from './period.ts';
import type { BudgetTier, TierOf } from './tier.ts';
import { everybody, tierKey, tiersOf } from './tier.ts';
import type { EpochMs, Micros, Total } from '../kernel/index.ts';
import { isShareOf, minus, plus } from '../kernel/index.ts';
import { visibleAgents } from '../tenancy/index.ts';

export interface BudgetFilter {
  readonly orgId?: string | undefined;
  readonly teamId?: string | undefined;
  readonly agentId?: string | undefined;
  /** Only the budgets of this tier. */
  readonly tier?: BudgetTier | undefined;
  readonly period?: Period | undefined;
  /** Only budgets with a cap of which at least this percentage is spent or reserved. */
  readonly minPercent?: number | undefined;
}

/** What one tier may spend, and has spent, in one period. */
export interface BudgetRow {
  readonly of: TierOf;
  readonly period: Period;
  readonly limitMicros: Micros | null;
  readonly spentMicros: Total;
  readonly reservedMicros: Total;
  readonly resetsAt: EpochMs;
  /** When the cap is reached at the rate of this period so far. Null if not before the reset. */
  readonly reachedAt: EpochMs | null;
}

/**
 * The budgets that the caller may see, with or without a cap: everybody's, then each org with its teams and agents. A
 * caller that is bound to a tenant, or asks for one, does not see everybody's.
 */
export function listBudgets(gov: Budgets, by: Principal, filter: BudgetFilter): BudgetRow[] {
  requireScope(by, 'read');
  const within = narrowedTo(by, filter);
  if (within === 'nothing') return [];
  const isNarrowed = Object.keys(within).length > 0 || filter.agentId !== undefined;
  const found = new Map<string, TierOf>();
  if (!isNarrowed && (filter.tier ?? 'global') === 'global') found.set('global', everybody);
  for (const agent of visibleAgents(gov, by, filter)) {
    if (filter.agentId !== undefined && agent.record.id.agentId !== filter.agentId) continue;
    for (const of of tiersOf(agent.record.id)) if (isWanted(of, within, filter)) found.set(tierKey(of), of);
  }
  // Spending still counts for an agent, its team and its org after the agent is deregistered.
  for (const { of, spent, reserved } of gov.ledger.all()) {
    const isUsed = spent.month !== 0 || spent.day !== 0 || reserved !== 0;
    if (isUsed && isWithin(of, within, filter) && isWanted(of, within, filter)) {
      found.set(tierKey(of), of);
    }
  }
  const wanted = periods.filter((period) => filter.period === undefined || filter.period === period);
  const rows = [...found.values()].sort(byTenant).flatMap((of) => wanted.map((period) => rowOf(gov, of, period)));
  const { minPercent } = filter;
  return minPercent === undefined ? rows : rows.filter((row) => isUsedUp(row, minPercent));
}

type Within = Exclude<ReturnType<typeof narrowedTo>, 'nothing'>;

function isWithin(of: TierOf, within: Within, filter: BudgetFilter): boolean {
  if (within.orgId !== undefined && of.orgId !== within.orgId) return false;
  if (within.teamId !== undefined && of.teamId !== within.teamId) return false;
  return filter.agentId === undefined || of.agentId === filter.agentId;
}

/** A tier that is wider than the request would tell of others, too. */
function isWanted(of: TierOf, within: Within, filter: BudgetFilter): boolean {
  if (of.tier === 'global' || (filter.tier ?? of.tier) !== of.tier) return false;
  if (filter.agentId !== undefined) return of.tier === 'agent';
  return within.teamId === undefined || of.tier !== 'org';
}

function isUsedUp({ limitMicros, spentMicros, reservedMicros }: BudgetRow, percent: number): boolean {
  return limitMicros !== null && isShareOf(plus(spentMicros, reservedMicros), percent, limitMicros);
}

function byTenant(a: TierOf, b: TierOf): number {
  const name = ({ tier, orgId, teamId, agentId }: TierOf) =>
    [tier === 'global' ? '' : '1', orgId, teamId, agentId].join('\u0000');
  return name(a) < name(b) ? -1 : 1;
}

/** The present state of one budget. */
export function rowOf(gov: Budgets, of: TierOf, period: Period): BudgetRow {
  const { spent, reserved } = gov.ledger.read(of);
  const limitMicros = gov.ledger.policy.capsOf(of)[period];
  const { start, end } = gov.ledger.window(period);
  const row = { of, period, limitMicros, spentMicros: spent[period], reservedMicros: reserved, resetsAt: end };
  return { ...row, reachedAt: reachedAt(row, start, gov.clock.now()) };
}

function reachedAt(row: Omit<BudgetRow, 'reachedAt'>, start: EpochMs, now: EpochMs): EpochMs | null {
  const { limitMicros, spentMicros, reservedMicros, resetsAt } = row;
  const total = plus(spentMicros, reservedMicros);
  if (limitMicros === null || total <= 0) return null;
  if (total >= limitMicros) return now;
  // A clock that was set back may be before the begun day. Then there is no rate.
  if (now < start) return null;
  const elapsed = Math.max(1, now - start);
  // A number is exact enough for a forecast.
  const at = Math.ceil(now + (Number(minus(limitMicros, total)) * elapsed) / Number(total));
  return at < resetsAt ? at : null;
}

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
  /** False for the present window, which is still open. */
  readonly closed: boolean;
}

/**
 * What one tier has spent per day or month, the newest last. Windows without a record are left out: nothing recorded
 * does not mean nothing spent.
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
  const { id, startsAt, endsAt, spentMicros, limitMicros } = await gov.journal.durable(() => {
    const { id, start: startsAt, end: endsAt } = gov.ledger.window(period);
    const spentMicros = gov.ledger.read(of).spent[period];
    return { id, startsAt, endsAt, spentMicros, limitMicros: gov.ledger.policy.capsOf(of)[period] };
  });
  const before = (await log.closedPeriods(of, period, count)).filter(
    // A day that the clock was wrongly ahead at has a zero, because its amounts count elsewhere.
    (balance) => balance.id < id && balance.spentMicros !== 0,
  );
  const windows: SpentWindow[] = before.map((balance) => ({ ...windowOf(balance), closed: true }));
  if (spentMicros !== 0) windows.push({ startsAt, endsAt, spentMicros, limitMicros, closed: false });
  return windows.slice(-count);
}

function windowOf({ startsAt, endsAt, spentMicros, limitMicros }: Omit<SpentWindow, 'closed'>) {
  return { startsAt, endsAt, spentMicros, limitMicros };
}

/** The narrowest named tier within the caller's reach. Without a name it is everybody's. */
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
