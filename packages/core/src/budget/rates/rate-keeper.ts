import type { JournalOf } from '../../journal/index.ts';
import type { Clock } from '../../kernel/index.ts';
import { SteppedRound } from '../../kernel/index.ts';
import type { RateCounters } from './rate-counters.ts';
import type { RatesChange, SavedRate } from './rates-slice.ts';

/** How often to begin a save. A restart adds the entries since. */
const saveEveryMs = 30_000;
/** How many counters a step looks at, for each one that it writes. */
const seenForEach = 10;

interface Keeping {
  readonly clock: Clock;
  readonly journal: JournalOf<RatesChange, never>;
  readonly rates: RateCounters;
}

/** Saves what is counted, aside from decisions, and forgets what counts no more. */
export class RateKeeper {
  readonly #gov: Keeping;
  readonly #forgetting: SteppedRound;
  #savedAt = Number.NEGATIVE_INFINITY;

  constructor(gov: Keeping) {
    this.#gov = gov;
    this.#forgetting = new SteppedRound(() => gov.rates.forgettingIdle(() => gov.clock.now()));
  }

  /** Goes on from what a start has found. */
  restore(saved: readonly SavedRate[], mark: number): void {
    for (const rate of saved) this.#gov.rates.restore(rate);
    this.#gov.rates.rows.restore(mark);
  }

  /** A restart needs only the facts after this entry. */
  get neededFrom(): number {
    return this.#gov.rates.rows.neededFrom(this.#gov.journal.head.seq);
  }

  /**
   * Forgets what is idle, and writes up to `most` changed counters if this gateway leads, within a turn of the journal.
   * Returns false at the end of a save.
   */
  save(most = Number.POSITIVE_INFINITY, leads = true): boolean {
    const { rates, journal, clock } = this.#gov;
    const { rows } = rates;
    const { seq } = journal.head;
    if (!leads && rows.isSaving) rows.giveUp();
    if (!rows.isSaving) {
      const isForgetting = this.#forgetting.step(most * seenForEach);
      if (!leads) return isForgetting;
      const isDue = rows.hasChanged && clock.elapsed() >= this.#savedAt + saveEveryMs;
      if (!isDue && !rows.isOverdue(seq)) return isForgetting;
      this.#savedAt = clock.elapsed();
      rows.begin(seq);
    }
    const step = rows.next(most, (name) => ({ ...rates.rowOf(name), seq }));
    journal.apply({ kind: 'rates_saved', saved: step.rows, asOf: step.asOf });
    return step.asOf === null;
  }
}
