import type { EpochMs, Micros } from '../kernel/index.ts';
import type { InRun, RunAgent, RunPlace } from './run.ts';

/** A run as the store keeps it. */
export interface SavedRun {
  readonly place: RunPlace;
  readonly startedAt: EpochMs;
  readonly lastAt: EpochMs;
  readonly checks: number;
  readonly denied: number;
  /** Sums in digits: they may pass what a number holds. */
  readonly spentMicros: string;
  readonly costMicros: string;
  readonly agents: readonly RunAgent[];
  /** Entries of the log up to this one are in it. */
  readonly seq: number;
}

/** Runs were saved. */
export interface RunsSaved {
  readonly kind: 'runs_saved';
  readonly saved: readonly SavedRun[];
  /** All runs are true up to this entry from now on. Null before the last step of a save. */
  readonly asOf: number | null;
}

/** Runs were quiet for long, or had to make room. Whoever takes up their ids begins new ones. */
export interface RunsForgotten {
  readonly kind: 'runs_forgotten';
  readonly runs: readonly RunPlace[];
}

export type RunsChange = RunsSaved | RunsForgotten;

/** What a fact of an operation says of its run. */
export interface OpOfRun {
  readonly op: InRun & {
    readonly state: string;
    readonly digest: string;
    readonly updatedAt: EpochMs;
    readonly costMicros: Micros;
    readonly reservedMicros: Micros;
  };
  /** It is the first check of the operation. */
  readonly checked?: true;
  /** The day on which its cost counts, if the move settled one. */
  readonly booked?: string;
}

/** The runs that a start loads, before it adds the later log entries. */
export interface RunsSnapshot {
  readonly runs: readonly SavedRun[];
  /** The entry up to which they are true. Null if none were saved yet. */
  readonly runsMark: number | null;
}
