import type { JournalOf } from '../journal/index.ts';
import type { Clock, EpochMs } from '../kernel/index.ts';
import type { InRun, Run } from './run.ts';
import type { KnownRuns } from './known-runs.ts';
import type { RunsChange } from './runs-slice.ts';

/** What use cases of runs work on. */
export interface Runs {
  readonly clock: Clock;
  readonly journal: JournalOf<RunsChange, never>;
  readonly runs: KnownRuns;
}

/**
 * Before a check: its run begins anew if it was quiet for too long, and another one makes room if it is new. Returns when the
 * run of this id was forgotten, if the check takes such an id up.
 */
export function makeRoomForRun(gov: Runs, op: InRun, now: EpochMs): EpochMs | undefined {
  const found = gov.runs.toMakeRoom(op, now);
  if (found.length > 0) forget(gov, found);
  const taken = gov.runs.forgotten(op);
  if (taken === undefined) return undefined;
  gov.journal.apply({ kind: 'runs_forgotten', runs: [], dropped: [taken.place] });
  return taken.at;
}

/** Forgets runs that were quiet for too long, and those beyond what an org may have, a few in each step. */
export class ForgettingRuns {
  readonly #gov: Runs;
  #round: Iterator<Run | undefined> | undefined;

  constructor(gov: Runs) {
    this.#gov = gov;
  }

  /** Forgets up to `most`, and looks at no more than ten times as many. Returns false at the end of a round. */
  step(most: number): boolean {
    const { runs, clock } = this.#gov;
    this.#round ??= runs.toForget(() => clock.now());
    const found: Run[] = [];
    for (let seen = 0; seen < most * 10 && found.length < most; seen++) {
      const { done, value } = this.#round.next();
      if (done === true) {
        this.#round = undefined;
        break;
      }
      if (value !== undefined) found.push(value);
    }
    if (found.length > 0) forget(this.#gov, found);
    return this.#round !== undefined;
  }
}

function forget({ journal, runs, clock }: Runs, found: readonly Run[]): void {
  const places = found.map(({ place }) => place);
  const dropped = runs.namesBeyond(places);
  const forgotten = { kind: 'runs_forgotten', runs: places, at: clock.now() } as const;
  journal.apply(dropped.length === 0 ? forgotten : { ...forgotten, dropped });
}
