import type { Applying, Undo } from '../../journal/index.ts';
import { restoring, undoAll, WriteBehind } from '../../journal/index.ts';
import type { AgentId, EpochMs, Sha256 } from '../../kernel/index.ts';
import type { TierOf } from '../tier.ts';
import type { Rate, RateApproached, RateExceeded, RateKey } from './rate.ts';
import { counterName, rateKey, readRateKey, subjectOf } from './rate.ts';
import { clocksDifferMs, RateCounter } from './rate-counter.ts';
import type { RatesCounted, RatesSaved, SavedRate } from './rates-slice.ts';

/** The shares that somebody is told of, in percent. */
export const rateThresholds = [80, 95] as const;

/** What rules see of rates. Only facts count. */
export type KnownRates = Readonly<Pick<RateCounters, 'exceededBy' | 'approachedBy' | 'ofAgent' | 'read'>>;

interface Entry {
  readonly counter: RateCounter;
  /** The checks of this gateway that are not durable yet. */
  readonly unsettled: EpochMs[];
  /** A restored one has all up to this entry. */
  readonly asOf: number;
}

/** The counters of all rates, for each tenant that has made checks. They know no clock: facts name the times. */
export class RateCounters {
  readonly #byName = new Map<string, Entry>();
  /** The names of the counters whose rows are out of date. */
  readonly rows = new WriteBehind<string>();

  get size(): number {
    return this.#byName.size;
  }

  /** The first rate that leaves no room for one more check. */
  exceededBy(agent: AgentId, rates: readonly Rate[], now: EpochMs, sha256: Sha256): RateExceeded | undefined {
    for (const rate of rates) {
      const found = this.#find(agent, rate, sha256);
      if (found === undefined) continue;
      const count = found.counter.countAt(now);
      if (count < rate.max) continue;
      return { rate, of: found.of, count, roomAt: found.counter.roomAt(now, rate.max) };
    }
    return undefined;
  }

  /** The shares of rates that one more check would use up, and that nobody was told of in this window. */
  approachedBy(agent: AgentId, rates: readonly Rate[], now: EpochMs, sha256: Sha256): readonly RateApproached[] {
    return rates.flatMap((rate) => {
      const of = subjectOf(agent, rate.tier);
      if (of === undefined) return [];
      const key = rateKey(rate, sha256);
      const counter = this.#byName.get(counterName(of, key))?.counter;
      const count = (counter?.countAt(now) ?? 0) + 1;
      return rateThresholds
        .filter((percent) => count * 100 >= rate.max * percent && !isTold(counter, percent, now))
        .map((percent) => ({ rate, key, of, percent, count }));
    });
  }

  /** Whether the checks that are counted fit, and somebody was told of each share that they use up. */
  isWithin(agent: AgentId, rates: readonly Rate[], now: EpochMs, sha256: Sha256): boolean {
    return rates.every((rate) => {
      const found = this.#find(agent, rate, sha256);
      if (found === undefined) return true;
      const { counter } = found;
      const count = counter.countAt(now);
      return (
        count <= rate.max &&
        rateThresholds.every((percent) => count * 100 < rate.max * percent || isTold(counter, percent, now))
      );
    });
  }

