import type { PolicyStore, PolicySource, StoredVersion } from '@reeve/core';
import { policySql, setMembers, versionOf } from './policy-rows.ts';
import type { SqlSession } from './sql-database.ts';
import { number, text } from './sqlite-rows.ts';

/** What a database keeps of policies. Writing is the store's, with all else that a turn makes durable. */
export class SqlPolicies implements PolicyStore {
  readonly #sql: Pick<SqlSession, 'all'>;
  readonly alone: PolicyStore['alone'];

  /** `alone` as the port has it; a database that one gateway has to itself needs nothing for it. */
  constructor(sql: Pick<SqlSession, 'all'>, alone: PolicyStore['alone'] = (work) => work([])) {
    this.#sql = sql;
    this.alone = alone;
  }

  async find(version: string): Promise<readonly PolicySource[] | undefined> {
    const [row] = await this.#sql.all(policySql.set, version);
    if (row === undefined) return undefined;
    const sources: PolicySource[] = [];
    for (const { hash, ...member } of setMembers(row)) {
      const [found] = await this.#sql.all(policySql.text, hash);
      if (found === undefined) return undefined;
      sources.push({ ...member, text: text(found, 'text') });
    }
    return sources;
  }

  async outline(name: string): Promise<readonly Pick<StoredVersion, 'version' | 'scope'>[]> {
    const rows = await this.#sql.all(policySql.outline, name);
    return rows.map((row) => ({ version: number(row, 'version'), scope: text(row, 'scope') }));
  }

  async versions(name: string, wanted: readonly number[]): Promise<readonly StoredVersion[]> {
    const found: StoredVersion[] = [];
    for (const version of wanted.toSorted((a, b) => b - a)) {
      found.push(...(await this.#sql.all(policySql.version, name, version)).map(versionOf));
    }
    return found;
  }
}
