import type { AgentId, EpochMs, Micros } from '../kernel/index.ts';
import type { ForgottenRun } from './forgotten-runs.ts';
import type { Label, LabelBearer } from './label.ts';
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
  /** When. Facts of earlier releases do not say. */
  readonly at?: EpochMs;
  /** Names of forgotten runs that need not be remembered any more. */
  readonly dropped?: readonly RunPlace[];
}

/** A run or an agent bears labels from now on. */
export interface LabelsGiven extends LabelBearer {
  readonly kind: 'labels_given';
  /** The agent whose operation gave them. */
  readonly by: AgentId;
  readonly labels: readonly Label[];
}

/** Somebody has cleared labels of a run or an agent. */
export interface LabelsCleared extends LabelBearer {
  readonly kind: 'labels_cleared';
  readonly names: readonly string[];
}

export type RunsChange = RunsSaved | RunsForgotten | LabelsGiven | LabelsCleared;

/** A label as the store keeps it. */
export interface SavedLabel extends LabelBearer {
  readonly label: Label;
}

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
  readonly labels: readonly SavedLabel[];
  readonly forgottenRuns: readonly ForgottenRun[];
}
