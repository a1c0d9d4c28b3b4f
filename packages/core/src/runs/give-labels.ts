import type { EpochMs } from '../kernel/index.ts';
import type { KnownRuns } from './known-runs.ts';
import type { LabelBearer, OwedLabel } from './label.ts';
import { bearersOwed, labelOwners, mostLabels } from './label.ts';
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
  const given = new Set<string>();
  for (const { bearer, owed: lacking } of lackingOf(gov, op, owed)) {
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

function* lackingOf({ runs }: Pick<Labelling, 'runs'>, op: InRun, owed: readonly OwedLabel[]): Generator<Lacking> {
  for (const owner of labelOwners) {
    const own = owed.filter((label) => label.of === owner);
    if (own.length === 0) continue;
    for (const bearer of bearersOwed(op, owner)) {
      const known = new Set(runs.labels.of(bearer).map(({ name }) => name));
      const borne = known.size;
      const lacking: OwedLabel[] = [];
      for (const label of own) {
        if (known.has(label.name)) continue;
        known.add(label.name);
        lacking.push(label);
      }
      if (lacking.length > 0) yield { bearer, isFirst: borne === 0, borne, owed: lacking };
    }
  }
}
