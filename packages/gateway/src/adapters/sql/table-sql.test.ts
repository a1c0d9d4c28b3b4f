import { DatabaseSync } from 'node:sqlite';
import type { Prune } from '@reeve/core';
import { writesOf } from '@reeve/core';
import { everyTable } from '@reeve/core/testkit';
import { expect, test } from 'vitest';
import { migrate } from './migrate.ts';
import { columnsOf, pruneSql } from './table-sql.ts';

function open(): DatabaseSync {
  const db = new DatabaseSync(':memory:');
  migrate(db);
  return db;
}

test.each(everyTable.map((table) => [table.name, table] as const))(
  '%s has the columns and the key that its rows are described with',
  (name, table) => {
    const db = open();
    const real = db.prepare(`SELECT name, type, pk FROM pragma_table_info('${name}')`).all();
    const described = columnsOf(table).map((column) => [column.name, column.type]);
    const found = real.map((column) => [column['name'], column['type'] === 'TEXT' ? 'text' : 'integer']);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(described));
    const key = real.filter(({ pk }) => pk !== 0).toSorted((a, b) => Number(a['pk']) - Number(b['pk']));
    expect(key.map((column) => column['name'])).toEqual(Object.keys(table.key));
    db.close();
  },
);

test('retention finds what is old by its index', () => {
  const db = open();
  const planOf = (write: Prune) =>
    db
      .prepare(`EXPLAIN QUERY PLAN ${pruneSql(write)}`)
      .all()
      .map(({ detail }) => String(detail))
      .join('\n');
  const [receipts] = writesOf({ kind: 'receipts_removed', before: 1, most: 1 });
  expect(planOf(receipts as Prune)).toContain('USING INDEX control_receipts_by_age');
  db.close();
});
