import type { Principal } from '../access/index.ts';
import { requireScope, requireUnbound } from '../access/index.ts';
import type { Budgets } from './budgets.ts';
import type { AuditPage, AuditReader, StoredEntry } from '../audit/index.ts';
import { ReplayedEntry } from '../audit/index.ts';
import type { EpochMs, Total } from '../kernel/index.ts';
import type { WindowIds, Windows } from './balance.ts';
import { countedIn, idsOf, nothingBooked } from './balance.ts';
import { Balances } from './balances.ts';
import { minus, plus } from '../kernel/index.ts';
import type { Period } from './period.ts';
import { monthOf, periods } from './period.ts';
import { isBookedEvent } from './budget-slice.ts';
import { BookingReader, placeOf, rareEntries } from './bookings-of-entries.ts';
import type { Reservation } from './reservations.ts';
import { LoggedReservations, releases } from './reservations.ts';
import type { TierOf } from './tier.ts';
import { tierKey, tiersCharged } from './tier.ts';

/** A total that is not what it should be. */
export interface BalanceDifference {
  readonly of: TierOf;
  /** Null for reservations, which belong to no period. */
  readonly period: Period | null;
  readonly ledgerMicros: Total;
  /** What the log says was spent, or what the operations in flight reserve and the log leaves to them. */
  readonly logMicros: Total;
}

export interface BudgetVerification {
  readonly consistent: boolean;
  /** How many settlements of the present month were found in the log. */
  readonly checkedEntries: number;
  /**
   * Since when the log is whole, if it was cut within the month. Totals of periods that began before were not checked.
   */
  readonly checkedFrom: EpochMs | null;
  readonly differences: readonly BalanceDifference[];
}

const page = 500;
/** The booking day of an entry may be ahead of its time by the wall clock. */
const slackMs = 2 * 86_400_000;
const mostSilent = 5000;

interface Totals {
  readonly of: TierOf;
  reserved: Total;
  readonly spent: Record<Period, Total>;
}

/**
 * Checks the ledger against its sources: the settlements in the log and the operations in flight. It ignores what
 * happens meanwhile: it reads the log up to the entry that was the newest at the beginning.
 */
export async function verifyBudgets(gov: Budgets, by: Principal, log: AuditReader): Promise<BudgetVerification> {
  requireScope(by, 'admin');
  requireUnbound(by);
  const { windows, policy } = gov.ledger;
  const ids = idsOf(windows);
  const { seq: through } = gov.journal.head;
  const ledger = durableTotals(gov, ids);
  const reservations = new LoggedReservations(gov.ops.reservations());

  const booked = new Balances();
  const reader = new BookingReader(booked, policy.calendar);
  const { after, found } = await lastBefore(log, windows, through);
  let checkedEntries = 0;
  for await (const stored of telling(log, after, through, reservations.after)) {
    const entry = new ReplayedEntry(stored);
    reservations.add(entry);
    const day = entry.seq > after ? reader.add(entry) : undefined;
    if (day !== undefined && monthOf(day) >= ids.month) checkedEntries++;
  }
  const held = heldBack(reservations.open());

  const wholeSince = await cutAt(log);
  const isWhole = (period: Period) => wholeSince === null || found.has(period) || wholeSince <= windows[period].start;
  const names = new Map<string, TierOf>();
  for (const { of } of [...ledger.values(), ...booked.all(), ...held.values()]) names.set(tierKey(of), of);
  const differences: BalanceDifference[] = [];
  for (const [name, of] of names) {
    const sums = booked.find(of)?.sums ?? nothingBooked;
    const { spent } = countedIn(sums, ids, booked.oldest);
    for (const period of periods.filter(isWhole)) {
      const ledgerMicros = ledger.get(name)?.spent[period] ?? 0;
      const logMicros = spent[period];
      if (ledgerMicros !== logMicros) differences.push({ of, period, ledgerMicros, logMicros });
    }
    const ledgerMicros = ledger.get(name)?.reserved ?? 0;
    const logMicros = held.get(name)?.reserved ?? 0;
    if (ledgerMicros !== logMicros) differences.push({ of, period: null, ledgerMicros, logMicros });
  }
  const checkedFrom = isWhole('month') ? null : wholeSince;
  return { consistent: differences.length === 0, checkedEntries, checkedFrom, differences };
}

