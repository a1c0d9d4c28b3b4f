import type { Row, Table } from '../journal/index.ts';
import { fixed, integer, numberIn, optionalTextIn, text, textIn } from '../journal/index.ts';
import type { PolicySource } from './parse-source.ts';
import type { PolicySetRecord, PolicyVersion, StoredVersion } from './store/policy-version.ts';

export const policyVersionsTable: Table<PolicyVersion, 'name' | 'version', StoredVersion> = {
  name: 'policy_versions',
  key: { name: text(({ name }) => name), version: integer(({ version }) => version) },
  columns: {
    scope: text(({ scope }) => scope),
    source: text(({ source }) => source),
    record: text(versionRecord),
  },
  itemOf: (row) => ({
    ...fromBefore,
    name: textIn(row, 'name'),
    version: numberIn(row, 'version'),
    scope: textIn(row, 'scope'),
    source: optionalTextIn(row, 'source'),
    ...(JSON.parse(textIn(row, 'record')) as VersionRecord),
  }),
};

type VersionRecord = Pick<StoredVersion, 'savedAt' | 'savedBy' | 'note' | 'width'>;

/** Versions from before widths were stored have none. The key that saved them tells. */
const fromBefore: Pick<StoredVersion, 'width'> = { width: null };

/** Everything without a column of its own. */
function versionRecord(saved: PolicyVersion): string {
  return JSON.stringify({ ...saved, name: undefined, version: undefined, scope: undefined, source: undefined });
}

/** A document of a past set. Its text has a row of its own. */
export type SetMember = Omit<PolicySource, 'text'> & { readonly hash: string };

/** The texts of a set, by their hashes. In sets from before authors were stored, all texts are the operator's. */
export const policySetsTable: Table<PolicySetRecord, 'version', readonly SetMember[]> = {
  name: 'policy_sets',
  key: { version: text(({ version }) => version) },
  columns: {
    place: { type: 'integer', of: () => null, placeIn: 'policy_sets' },
    record: text(({ at, sources }) => {
      const members = sources.map(({ file, name, author, hash }) => ({ file, name, author, hash }));
      return JSON.stringify({ at, sources: members });
    }),
  },
  itemOf: (row: Row) => (JSON.parse(textIn(row, 'record')) as { readonly sources: readonly SetMember[] }).sources,
};

interface PolicyText {
  readonly hash: string;
  readonly text: string;
}

/** A text that many sets share is kept once. Its place is that of the newest of them. */
export const policyTextsTable: Table<PolicyText, 'hash'> = {
  name: 'policy_texts',
  key: { hash: text(({ hash }) => hash) },
  columns: {
    place: { type: 'integer', of: () => null, placeIn: 'policy_sets' },
    text: fixed(text((each) => each.text)),
  },
  itemOf: (row) => ({ hash: textIn(row, 'hash'), text: textIn(row, 'text') }),
};

/** Each text of a set once. */
export function textsOf({ sources }: PolicySetRecord): PolicyText[] {
  return [...new Map(sources.map((source) => [source.hash, source])).values()];
}
