import type { EpochMs } from '../kernel/index.ts';
import type { KnownRuns } from './known-runs.ts';
import type { LabelBearer, LabelOwner, OwedLabel } from './label.ts';
import { bearersOwed, eachOnce, labelOwners, mostLabels, namesIn, noLabels } from './label.ts';
import type { InRun } from './run.ts';
import type { LabelsGiven } from './runs-slice.ts';

interface Labelling {
  readonly journal: { apply(fact: LabelsGiven): void };
  readonly runs: Pick<KnownRuns, 'labels'>;
}

/** What a bearer lacks of what it is owed. */
interface Lacking {
  readonly bearer: LabelBearer;
  readonly isFirst: boolean;
  readonly borne: number;
  readonly owed: readonly OwedLabel[];
}

/**
 * Gives labels to the run of an operation, or to its agent and everybody above it, in the turn at hand. Whoever bears one
 * already keeps it as it is. Returns the names of those that are new to somebody.
 */
export function giveLabels(
  gov: Labelling,
  op: InRun & { readonly opId: string },
  owed: readonly OwedLabel[],
  since: EpochMs,
): readonly string[] {
  const all = lackingOf(gov, op, owed);
  if (all.length === 0) return noNames;
  const given = new Set<string>();
  for (const { bearer, owed: lacking } of all) {
    const labels = lacking.map(({ name, policyRule }) => ({ name, since, opId: op.opId, policyRule }));
    gov.journal.apply({ kind: 'labels_given', ...bearer, by: op.agent, labels });
    for (const { name } of labels) given.add(name);
  }
  return [...given];
}

/** Why labels cannot be given, if they cannot. */
export function refuseLabels(gov: Pick<Labelling, 'runs'>, op: InRun, owed: readonly OwedLabel[]): string | undefined {
  for (const { bearer, isFirst, borne, owed: lacking } of lackingOf(gov, op, owed)) {
    if (borne + lacking.length > mostLabels) return 'too many labels';
    if (isFirst && !gov.runs.labels.mayLabel(bearer)) {
      return bearer.of === 'run' ? 'too many labelled runs in this org' : 'too many labelled agents in this team';
    }
  }
  return undefined;
}

const noNames: readonly string[] = [];
const nobody: readonly Lacking[] = [];

/** Mostly nobody lacks anything: a rule gives its labels with every call. */
function lackingOf({ runs }: Pick<Labelling, 'runs'>, op: InRun, owed: readonly OwedLabel[]): readonly Lacking[] {
  if (owed.length === 0) return nobody;
  let found = nobody;
  for (const owner of labelOwners) {
    if (!owed.some(({ of }) => of === owner)) continue;
    for (const bearer of bearersOwed(op, owner)) {
      const borne = namesIn(runs.labels.of(bearer));
      const lacking = notAmong(borne, owed, owner);
      if (lacking.length === 0) continue;
      found = [...found, { bearer, isFirst: borne.size === 0, borne: borne.size, owed: eachOnce(lacking) }];
    }
  }
  return found;
}

function notAmong(borne: ReadonlySet<string>, owed: readonly OwedLabel[], owner: LabelOwner): readonly OwedLabel[] {
  let lacking: OwedLabel[] | undefined;
  for (const label of owed) if (label.of === owner && !borne.has(label.name)) (lacking ??= []).push(label);
  return lacking ?? noLabels;
}