/**
 * The last settlement booked to an earlier month: nothing before it counts any more. The search goes by place in the
 * log and not by time, because a clock may have been wrong. It stops after very many consecutive entries from before
 * the month. `found` tells which periods have an earlier settlement on record.
 */
async function lastBefore(
  log: AuditReader,
  { day: { id: dayId }, month }: Windows,
  through: number,
): Promise<{ readonly after: number; readonly found: ReadonlySet<Period> }> {
  const found = new Set<Period>();
  let silent = 0;
  for (let before: number | null = through + 1; before !== null; ) {
    const query = { eventType: 'OpStateChanged', limit: page };
    const { entries, next }: AuditPage = await log.latest({ ...query, before });
    for (const entry of entries) {
      const { at, booked } = placeOf(entry);
      if (booked !== undefined && booked < dayId) found.add('day');
      silent = booked === undefined && at < month.start - slackMs ? silent + 1 : 0;
      const isBefore = booked !== undefined && monthOf(booked) < month.id;
      if (isBefore || silent > mostSilent) return { after: entry.seq, found: new Set(periods) };
    }
    before = next;
  }
  return { after: 0, found };
}

/** The entries in a range of the log that change balances, and those since `reservedFrom` that end reservations. */
async function* telling(
  log: AuditReader,
  after: number,
  through: number,
  reservedFrom: number,
): AsyncGenerator<StoredEntry> {
  const rare: StoredEntry[] = [];
  for (const type of rareEntries) for await (const entry of entriesOf(log, type, after, through)) rare.push(entry);
  if (reservedFrom < through)
    for await (const entry of entriesOf(log, releases, reservedFrom, through)) rare.push(entry);
  rare.sort((one, other) => one.seq - other.seq);
  let at = 0;
  for await (const entry of entriesOf(log, 'OpStateChanged', Math.min(after, reservedFrom), through)) {
    for (let first = rare[at]; first !== undefined && first.seq < entry.seq; first = rare[++at]) yield first;
    yield entry;
  }
  yield* rare.slice(at);
}

async function* entriesOf(
  log: AuditReader,
  eventType: string,
  from: number,
  through: number,
): AsyncGenerator<StoredEntry> {
  for (let after: number | null = from; after !== null; ) {
    const { entries, next }: AuditPage = await log.oldest({ eventType, limit: page, after });
    for (const entry of entries) if (entry.seq <= through) yield entry;
    after = next === null || next >= through ? null : next;
  }
}

/** The totals of the ledger, without what the log does not hold yet. */
function durableTotals(gov: Budgets, ids: WindowIds): Map<string, Totals> {
  const totals = new Map<string, Totals>();
  for (const { of, reserved, spent } of gov.ledger.all())
    totals.set(tierKey(of), { of, reserved, spent: { ...spent } });
  const takeOff = (of: TierOf, period: Period, booked: string, amount: Total) => {
    const known = totals.get(tierKey(of));
    if (known === undefined || (period === 'day' ? booked : monthOf(booked)) < ids[period]) return;
    known.spent[period] = minus(known.spent[period], amount);
  };
  for (const event of gov.journal.undurable()) {
    if (!isBookedEvent(event)) continue;
    if (event.type === 'ops_change' && event.booked !== undefined) {
      for (const of of tiersCharged(event.op)) {
        for (const period of periods) takeOff(of, period, event.booked, event.op.costMicros);
      }
    } else if (event.type === 'budget' && event.day !== undefined && event.amountMicros !== undefined) {
      takeOff(event.of, event.period, event.day, event.amountMicros);
    }
  }
  return totals;
}

/** The totals of reservations, as in the ledger. */
function heldBack(reservations: Iterable<Reservation>): Map<string, Totals> {
  const totals = new Map<string, Totals>();
  for (const reservation of reservations) {
    const { reservedMicros: reserved } = reservation;
    for (const of of tiersCharged(reservation)) {
      const known = totals.get(tierKey(of));
      if (known === undefined) totals.set(tierKey(of), { of, reserved, spent: { day: 0, month: 0 } });
      else known.reserved = plus(known.reserved, reserved);
    }
  }
  return totals;
}

/** The time of the first remaining entry, if the log was cut. */
async function cutAt(log: AuditReader): Promise<EpochMs | null> {
  const [first] = (await log.oldest({ limit: 1 })).entries;
  if (first === undefined || first.seq === 1) return null;
  return Date.parse((JSON.parse(first.canonical) as { readonly at: string }).at);
}
