import type { AgentId, EpochMs } from '../kernel/index.ts';
import type { LogFollower, ReplayedEntry, StoredEntry } from '../audit/index.ts';
import { ByLineage, EntryTimes } from '../audit/index.ts';
import type { SavedBalance } from './balance.ts';
import { BalanceFold } from './balance-fold.ts';
import { totalOfJson } from '../kernel/index.ts';
import type { Period, Window } from './period.ts';
import { Calendar } from './period.ts';
import type { BudgetTier } from './tier.ts';
import { tiersUpFrom } from './tier.ts';

/** The saved balances are true up to this entry, by this calendar. */
export interface BalancesMark {
  readonly seq: number;
  readonly timeZone: string;
}

/** Where there are no saved balances yet. */
export const noBalancesMark: BalancesMark = { seq: 0, timeZone: 'UTC' };

/** Restores what was spent according to the log: the saved balances plus the later entries. */
export class BalanceRecovery implements LogFollower {
  readonly after: number;
  readonly #reader: BalanceReader;

  constructor(saved: readonly SavedBalance[], { seq, timeZone }: BalancesMark) {
    this.after = seq;
    this.#reader = new BalanceReader(new Calendar(timeZone));
    for (const balance of saved) this.fold.put(balance);
  }

  get fold(): BalanceFold {
    return this.#reader.fold;
  }

  follow(entry: ReplayedEntry): void {
    this.#reader.add(entry);
  }
}

interface BalancePayload {
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
}

/** The entry types, beside completions, that change balances. All of them are rare. */
export const rareEntries = ['BudgetCorrected', 'BudgetDayMovedBack'] as const;

const telling: ReadonlySet<string> = new Set(['OpStateChanged', 'BudgetLimitApproached', ...rareEntries]);

/** Adds up what entries say was spent or told about. */
export class BalanceReader {
  readonly fold = new BalanceFold();
  /** The same id for each entry of an agent: its tiers are kept beside it. */
  readonly #agents = new ByLineage<AgentId>((id) => id);
  readonly #times = new EntryTimes();
  readonly #dayOf: (at: EpochMs) => string;

  /** Older entries do not name their day, so the day of writing counts, in this calendar. */
  constructor(calendar: Calendar) {
    this.#dayOf = dayBy(calendar);
  }

  /** Adds an entry. Returns the day of the booking, if there was one. */
  add(entry: ReplayedEntry): string | undefined {
    // Most entries are decisions, which settle nothing: they are not even parsed.
    const { type, seq } = entry;
    if (!telling.has(type)) return undefined;
    const { fold } = this;
    const payload: BalancePayload = entry.body.payload;
    const agent = this.#agents.of(entry.lineage);
    if (type === 'OpStateChanged') {
      if (payload.trigger !== 'complete') return undefined;
      const cost = payload.cost_micros ?? 0;
      const day = payload.booked ?? this.#dayOf(this.#times.of(entry));
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
    const of = { tier, orgId: tier === 'global' ? '' : agent.orgId, teamId, agentId };
    fold.notice(of, period, percent, payload.day ?? this.#dayOf(this.#times.of(entry)), seq);
    return undefined;
  }
}

/**
 * When an entry was written, by the clock of that time, and the day it was booked to, if any. Texts cannot match,
 * because their quotes are escaped.
 */
export function placeOf({ canonical }: StoredEntry): { readonly at: EpochMs; readonly booked: string | undefined } {
  const at = Date.parse(/"at":"([^"]+)"/.exec(canonical)?.[1] ?? '');
  return { at, booked: /"payload":\{"booked":"([^"]+)"/.exec(canonical)?.[1] };
}

/** The day of a time. Days only move forward. */
function dayBy(calendar: Calendar): (at: EpochMs) => string {
  let day: Window | undefined;
  return (at) => {
    if (day === undefined || at >= day.end) day = calendar.window('day', at);
    return day.id;
  };
}
