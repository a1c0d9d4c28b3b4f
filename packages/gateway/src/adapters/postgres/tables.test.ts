import { everyKindOfChange, everyTable } from '@reeve/core/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDatabase } from '../../../../../tests/harness/postgres.ts';
import { TestPostgres } from '../../../../../tests/harness/postgres.ts';
import { parsePostgresUrl } from '../../config/postgres-url.ts';
import { columnsOf } from '../sql/table-sql.ts';
import { changeStatements } from './change-statements.ts';
import { connectFirst, disconnect } from './connection.ts';
import { migratePostgres } from './migrate-postgres.ts';
import { postgresTable } from './tables.ts';

let server: TestPostgres;
let database: TestDatabase;
beforeAll(async () => {
  server = await TestPostgres.start();
  database = await server.createDatabase();
  const { client } = await connectFirst(parsePostgresUrl(database.url));
  await migratePostgres(client);
  await disconnect(client);
});
afterAll(() => server[Symbol.asyncDispose]());

test.each(everyTable.map((table) => [table.name, table] as const))(
  '%s has the columns that its rows are described with, and takes its statements',
  async (name, table) => {
    const real = await database.query(
      'SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_name = $1',
      [name],
    );
    const described = columnsOf(table).map((column) => [column.name, column.type]);
    const found = real.map((column) => [column['name'], column['type'] === 'text' ? 'text' : 'integer']);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(described));
    // With no rows, the database still checks the columns, their types and the key.
    for (const { text, values } of [postgresTable(table).save([]), postgresTable(table).remove([])]) {
      await database.query(text, values);
    }
  },
);

test('every kind of change has statements that the database takes, each under a name of its own', async () => {
  const texts = new Map<string, string>();
  for (const change of everyKindOfChange) {
    const statements = changeStatements([change]);
    if (!['op_asked', 'op_result_judged', 'rates_counted', 'rights_changed'].includes(change.kind))
      expect(statements).not.toHaveLength(0);
    for (const { name, text, values } of statements) {
      expect(texts.get(name) ?? text).toBe(text);
      texts.set(name, text);
      // PostgreSQL cuts names after 63 bytes, so longer names could collide.
      expect(name.length).toBeLessThan(64);
      await database.query(text, values);
    }
  }
});
