import type { Principal } from '../access/principal.ts';
import { requireScope, requireUnbound } from '../access/principal.ts';
import type { Governance } from '../governance.ts';
import type { AuditReader } from '../journal/store.ts';
import type { EpochMs } from '../kernel/clock.ts';
import { BooksFold } from './books-fold.ts';
import type { Total } from './money.ts';
import { minus, plus } from './money.ts';
import type { Period } from './period.ts';
import { monthOf, periods } from './period.ts';
import { addEntry, dayBy } from './recover-books.ts';
import type { TierOf } from './tier.ts';
import { tierKey, tiersOf } from './tier.ts';

/** A total that is not what it should be. */
export interface BooksDifference {
  readonly of: TierOf;
  /** Null of what is held back, which belongs to no period. */
  readonly period: Period | null;
  readonly ledgerMicros: Total;
  /** What the log says was spent, or what the operations in flight say is held back. */
  readonly logMicros: Total;
}

export interface BooksCheck {
  readonly consistent: boolean;
  /** How many settlements of the present month were found in the log. */
  readonly checkedEntries: number;
  /** Where the log was cut within the month: since when it is whole. Totals of longer periods were not checked. */
  readonly checkedFrom: EpochMs | null;
  readonly differences: readonly BooksDifference[];
}

const page = 500;
/** An entry's time is the wall clock's, which the day that it was booked to may be ahead of. */
const slackMs = 2 * 86_400_000;

interface Totals {
  readonly of: TierOf;
  reserved: Total;
  readonly spent: Record<Period, Total>;
}

/**
 * Holds the ledger against what it should be the sum of: the settlements that the log tells of, and the operations in
 * flight. What happens meanwhile does not count: the log is read up to the entry that was the newest at the beginning.
 */
export async function checkBooks(gov: Governance, by: Principal, log: AuditReader): Promise<BooksCheck> {
  requireScope(by, 'admin');
  requireUnbound(by);
  const { windows, policy } = gov.ledger;
  const { seq: through } = gov.journal.head;
  const ledger = durableTotals(gov);
  const held = heldBack(gov);

  const fold = new BooksFold();
  const dayOf = dayBy(policy.calendar);
  let checkedEntries = 0;
  for (let after: number | null = 0; after !== null; ) {
    const query = { eventType: 'OpStateChanged', from: windows.month.start - slackMs, own: true, limit: page };
    const { entries, next } = await log.oldest({ ...query, after });
    for (const entry of entries) {
      const day = entry.seq <= through ? addEntry(fold, entry, dayOf) : undefined;
      if (day !== undefined && monthOf(day) === windows.month.id) checkedEntries++;
    }
    after = next === null || next >= through ? null : next;
  }
  fold.closeBefore(windows.day.id);

  const wholeSince = await cutAt(log);
  const isWhole = (period: Period) => wholeSince === null || wholeSince <= windows[period].start;
  const spent = new Map(fold.all().map((books) => [tierKey(books.of), books]));
  const names = new Map<string, TierOf>();
  for (const { of } of [...ledger.values(), ...spent.values(), ...held.values()]) names.set(tierKey(of), of);
  const differences: BooksDifference[] = [];
  for (const [name, of] of names) {
    for (const period of periods.filter(isWhole)) {
      const ledgerMicros = ledger.get(name)?.spent[period] ?? 0;
      const logMicros = spent.get(name)?.spent[period] ?? 0;
      if (ledgerMicros !== logMicros) differences.push({ of, period, ledgerMicros, logMicros });
    }
    const ledgerMicros = ledger.get(name)?.reserved ?? 0;
    const logMicros = held.get(name)?.reserved ?? 0;
    if (ledgerMicros !== logMicros) differences.push({ of, period: null, ledgerMicros, logMicros });
  }
  const checkedFrom = isWhole('month') ? null : wholeSince;
  return { consistent: differences.length === 0, checkedEntries, checkedFrom, differences };
}

/** What the ledger says was spent, without what is not in the log yet. */
function durableTotals(gov: Governance): Map<string, Totals> {
  const totals = new Map<string, Totals>();
  for (const { of, reserved, spent } of gov.ledger.all())
    totals.set(tierKey(of), { of, reserved, spent: { ...spent } });
  for (const event of gov.journal.undurable()) {
    if (event.type !== 'ops_change' || event.booked === undefined) continue;
    for (const of of tiersOf(event.agent)) {
      const known = totals.get(tierKey(of));
      if (known === undefined) continue;
      if (event.booked === gov.ledger.window('day').id) known.spent.day = minus(known.spent.day, event.op.costMicros);
      if (monthOf(event.booked) === gov.ledger.window('month').id) {
        known.spent.month = minus(known.spent.month, event.op.costMicros);
      }
    }
  }
  return totals;
}

/** What the operations in flight hold back, as they stand in memory, just as the ledger does. */
function heldBack(gov: Governance): Map<string, Totals> {
  const totals = new Map<string, Totals>();
  for (const { ops, record } of gov.directory.all()) {
    let reserved: Total = 0;
    for (const op of ops.values()) reserved = plus(reserved, op.reservedMicros);
    if (reserved === 0) continue;
    for (const of of tiersOf(record.id)) {
      const known = totals.get(tierKey(of));
      if (known === undefined) totals.set(tierKey(of), { of, reserved, spent: { day: 0, month: 0 } });
      else known.reserved = plus(known.reserved, reserved);
    }
  }
  return totals;
}

/** The time of the first entry that is left, where the log was cut. */
async function cutAt(log: AuditReader): Promise<EpochMs | null> {
  const [first] = (await log.oldest({ limit: 1 })).entries;
  if (first === undefined || first.seq === 1) return null;
  return Date.parse((JSON.parse(first.canonical) as { readonly at: string }).at);
}
