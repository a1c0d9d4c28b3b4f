import type { Applying, JournalOf, Step, Typed, Undo } from '../../journal/index.ts';
import { nothingToApply } from '../../journal/index.ts';
import type { Clock } from '../../kernel/index.ts';
import { SteppedRound } from '../../kernel/index.ts';
import type { RateCounters } from './rate-counters.ts';
import type { RatesChange, RatesSaved, SavedRate } from './rates-slice.ts';

/** How often to begin a save. A restart adds the entries since. */
const saveEveryMs = 30_000;
/** After this many entries, a save begins earlier, or the mark moves on although nothing was counted. */
const mostEntriesAfter = 10_000;
/** How many counters a step looks at, for each one that it writes. */
const seenForEach = 10;

function isSave(step: Step<unknown, Typed>): boolean {
  return 'change' in step && (step.change as RatesChange).kind === 'rates_saved';
}

interface Keeping {
  readonly clock: Clock;
  readonly journal: JournalOf<RatesChange, never>;
  readonly rates: RateCounters;
}

/**
 * Saves what is counted, aside from decisions. Now and then it writes the counters that have changed, with the entry up to
 * which they are true. A restart adds the later entries.
 */
export class RateKeeper {
  readonly #gov: Keeping;
  readonly #forgetting: SteppedRound;
  /** The store is complete up to this entry. */
  #mark = 0;
  /** What the present save has yet to write, and the entry that it began at. */
  #saving: { readonly names: Set<string>; readonly asOf: number } | undefined;
  #savedAt = Number.NEGATIVE_INFINITY;
  /** How many steps are written, and not durable yet. */
  #pending = 0;

  constructor(gov: Keeping) {
    this.#gov = gov;
    this.#forgetting = new SteppedRound(() => gov.rates.forgettingIdle(() => gov.clock.now()));
  }

  /** Goes on from what a start has found. */
  restore(saved: readonly SavedRate[], mark: number): void {
    for (const rate of saved) this.#gov.rates.restore(rate);
    this.#mark = mark;
  }

  /** A restart needs only the entries after this one. */
  get neededFrom(): number {
    const isAll = this.#pending === 0 && this.#saving === undefined && !this.#gov.rates.hasChanged;
    return isAll ? this.#gov.journal.head.seq : this.#mark;
  }

  /**
   * Forgets what is idle, and writes up to `most` changed counters if this gateway leads, within a turn of the journal.
   * Returns false at the end of a save.
   */
  save(most = Number.POSITIVE_INFINITY, leads = true): boolean {
    const { rates, journal, clock } = this.#gov;
    const { seq } = journal.head;
    if (!leads) this.#giveUp();
    if (this.#saving === undefined) {
      const isForgetting = this.#forgetting.step(most * seenForEach);
      if (!leads) return isForgetting;
      const isDue = rates.hasChanged && clock.elapsed() >= this.#savedAt + saveEveryMs;
      if (!isDue && seq < this.#mark + mostEntriesAfter) return isForgetting;
      this.#savedAt = clock.elapsed();
      this.#saving = { names: rates.beginSave(), asOf: seq };
    }
    const { names, asOf } = this.#saving;
    const saved = rates.takeChanged(names, most).map((rate) => ({ ...rate, seq }));
    const isAll = names.size === 0;
    if (isAll) this.#saving = undefined;
    // A gateway that took the lead may have saved first. Its mark would speak for these rows, which are older.
    journal.onlyIf((commit) => !commit.steps.some(isSave));
    journal.apply({ kind: 'rates_saved', saved, asOf: isAll ? asOf : null });
    return !isAll;
  }

  /** Counters are saved, here or elsewhere. */
  apply({ saved, asOf }: RatesSaved, { isHere, onDurable }: Applying): Undo {
    if (!isHere) {
      // Whatever is saved here begins anew, at an entry after that.
      this.#giveUp();
      this.#gov.rates.noteRemoved(saved);
      if (asOf !== null) this.#mark = Math.max(this.#mark, asOf);
      return nothingToApply();
    }
    this.#pending++;
    onDurable(() => {
      this.#pending--;
      if (asOf !== null) this.#mark = asOf;
    });
    return () => {
      this.#pending--;
      this.#gov.rates.giveBack(saved.map(({ name }) => name));
      this.#giveUp();
    };
  }

  #giveUp(): void {
    if (this.#saving !== undefined) this.#gov.rates.giveBack(this.#saving.names);
    this.#saving = undefined;
  }
}
