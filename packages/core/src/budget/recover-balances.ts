import type { EpochMs } from '../kernel/index.ts';
import type { EntryLog, StoredEntry } from '../audit/index.ts';
import type { SavedBalance } from './balance.ts';
import { BalanceFold } from './balance-fold.ts';
import { totalOfJson } from '../kernel/index.ts';
import type { Period, Window } from './period.ts';
import { Calendar } from './period.ts';
import type { BudgetTier } from './tier.ts';
import { tiersUpFrom } from './tier.ts';

const page = 1000;

/** The saved balances are true up to this entry, by this calendar. */
export interface BalancesMark {
  readonly seq: number;
  readonly timeZone: string;
}

/** What was spent according to the log: the saved balances plus the later entries. */
export async function recoverBalances(
  saved: readonly SavedBalance[],
  { seq, timeZone }: BalancesMark,
  log: EntryLog,
): Promise<BalanceFold> {
  const fold = new BalanceFold();
  const dayOf = dayBy(new Calendar(timeZone));
  for (const balance of saved) fold.put(balance);
  for (let after = seq; ; ) {
    const entries = await log.after(after, page);
    for (const entry of entries) addEntry(fold, entry, dayOf);
    const last = entries.at(-1);
    if (last === undefined) return fold;
    after = last.seq;
  }
}

interface LoggedEntry {
  readonly at: string;
  readonly event_type: string;
  readonly lineage: { readonly org_id: string | null; readonly team_id: string; readonly agent_id: string };
  readonly payload: {
    readonly trigger?: string;
    readonly cost_micros?: number;
    readonly booked?: string;
    readonly amount_micros?: number | string;
    readonly day_amount_micros?: number | string;
    readonly to?: string;
    readonly day?: string;
    readonly tier?: BudgetTier;
    readonly period?: Period;
    readonly percent?: number;
    readonly team_id?: string;
    readonly tier_agent_id?: string;
  };
}

/** The entry types, beside completions, that change balances. All of them are rare. */
export const rareEntries = ['BudgetCorrected', 'BudgetDayMovedBack'] as const;

const telling = ['"trigger":"complete"', '"BudgetLimitApproached"', ...rareEntries.map((type) => `"${type}"`)];

/** Adds what an entry says was spent or told about. Returns the day of the booking, if there was one. */
export function addEntry(
  fold: BalanceFold,
  { seq, canonical }: StoredEntry,
  dayOf: (at: EpochMs) => string,
): string | undefined {
  // Most entries are decisions, which settle nothing: they are not even parsed.
  if (!telling.some((text) => canonical.includes(text))) return undefined;
  const { at, event_type: type, lineage, payload } = JSON.parse(canonical) as LoggedEntry;
  const orgId = lineage.org_id ?? '';
  const agent = { orgId, teamId: lineage.team_id, agentId: lineage.agent_id };
  if (type === 'OpStateChanged' && payload.trigger === 'complete') {
    const cost = payload.cost_micros ?? 0;
    const day = payload.booked ?? dayOf(Date.parse(at));
    fold.settle(agent, cost, day, seq);
    return cost > 0 ? day : undefined;
  }
  if (type === 'BudgetCorrected' && payload.booked !== undefined) {
    const { booked, tier = 'global', amount_micros: month = 0, day_amount_micros: day = 0 } = payload;
    for (const of of tiersUpFrom({ tier, ...agent })) {
      fold.correct(of, 'month', totalOfJson(month), booked, seq);
      fold.correct(of, 'day', totalOfJson(day), booked, seq);
    }
    return booked;
  }
  if (type === 'BudgetDayMovedBack' && payload.to !== undefined) fold.goBack(payload.to, seq);
  if (type !== 'BudgetLimitApproached') return undefined;
  const { tier = 'global', period = 'day', percent = 0, team_id: teamId = '', tier_agent_id: agentId = '' } = payload;
  const of = { tier, orgId: tier === 'global' ? '' : orgId, teamId, agentId };
  fold.notice(of, period, percent, payload.day ?? dayOf(Date.parse(at)), seq);
  return undefined;
}

/**
 * When an entry was written, by the clock of that time, and the day it was booked to, if any. Texts cannot match,
 * because their quotes are escaped.
 */
export function placeOf({ canonical }: StoredEntry): { readonly at: EpochMs; readonly booked: string | undefined } {
  const at = Date.parse(/"at":"([^"]+)"/.exec(canonical)?.[1] ?? '');
  return { at, booked: /"payload":\{"booked":"([^"]+)"/.exec(canonical)?.[1] };
}

/** Older entries do not name their day, so the day of writing counts. Days only move forward. */
export function dayBy(calendar: Calendar): (at: EpochMs) => string {
  let day: Window | undefined;
  return (at) => {
    if (day === undefined || at >= day.end) day = calendar.window('day', at);
    return day.id;
  };
}
