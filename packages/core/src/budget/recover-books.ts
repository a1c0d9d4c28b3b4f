import type { Store } from '../journal/store.ts';
import type { SavedBooks } from './books.ts';
import { BooksFold } from './books-fold.ts';
import type { Period } from './period.ts';
import { Calendar } from './period.ts';
import type { BudgetTier } from './tier.ts';

const page = 1000;

/** Where books that were saved stand: true up to this entry, by this calendar. */
export interface BooksMark {
  readonly seq: number;
  readonly timeZone: string;
}

/** What was spent, as far as the log says: the books that were saved, and the entries that came after. */
export async function recoverBooks(
  saved: readonly SavedBooks[],
  { seq, timeZone }: BooksMark,
  log: Pick<Store, 'after'>,
): Promise<BooksFold> {
  const calendar = new Calendar(timeZone);
  const fold = new BooksFold(() => calendar);
  for (const books of saved) fold.put(books);
  for (let after = seq; ; ) {
    const entries = await log.after(after, page);
    for (const { canonical } of entries) addEntry(fold, canonical);
    const last = entries.at(-1);
    if (last === undefined || entries.length < page) return fold;
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
    readonly tier?: BudgetTier;
    readonly period?: Period;
    readonly percent?: number;
    readonly team_id?: string;
    readonly tier_agent_id?: string;
  };
}

function addEntry(fold: BooksFold, canonical: string): void {
  // Most entries are decisions, which settle nothing: they are not even parsed.
  if (!canonical.includes('"trigger":"complete"') && !canonical.includes('"BudgetLimitApproached"')) return;
  const { at, event_type: type, lineage, payload } = JSON.parse(canonical) as LoggedEntry;
  const orgId = lineage.org_id ?? '';
  if (type === 'OpStateChanged' && payload.trigger === 'complete') {
    const agent = { orgId, teamId: lineage.team_id, agentId: lineage.agent_id };
    fold.settle(agent, payload.cost_micros ?? 0, Date.parse(at));
  } else if (type === 'BudgetLimitApproached') {
    const { tier = 'global', period = 'day', percent = 0, team_id: teamId = '', tier_agent_id: agentId = '' } = payload;
    fold.notice({ tier, orgId: tier === 'global' ? '' : orgId, teamId, agentId }, period, percent, Date.parse(at));
  }
}
