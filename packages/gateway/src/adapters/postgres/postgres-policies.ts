import type { PolicySetRecord, PolicyStore } from '@reeve/core';
import { newestPlace, policySql, textsOfSet, versionOf } from '../sql/policy-rows.ts';
import { SqlPolicies } from '../sql/sql-policies.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import type { Statement } from './statement.ts';
import { arrayOf } from './statement.ts';

/** What gateways on one database keep of policies. Their changes wait for each other by a lock in the database. */
export function postgresPolicies(database: PostgresDatabase): PolicyStore {
  let last: Promise<unknown> = Promise.resolve();
  return new SqlPolicies(database, (work) => {
    // Within a gateway one at a time, so that those who wait do not take up connections.
    const result = last.then(() =>
      database.transaction(['policies'], async (sql) => work((await sql.all(policySql.newest)).map(versionOf))),
    );
    last = result.catch(() => undefined);
    return result;
  });
}

/** Writes the texts of a set, however many, with one statement. It comes after the set. */
export function textsStatement(set: PolicySetRecord): Statement {
  const texts = [...textsOfSet(set)];
  return {
    name: 'save_policy_texts',
    text: `INSERT INTO policy_texts (hash, place, text)
      SELECT t.hash, ${newestPlace}, t.text FROM unnest($1::text[], $2::text[]) AS t (hash, text)
      ON CONFLICT (hash) DO UPDATE SET place = excluded.place`,
    values: [arrayOf(texts.map(([hash]) => hash)), arrayOf(texts.map(([, text]) => text))],
  };
}
