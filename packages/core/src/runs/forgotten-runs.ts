import type { Undo } from '../journal/index.ts';
import { undoAll } from '../journal/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { RunPlace } from './run.ts';
import { nameOfPlace } from './run.ts';

/** Whoever invents ids makes the gateway remember no more of them than this, for each org. */
const mostOfOrg = 1000;

/** A run that was forgotten, and when. */
export interface ForgottenRun {
  readonly place: RunPlace;
  readonly at: EpochMs;
}

/** The names of runs that were forgotten last, so that taking one up again is told from beginning a new one. */
export class ForgottenRuns {
  /** By org, longest forgotten first. */
  readonly #orgs = new Map<string, Map<string, ForgottenRun>>();
  readonly #most: number;

  constructor(most = mostOfOrg) {
    this.#most = most;
  }

  find(place: RunPlace): ForgottenRun | undefined {
    return this.#orgs.get(place.orgId)?.get(nameOfPlace(place));
  }

  /** Which names go if these are forgotten: the oldest of their orgs. */
  beyond(places: readonly RunPlace[]): readonly RunPlace[] {
    const found: RunPlace[] = [];
    for (const [orgId, more] of Map.groupBy(places, (place) => place.orgId)) {
      const known = this.#orgs.get(orgId);
      let excess = (known?.size ?? 0) + more.length - this.#most;
      for (const { place } of known?.values() ?? []) {
        if (excess-- <= 0) break;
        found.push(place);
      }
    }
    return found;
  }

  /** These are forgotten, and those need not be remembered any more. */
  apply(forgotten: readonly ForgottenRun[], dropped: readonly RunPlace[]): Undo {
    const undos = dropped.map((place) => this.#drop(place));
    for (const run of forgotten) undos.push(this.#add(run));
    return undoAll(...undos);
  }

  #add(run: ForgottenRun): Undo {
    const { orgId } = run.place;
    const known = this.#orgs.get(orgId) ?? new Map<string, ForgottenRun>();
    const name = nameOfPlace(run.place);
    const before = known.get(name);
    known.delete(name);
    this.#orgs.set(orgId, known.set(name, run));
    return () => {
      this.#drop(run.place);
      if (before !== undefined) this.#add(before);
    };
  }

  #drop(place: RunPlace): Undo {
    const known = this.#orgs.get(place.orgId);
    const name = nameOfPlace(place);
    const before = known?.get(name);
    known?.delete(name);
    if (known?.size === 0) this.#orgs.delete(place.orgId);
    return () => {
      if (before !== undefined) this.#add(before);
    };
  }
}
