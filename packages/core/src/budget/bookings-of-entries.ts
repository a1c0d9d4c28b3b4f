import type { AgentId, EpochMs } from '../kernel/index.ts';
import { totalOfJson } from '../kernel/index.ts';
import type { LogFollower, ReplayedEntry, StoredEntry } from '../audit/index.ts';
import { ByLineage, EntryTimes } from '../audit/index.ts';
import type { BalancesMark } from './balance.ts';
import type { Balances } from './balances.ts';
import type { Period, Window } from './period.ts';
import { Calendar } from './period.ts';
import type { BudgetTier } from './tier.ts';
import { tiersCharged, tiersUpFrom } from './tier.ts';

/**
 * Books what audit entries say after the saved balances. Releases before the log of facts kept nothing else: this is for
 * the first start on their data.
 */
export class BookingsOfEntries implements LogFollower {
  readonly after: number;
  readonly #reader: BookingReader;

  constructor(saved: Balances, { seq, timeZone }: BalancesMark) {
    this.after = seq;
    this.#reader = new BookingReader(saved, new Calendar(timeZone));
  }

  follow(entry: ReplayedEntry): void {
    this.#reader.add(entry);
  }
}

interface BookingPayload {
  readonly trigger?: string;
  readonly cost_micros?: number;
  readonly booked?: string;
  /** The ids of the agents on whose behalf the agent acted, if there are any. */
  readonly delegators?: readonly string[];
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

/** Books what entries of the log say. */
export class BookingReader {
  readonly #balances: Balances;
  /** The same id for each entry of an agent: its tiers are kept beside it. */
  readonly #agents = new ByLineage<AgentId>((id) => id);
  readonly #times = new EntryTimes();
  readonly #dayOf: (at: EpochMs) => string;

  /** Older entries do not name their day, so the day of writing counts, in this calendar. */
  constructor(balances: Balances, calendar: Calendar) {
    this.#balances = balances;
    this.#dayOf = dayBy(calendar);
  }

  /** Books an entry. Returns the day, if the entry books anything. */
  add(entry: ReplayedEntry): string | undefined {
    // Most entries are decisions, which settle nothing: they are not even parsed.
    const { type, seq } = entry;
    if (!telling.has(type)) return undefined;
    const payload: BookingPayload = entry.body.payload;
    const agent = this.#agents.of(entry.lineage);
    const day = (named: string | undefined) => named ?? this.#dayOf(this.#times.of(entry));
    switch (type) {
      case 'OpStateChanged': {
        const { trigger, cost_micros: cost = 0, delegators = [] } = payload;
        if (trigger !== 'complete' || cost === 0) return undefined;
        this.#balances.settle(tiersCharged({ agent, delegators }), cost, day(payload.booked), seq);
        return day(payload.booked);
      }
      case 'BudgetCorrected': {
        const { booked, tier = 'global', amount_micros: month = 0, day_amount_micros: today = 0 } = payload;
        if (booked === undefined) return undefined;
        for (const of of tiersUpFrom({ tier, ...agent })) {
          this.#balances.correct(of, 'month', totalOfJson(month), booked, seq);
          this.#balances.correct(of, 'day', totalOfJson(today), booked, seq);
        }
        return booked;
      }
      case 'BudgetDayMovedBack':
        if (payload.to !== undefined) this.#balances.moveBack(payload.to, seq);
        return undefined;
      default: {
        const {
          tier = 'global',
          period = 'day',
          percent = 0,
          team_id: teamId = '',
          tier_agent_id: agentId = '',
        } = payload;
        const of = { tier, orgId: tier === 'global' ? '' : agent.orgId, teamId, agentId };
        this.#balances.notice(of, period, percent, day(payload.day), seq);
        return undefined;
      }
    }
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
