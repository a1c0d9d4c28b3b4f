import type { PolicySetRecord, PolicySource, PolicyVersion, StoredVersion } from '@reeve/core';
import { setsKept, versionsKept } from '@reeve/core';
import type { SqlValue } from './sql-database.ts';
import type { Row } from './sqlite-rows.ts';
import { number, optionalText, text } from './sqlite-rows.ts';

export const newestPlace = '(SELECT COALESCE(MAX(place), 0) FROM policy_sets)';

/** How policies are read and written, in SQL that every database takes. */
export const policySql = {
  saveVersion: `
    INSERT INTO policy_versions (name, version, scope, source, record) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (name, version) DO UPDATE
      SET scope = excluded.scope, source = excluded.source, record = excluded.record`,
  removeVersions: 'DELETE FROM policy_versions WHERE name = ? AND version <= ?',
  saveSet: `
    INSERT INTO policy_sets (version, place, record) VALUES (?, ${newestPlace} + 1, ?)
      ON CONFLICT (version) DO UPDATE SET place = excluded.place, record = excluded.record`,
  saveText: `
    INSERT INTO policy_texts (hash, place, text) VALUES (?, ${newestPlace}, ?)
      ON CONFLICT (hash) DO UPDATE SET place = excluded.place`,
  removeTexts: `DELETE FROM policy_texts WHERE place <= ${newestPlace} - ${setsKept}`,
  removeSets: `DELETE FROM policy_sets WHERE place <= ${newestPlace} - ${setsKept}`,
  newest: `
    SELECT v.* FROM policy_versions v
      JOIN (SELECT name, MAX(version) AS version FROM policy_versions GROUP BY name) newest
      ON newest.name = v.name AND newest.version = v.version ORDER BY v.name`,
  outline: 'SELECT version, scope FROM policy_versions WHERE name = ? ORDER BY version DESC',
  version: 'SELECT * FROM policy_versions WHERE name = ? AND version = ?',
  set: 'SELECT record FROM policy_sets WHERE version = ?',
  text: 'SELECT text FROM policy_texts WHERE hash = ?',
} as const;

export function versionValues(saved: PolicyVersion): SqlValue[] {
  const { name, version, scope, source, ...record } = saved;
  return [name, version, scope, source, JSON.stringify(record)];
}

type VersionRecord = Pick<StoredVersion, 'savedAt' | 'savedBy' | 'note' | 'width'>;

/** What was stored before widths were has none: the key that it was saved by tells. */
const fromBefore: Pick<StoredVersion, 'width'> = { width: null };

export function versionOf(row: Row): StoredVersion {
  return {
    ...fromBefore,
    name: text(row, 'name'),
    version: number(row, 'version'),
    scope: text(row, 'scope'),
    source: optionalText(row, 'source'),
    ...(JSON.parse(text(row, 'record')) as VersionRecord),
  };
}

/** The newest version that is given up now that this one is there. */
export function lastGivenUp({ version }: PolicyVersion): number {
  return version - versionsKept;
}

type SetMember = Omit<PolicySource, 'text'> & { readonly hash: string };

/** Which texts a set has, by their hashes. Of sets that were remembered before authors were, all are the operator's. */
export function setRecord({ at, sources }: PolicySetRecord): string {
  const members = sources.map(({ file, name, author, hash }) => ({ file, name, author, hash }));
  return JSON.stringify({ at, sources: members });
}

export function setMembers(row: Row): readonly SetMember[] {
  return (JSON.parse(text(row, 'record')) as { readonly sources: readonly SetMember[] }).sources;
}

/** Each text of a set once. */
export function textsOfSet({ sources }: PolicySetRecord): ReadonlyMap<string, string> {
  return new Map(sources.map((source) => [source.hash, source.text]));
}
