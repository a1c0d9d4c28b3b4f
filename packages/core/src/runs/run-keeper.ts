import type { Runs } from './forget-runs.ts';
import { ForgettingRuns } from './forget-runs.ts';
import type { RunRegistry } from './run-registry.ts';

/** How often to begin a save. A restart adds the entries since. */
const saveEveryMs = 30_000;

type Keeping = Runs & { readonly runs: RunRegistry };

/** Saves what happened in runs, aside from decisions, and forgets those that were quiet for long. */
export class RunKeeper {
  readonly #gov: Keeping;
  readonly #forgetting: ForgettingRuns;
  #savedAt = Number.NEGATIVE_INFINITY;

  constructor(gov: Keeping) {
    this.#gov = gov;
    this.#forgetting = new ForgettingRuns(gov);
  }

  /** A restart needs only the facts after this entry. */
  get neededFrom(): number {
    return this.#gov.runs.rows.neededFrom(this.#gov.journal.head.seq);
  }

  /**
   * Forgets and writes up to `most` runs if this gateway leads, within a turn of the journal. Returns false at the end of a
   * save. All gateways forget the same runs, so one of them says which.
   */
  save(most = Number.POSITIVE_INFINITY, leads = true): boolean {
    const { runs, journal, clock } = this.#gov;
    const { rows } = runs;
    const { seq } = journal.head;
    if (!leads) {
      if (rows.isSaving) rows.giveUp();
      return false;
    }
    if (!rows.isSaving) {
      const hasMore = this.#forgetting.step(most);
      const isDue = rows.hasChanged && clock.elapsed() >= this.#savedAt + saveEveryMs;
      if (!isDue && !rows.isOverdue(seq)) return hasMore;
      this.#savedAt = clock.elapsed();
      rows.begin(seq);
    }
    const step = runs.toSave(most, seq);
    journal.apply({ kind: 'runs_saved', saved: step.rows, asOf: step.asOf });
    return step.asOf === null;
  }
}
