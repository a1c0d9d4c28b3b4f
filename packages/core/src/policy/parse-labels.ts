import { labelOwners, mostLabels } from '../runs/index.ts';
import type { RuleLabels } from './document.ts';
import type { Member, YamlReader } from './yaml-reader.ts';
import type { Document } from 'yaml';

/** What a label may be called. */
export const labelPattern = /^[a-z0-9_.:-]{1,64}$/;

/** Reads `labels` and `labels_of` of a rule, whatever it is about. Undefined if it gives none. */
export function parseLabels(
  yaml: YamlReader,
  document: Document.Parsed,
  labels: Member | undefined,
  labelsOf: Member | undefined,
): RuleLabels | undefined {
  const of = labelsOf === undefined ? 'run' : yaml.choice(labelsOf.value, '"labels_of"', labelOwners);
  if (labels === undefined) {
    if (labelsOf !== undefined) yaml.complain(labelsOf.nameNode, '"labels_of" says who bears "labels"; name them, too');
    return undefined;
  }
  const items = yaml.items(document, labels.value, '"labels"');
  if (items?.length === 0) yaml.complain(labels.nameNode, '"labels" must not be empty; leave it out to give none');
  if (items !== undefined && items.length > mostLabels) {
    yaml.complain(labels.nameNode, `a rule gives at most ${mostLabels} labels`);
    return undefined;
  }
  const names = new Set<string>();
  for (const item of items ?? []) {
    const name = yaml.text(item, 'a label');
    if (name === undefined) continue;
    if (labelPattern.test(name)) names.add(name);
    else yaml.complain(item, 'a label must be 1 to 64 small letters, digits, "_", ".", ":" or "-"');
  }
  return of === undefined || names.size === 0 ? undefined : { names: [...names], of };
}
