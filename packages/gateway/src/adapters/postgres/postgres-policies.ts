import type { PolicyStore } from '@reeve/core';
import { policyVersionsTable, readings } from '@reeve/core';
import { SqlPolicies } from '../sql/sql-policies.ts';
import { readingSql } from '../sql/table-sql.ts';
import type { PostgresDatabase } from './postgres-database.ts';

const newest = readingSql(readings.policies);

/** What gateways on one database keep of policies. Their changes wait for each other by a lock in the database. */
export function postgresPolicies(database: PostgresDatabase): PolicyStore {
  let last: Promise<unknown> = Promise.resolve();
  return new SqlPolicies(database, (work) => {
    // Within a gateway one at a time, so that those who wait do not take up connections.
    const result = last.then(() =>
      database.transaction(['policies'], async (sql) => work((await sql.all(newest)).map(policyVersionsTable.itemOf))),
    );
    last = result.catch(() => undefined);
    return result;
  });
}
