import type { Applying, SaveStep, Undo } from '../journal/index.ts';
import { nothingToApply, restoring, undoAll, WriteBehind } from '../journal/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import { ForgottenRuns } from './forgotten-runs.ts';
import type { ForgottenRun } from './forgotten-runs.ts';
import { IdleRuns } from './idle-runs.ts';
import type { LabelBearer } from './label.ts';
import { LabelRegistry } from './label-registry.ts';
import { add, changeOf, durablePart, empty, isSaved, join, settle, takeBack } from './run-counts.ts';
import type { InRun, MutableRun, Run, RunChange, RunCount, RunPlace } from './run.ts';
import { isAt, nameOfPlace, newRun, placeOfRun, runName } from './run.ts';
import type { LabelsCleared, LabelsGiven, OpOfRun, RunsForgotten, RunsSaved } from './runs-slice.ts';
import type { SavedLabel, SavedRun } from './runs-slice.ts';

const nothing: RunCount = { checks: 0, spentMicros: 0 };

/** All runs that are not forgotten. They know no clock: facts name the times. */
export class RunRegistry {
  /** Which rows the store lacks, by the names of runs. */
  readonly rows = new WriteBehind<string>();
  readonly #byName = new Map<string, MutableRun>();
  readonly #idle: IdleRuns;
  /** What runs and agents bear. Only `give`, `clear` and `forget` change it. */
  readonly labels: LabelRegistry;
  readonly #forgotten: ForgottenRuns;
  readonly #ttlMs: number;
  /** The run that was found last. */
  #last: MutableRun | undefined;

  /** `ttlMs`: for how long a run is known after the last that happened in it. */
  constructor(ttlMs: number, idle = new IdleRuns(), forgotten = new ForgottenRuns()) {
    this.#ttlMs = ttlMs;
    this.#idle = idle;
    this.#forgotten = forgotten;
    this.labels = new LabelRegistry(idle);
  }

  get size(): number {
    return this.#byName.size;
  }

  /** What conditions see. A run that nobody knows has done nothing. */
  of(op: InRun): RunCount {
    return this.#find(op) ?? nothing;
  }

  find(place: RunPlace): Run | undefined {
    return this.#byName.get(nameOfPlace(place));
  }

  all(): Iterable<Run> {
    return this.#byName.values();
  }

  /** The forgotten run whose id a check takes up, if it does. */
  forgotten(op: InRun): ForgottenRun | undefined {
    return this.#find(op) === undefined ? this.#forgotten.find(placeOfRun(op)) : undefined;
  }

  /** Which names of forgotten runs go if these are forgotten. */
  namesBeyond(places: readonly RunPlace[]): readonly RunPlace[] {
    return this.#forgotten.beyond(places);
  }

  /** Which runs to forget before one more check: its own, if that was quiet for too long, and others for which there is no room. */
  toMakeRoom(op: InRun, now: EpochMs): readonly Run[] {
    const known = this.#find(op);
    if (known === undefined) return this.#idle.beyondRoom(op.agent.orgId, op.agent.teamId);
    return this.#isLapsed(known, now) ? [known] : noRuns;
  }

  /** Runs that were quiet for too long, or are more than their org's share. Undefined where a team has no more. */
  toForget(now: () => EpochMs): Generator<Run | undefined> {
    return this.#idle.toForget((run) => this.#isLapsed(run, now()));
  }