  /** Everything that is counted, in the order of names, as it is stored. */
  all(): SavedRate[] {
    const found = [...this.#byName].map(([name, { counter }]) => ({ name, counts: counter.saved(), seq: 0 }));
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The counters of these rates for an agent, as they are stored: a simulation runs elsewhere. */
  ofAgent(agent: AgentId, rates: readonly Rate[], sha256: Sha256): SavedRate[] {
    return rates.flatMap((rate) => {
      const found = this.#find(agent, rate, sha256);
      if (found === undefined) return [];
      const { of, counter } = found;
      return [{ name: counterName(of, rateKey(rate, sha256)), counts: counter.saved(), seq: 0 }];
    });
  }

  /** How much of a rate a tenant has used, and when there is room. */
  read(of: TierOf, rate: Rate, now: EpochMs, sha256: Sha256): { readonly count: number; readonly roomAt: EpochMs } {
    const counter = this.#byName.get(counterName(of, rateKey(rate, sha256)))?.counter;
    return { count: counter?.countAt(now) ?? 0, roomAt: counter?.roomAt(now, rate.max) ?? now };
  }

  #find(
    agent: AgentId,
    rate: Rate,
    sha256: Sha256,
  ): { readonly of: TierOf; readonly counter: RateCounter } | undefined {
    const of = subjectOf(agent, rate.tier);
    const counter = of && this.#byName.get(counterName(of, rateKey(rate, sha256)))?.counter;
    return of && counter && { of, counter };
  }

  /** A check is counted, here or elsewhere. */
  apply({ agent, at, counted, told = [] }: RatesCounted, { isHere, onDurable }: Applying): Undo {
    const undos: Undo[] = [];
    for (const key of counted) {
      const name = this.#nameOf(agent, key);
      if (name === undefined) continue;
      undos.push(this.#count(name, key, at));
      if (isHere) undos.push(this.#settleLater(name, at, onDurable));
    }
    for (const { key, percent } of told) {
      const name = this.#nameOf(agent, key);
      if (name !== undefined) undos.push(this.#tell(name, key, percent, at));
    }
    return undoAll(...undos);
  }

  #count(name: string, key: RateKey, at: EpochMs): Undo {
    const { counter } = this.#entry(name, key);
    counter.add(at);
    const old = counter.forgetOld(at);
    this.rows.changed(name, name);
    return () => {
      // It may have been forgotten and made anew.
      const now = this.#entry(name, key).counter;
      now.add(at, -1);
      for (const [then, count] of old) now.add(then, count);
      this.#dropEmpty(name);
    };
  }

  /** Until the check is durable, a save must not hold it: the log would have it after the save. */
  #settleLater(name: string, at: EpochMs, onDurable: Applying['onDurable']): Undo {
    const settle = () => {
      const unsettled = this.#byName.get(name)?.unsettled ?? [];
      const place = unsettled.indexOf(at);
      if (place >= 0) unsettled.splice(place, 1);
      // A save in between has left it out.
      this.rows.changed(name, name);
      this.#dropEmpty(name);
    };
    this.#byName.get(name)?.unsettled.push(at);
    onDurable(settle);
    return settle;
  }

  #tell(name: string, key: RateKey, percent: number, at: EpochMs): Undo {
    const { counter } = this.#entry(name, key);
    const before = counter.tell(percent, at);
    return () => {
      if (counter.toldAt(percent) === at) counter.tell(percent, before);
    };
  }

  /** The row of a counter, as it is by the durable log. */
  rowOf(name: string): Omit<SavedRate, 'seq'> {
    const entry = this.#byName.get(name);
    return { name, counts: entry === undefined ? null : entry.counter.saved(entry.unsettled) };
  }

  /** Counters are saved, here or elsewhere. */
  applySaved({ saved, asOf }: RatesSaved, how: Applying): Undo {
    const undo = this.rows.apply(
      saved.map(({ name }) => [name, name]),
      asOf,
      how,
    );
    if (how.isHere) return undo;
    // Another gateway has removed the rows of counters that are forgotten here, too.
    for (const { name, counts } of saved) if (counts === null && !this.#byName.has(name)) this.rows.unchanged(name);
    return undo;
  }

  /** Puts a counter back as it was saved. */
  restore({ name, counts, seq: asOf }: SavedRate): void {
    const windowMs = readRateKey(name.slice(name.lastIndexOf('#') + 1))?.windowMs;
    if (windowMs === undefined || counts === null) return;
    this.#byName.set(name, { counter: new RateCounter(windowMs, counts), unsettled: [], asOf });
  }

  /** A start counts again what came after the rows. `seq` is the newest entry after the fact. */
  redo(fact: RatesCounted, seq: number): void {
    const isMissing = (key: RateKey) => (this.#byName.get(this.#nameOf(fact.agent, key) ?? '')?.asOf ?? 0) < seq;
    const { counted, told = [] } = fact;
    this.apply(
      { ...fact, counted: counted.filter(isMissing), told: told.filter(({ key }) => isMissing(key)) },
      restoring,
    );
  }

  /** Forgets counters of which nothing counts any more. Each counter is a step. */
  *forgettingIdle(now: () => EpochMs): Generator<void> {
    for (const [name, { counter, unsettled }] of this.#byName) {
      if (unsettled.length === 0 && counter.endsAt + 2 * counter.windowMs + clocksDifferMs < now()) {
        this.#byName.delete(name);
        // Its row is removed with the next save.
        this.rows.changed(name, name);
      }
      yield;
    }
  }

  #nameOf(agent: AgentId, key: RateKey): string | undefined {
    const said = readRateKey(key);
    const of = said && subjectOf(agent, said.tier);
    return of && counterName(of, key);
  }

  #entry(name: string, key: RateKey): Entry {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const made = { counter: new RateCounter(readRateKey(key)?.windowMs ?? 1), unsettled: [], asOf: 0 };
    this.#byName.set(name, made);
    return made;
  }

  #dropEmpty(name: string): void {
    const entry = this.#byName.get(name);
    if (entry?.counter.isEmpty === true && entry.unsettled.length === 0) this.#byName.delete(name);
  }
}

/** Whether somebody was told of a share less than a window ago. */
function isTold(counter: RateCounter | undefined, percent: number, now: EpochMs): boolean {
  const at = counter?.toldAt(percent);
  return counter !== undefined && at !== undefined && at > now - counter.windowMs && at <= now + counter.windowMs;
}
