import type { PolicyStore } from '@reeve/core';
import { policyVersionsTable, readings } from '@reeve/core';
import { SqlPolicies } from '../sql/sql-policies.ts';
import { readingSql } from '../sql/table-sql.ts';
import type { PostgresDatabase } from './postgres-database.ts';

const newest = readingSql(readings.policies);

/** The policies of the gateways on one database. A lock in the database serializes their changes. */
export function postgresPolicies(database: PostgresDatabase): PolicyStore {
  let last: Promise<unknown> = Promise.resolve();
  return new SqlPolicies(database, (work) => {
    // One change at a time per gateway, so that waiting changes do not take up connections.
    const result = last.then(() =>
      database.transaction(['policies'], async (sql) => work((await sql.all(newest)).map(policyVersionsTable.itemOf))),
    );
    last = result.catch(() => undefined);
    return result;
  });
}