  #isLapsed(run: MutableRun, now: EpochMs): boolean {
    return run.underWay === 0 && run.unsettled.length === 0 && run.lastAt + this.#ttlMs < now;
  }

  #find(op: InRun): MutableRun | undefined {
    const { orgId } = op.agent;
    if (this.#last?.place.orgId === orgId && isAt(this.#last.place, op)) return this.#last;
    const found = this.#byName.get(runName(op));
    if (found !== undefined) this.#last = found;
    return found;
  }

  /** An operation was checked for the first time, or has moved, here or elsewhere. */
  count(fact: OpOfRun, how: Applying): Undo {
    const { op, checked } = fact;
    // Before its first check, an operation is in no run.
    if (op.digest === '') return nothingToApply();
    const known = this.#find(op);
    // It was forgotten, or began before runs were kept. Something else may be under way in it that came later.
    if (checked !== true && (known === undefined || !hasChecks(known, how))) return nothingToApply();
    const run = known ?? this.#begin(runName(op), placeOfRun(op), op.updatedAt);
    return this.#count(run, changeOf(fact), how);
  }

  #count(run: MutableRun, change: RunChange, { isHere, onDurable }: Applying): Undo {
    const { startedAt, lastAt } = run;
    add(run, change, !isHere);
    this.#settle(run, true);
    if (!isHere) return nothingToApply();
    onDurable(() => {
      settle(run, change);
      // A save in between has left it out.
      this.rows.changed(run.name, run.name);
    });
    return () => {
      takeBack(run, change, { startedAt, lastAt });
      this.#settle(run, false);
    };
  }

  /** One operation more or less is under way. */
  move(op: InRun & { readonly updatedAt: EpochMs }, by: 1 | -1): Undo {
    this.#move(op, by);
    return () => this.#move(op, -by);
  }

  #move(op: InRun & { readonly updatedAt: EpochMs }, by: number): void {
    const run = this.#find(op) ?? this.#begin(runName(op), placeOfRun(op), op.updatedAt);
    run.underWay += by;
    this.#settle(run, true);
  }

  /** A run or an agent bears labels, here or elsewhere. */
  give({ of, place, labels }: Pick<LabelsGiven, 'of' | 'place' | 'labels'>): Undo {
    return this.#relabel({ of, place }, this.labels.give({ of, place }, labels), labels[0]?.since ?? 0);
  }

  /** Labels are cleared, here or elsewhere. */
  clear({ of, place, names }: Pick<LabelsCleared, 'of' | 'place' | 'names'>): Undo {
    return this.#relabel({ of, place }, this.labels.clear({ of, place }, names), 0);
  }

  /** A labelled run is known, whatever was counted in it. */
  #relabel(bearer: LabelBearer, undo: Undo, at: EpochMs): Undo {
    if (bearer.of === 'agent') return undo;
    const mark = () => {
      const isLabelled = this.labels.of(bearer).length > 0;
      const name = nameOfPlace(bearer.place);
      const run = this.#byName.get(name) ?? (isLabelled ? this.#begin(name, bearer.place, at) : undefined);
      if (run === undefined) return;
      this.#idle.mark(run, isLabelled);
      this.#settle(run, false);
    };
    mark();
    return () => {
      undo();
      mark();
    };
  }

  /** These are forgotten, here or elsewhere, with their labels. What happened here meanwhile, and is not durable yet, is in new ones. */
  forget({ runs, at, dropped = [] }: Pick<RunsForgotten, 'runs' | 'at' | 'dropped'>): Undo {
    const names = at === undefined ? [] : runs.map((place) => ({ place, at }));
    const undoNames = this.#forgotten.apply(names, dropped);
    return undoAll(undoNames, ...runs.flatMap((place) => [this.#forgetLabels(place), this.#forget(place)]));
  }

  #forgetLabels(place: RunPlace): Undo {
    const bearer: LabelBearer = { of: 'run', place };
    return this.#relabel(bearer, this.labels.clear(bearer), 0);
  }

  #forget(place: RunPlace): Undo {
    const run = this.#byName.get(nameOfPlace(place));
    if (run === undefined) return nothingToApply();
    const { settled } = run;
    const gone = durablePart(run);
    empty(run);
    run.asOf = 0;
    this.#settle(run, false);
    if (run.unsettled.length === 0) this.rows.unchanged(run.name);
    return () => {
      const now = this.#byName.get(run.name) ?? this.#begin(run.name, place, gone.startedAt);
      join(now, gone, settled);
      this.#settle(now, false);
    };
  }

  /** A start counts again what came after the rows. `seq` is the newest entry after the fact. */
  redo(fact: OpOfRun, seq: number): void {
    if ((this.#find(fact.op)?.asOf ?? 0) < seq) this.count(fact, restoring);
  }

  redoForgotten(places: readonly RunPlace[], seq: number): void {
    for (const place of places) if ((this.#byName.get(nameOfPlace(place))?.asOf ?? 0) < seq) this.#forget(place);
  }

  /** Puts labels and the names of forgotten runs back, once runs are restored. Those first that were quiet for longest. */
  restoreLabels(saved: readonly SavedLabel[], forgotten: readonly ForgottenRun[]): void {
    this.#forgotten.apply(
      forgotten.toSorted((a, b) => a.at - b.at),
      [],
    );
    const lastAt = ({ place, label }: SavedLabel) => this.#byName.get(nameOfPlace(place))?.lastAt ?? label.since;
    const quietFirst = saved.toSorted((a, b) => lastAt(a) - lastAt(b) || a.label.since - b.label.since);
    for (const { of, place, label } of quietFirst) this.give({ of, place, labels: [label] });
  }

  /** Puts runs back as they were saved, those first that were quiet for longest. */
  restore(saved: readonly SavedRun[], mark: number): void {
    this.rows.restore(mark);
    for (const one of saved.toSorted((a, b) => a.lastAt - b.lastAt)) {
      const name = nameOfPlace(one.place);
      const run = this.#begin(name, one.place, one.startedAt);
      join(run, one, one);
      run.asOf = one.seq;
      this.#settle(run, false);
      this.rows.unchanged(run.name);
    }
  }

  /** The next step of the present save: runs as they are by the durable log, whose newest entry this is. */
  toSave(most: number, seq: number): SaveStep<SavedRun> {
    return this.rows.next(most, (name) => {
      const run = this.#byName.get(name);
      const durable = run && durablePart(run);
      // Of one that is not durable at all, the log has everything.
      return durable === undefined || durable.checks === 0 ? undefined : { ...durable, seq };
    });
  }

  /** Runs are saved, here or elsewhere. */
  applySaved({ saved, asOf }: RunsSaved, how: Applying): Undo {
    const names = saved.map(({ place }) => nameOfPlace(place));
    const undo = this.rows.apply(
      names.map((name) => [name, name]),
      asOf,
      how,
    );
    if (how.isHere) return undo;
    // Nothing is left to do here for those that are the same.
    for (const [at, name] of names.entries()) if (isSaved(this.#byName.get(name), saved[at])) this.rows.unchanged(name);
    return undo;
  }

  #begin(name: string, place: RunPlace, at: EpochMs): MutableRun {
    const run = newRun(name, place, at);
    this.#byName.set(name, run);
    this.#idle.note(run);
    return run;
  }

  /** Finds a place for a run that has changed. */
  #settle(run: MutableRun, isTouched: boolean): void {
    if (run.checks === 0 && run.underWay === 0 && run.unsettled.length === 0 && !run.isLabelled) {
      this.#byName.delete(run.name);
      this.#idle.drop(run);
      this.rows.unchanged(run.name);
      if (this.#last === run) this.#last = undefined;
      return;
    }
    this.rows.changed(run.name, run.name);
    this.#idle.place(run, isTouched);
  }
}

/** Whether the log has a check of the run, at the place of a fact. Those that wait here come after what others did. */
function hasChecks({ checks, unsettled }: MutableRun, { isHere }: Applying): boolean {
  const waiting = isHere ? 0 : unsettled.reduce((sum, change) => sum + change.checks, 0);
  return checks > waiting;
}

const noRuns: readonly Run[] = [];
