import type { EpochMs } from '../kernel/index.ts';
import { rememberingOf } from '../kernel/index.ts';
import type { InRun, RunPlace } from './run.ts';
import { nameOfPlace, placeOfRun } from './run.ts';

/** Who may bear labels: a run, or an agent in all its runs. */
export const labelOwners = ['run', 'agent'] as const;

export type LabelOwner = (typeof labelOwners)[number];

/** A label that a rule gives, before anybody bears it. */
export interface OwedLabel {
  readonly name: string;
  readonly of: LabelOwner;
  /** `<document>/<rule>` */
  readonly policyRule: string;
}

export const noLabels: readonly OwedLabel[] = [];

/** Each label of a bearer once, by the rule that comes first. */
export function eachOnce(owed: Iterable<OwedLabel>): readonly OwedLabel[] {
  const found = new Map<string, OwedLabel>();
  for (const label of owed) {
    const key = `${label.of} ${label.name}`;
    if (!found.has(key)) found.set(key, label);
  }
  return [...found.values()];
}

/** A label as a run or an agent bears it: since when, and what gave it. */
export interface Label {
  readonly name: string;
  readonly since: EpochMs;
  readonly opId: string;
  readonly policyRule: string;
}

/** Who bears labels. An agent has no run id in its place. */
export interface LabelBearer {
  readonly of: LabelOwner;
  readonly place: RunPlace;
}

/** A run bears at most so many labels, and so does an agent. */
export const mostLabels = 64;

/** Bearers are known by this. */
export function bearerName({ of, place }: LabelBearer): string {
  return `${of} ${nameOfPlace(place)}`;
}

export function runBearer(op: InRun): LabelBearer {
  return { of: 'run', place: placeOfRun(op) };
}

/** An agent of the same org and team as this operation. */
export function agentBearer({ agent: { orgId, teamId } }: InRun, agentId: string): LabelBearer {
  return { of: 'agent', place: { orgId, teamId, runId: '', agentId } };
}

/** Whose labels count in a run: its own, those of the agent, and those of everybody on whose behalf it acts. */
export function bearersOf(op: InRun): readonly LabelBearer[] {
  return [runBearer(op), agentBearer(op, op.agent.agentId), ...op.delegators.map((id) => agentBearer(op, id))];
}

/** Who bears a label that a rule gives. Whoever delegates reads what its delegate reads. */
export function bearersOwed(op: InRun, of: LabelOwner): readonly LabelBearer[] {
  return of === 'run' ? [runBearer(op)] : bearersOf(op).slice(1);
}

/** The names of labels, each once, in order. Most checks of a run read those that it has had before. */
export const namesOfLabels = rememberingOf((labels: readonly Label[]): readonly string[] => {
  return [...namesIn(labels)].toSorted();
});

/** The same to look for one. */
export const namesIn = rememberingOf((labels: readonly Label[]): ReadonlySet<string> => {
  return new Set(labels.map(({ name }) => name));
});
