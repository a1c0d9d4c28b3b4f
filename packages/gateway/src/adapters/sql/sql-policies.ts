import type { PolicySource, PolicyStore, StoredVersion } from '@reeve/core';
import { numberIn, policySetsTable, policyVersionsTable, textIn } from '@reeve/core';
import type { SqlSession } from './sql-database.ts';

/** The lookups of policies, in SQL that every database takes. */
const policyQueries = {
  outline: 'SELECT version, scope FROM policy_versions WHERE name = ? ORDER BY version DESC',
  version: 'SELECT * FROM policy_versions WHERE name = ? AND version = ?',
  set: 'SELECT record FROM policy_sets WHERE version = ?',
  text: 'SELECT text FROM policy_texts WHERE hash = ?',
} as const;

/** The stored policies. The store writes them, together with all else that a turn makes durable. */
export class SqlPolicies implements PolicyStore {
  readonly #sql: Pick<SqlSession, 'all'>;
  readonly alone: PolicyStore['alone'];

  /** `alone` as in the port. A database with a single gateway needs no lock for it. */
  constructor(sql: Pick<SqlSession, 'all'>, alone: PolicyStore['alone'] = (work) => work([])) {
    this.#sql = sql;
    this.alone = alone;
  }

  async find(version: string): Promise<readonly PolicySource[] | undefined> {
    const [row] = await this.#sql.all(policyQueries.set, version);
    if (row === undefined) return undefined;
    const sources: PolicySource[] = [];
    for (const { hash, ...member } of policySetsTable.itemOf(row)) {
      const [found] = await this.#sql.all(policyQueries.text, hash);
      if (found === undefined) return undefined;
      sources.push({ ...member, text: textIn(found, 'text') });
    }
    return sources;
  }

  async outline(name: string): Promise<readonly Pick<StoredVersion, 'version' | 'scope'>[]> {
    const rows = await this.#sql.all(policyQueries.outline, name);
    return rows.map((row) => ({ version: numberIn(row, 'version'), scope: textIn(row, 'scope') }));
  }

  async versions(name: string, wanted: readonly number[]): Promise<readonly StoredVersion[]> {
    const found: StoredVersion[] = [];
    for (const version of wanted.toSorted((a, b) => b - a)) {
      found.push(...(await this.#sql.all(policyQueries.version, name, version)).map(policyVersionsTable.itemOf));
    }
    return found;
  }
}
