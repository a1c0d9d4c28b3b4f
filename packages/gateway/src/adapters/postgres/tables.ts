import type { Table } from '@reeve/core';
import { agentsTable } from '@reeve/core';
import type { SqlValue } from '../sql/sql-database.ts';
import type { NamedColumn } from '../sql/table-sql.ts';
import { changingColumns, columnsOf, placeSql } from '../sql/table-sql.ts';
import type { Statement } from './statement.ts';
import { arrayOf } from './statement.ts';

/** How to merge columns whose new value does not simply replace the old one. */
const merged = new Map<Table, Readonly<Record<string, string>>>([
  [
    agentsTable,
    {
      suspended_at: 'agents.suspended_at',
      suspension_reason: 'agents.suspension_reason',
      suspension_width: 'agents.suspension_width',
      // The ids of both, each once, in order of arrival.
      registered_with: `(SELECT string_agg(id, ' ' ORDER BY place) FROM (
        SELECT id, min(place) AS place
        FROM unnest(string_to_array(concat_ws(' ', agents.registered_with, excluded.registered_with), ' '))
          WITH ORDINALITY AS named (id, place)
        GROUP BY id) AS once)`,
    },
  ],
]);

/** A column in PostgreSQL. */
interface Given {
  readonly name: string;
  readonly type: 'text' | 'bigint';
  readonly of: (item: unknown) => SqlValue;
}

/** The statements that write many rows of a table at once. Their texts are made once. */
class PostgresTable {
  readonly #table: Table;
  readonly #key: readonly Given[];
  readonly #given: readonly Given[];
  /** Inserts rows. The caller appends what to do on conflict. */
  readonly insert: string;
  readonly #save: string;
  readonly #remove: string;

  constructor(table: Table) {
    this.#table = table;
    const columns = columnsOf(table);
    this.#given = columns.filter(({ placeIn }) => placeIn === undefined).map(givenOf);
    this.#key = this.#given.slice(0, Object.keys(table.key).length);
    const places = columns.filter(({ placeIn }) => placeIn !== undefined);
    const names = [...this.#given, ...places].map(({ name }) => name).join(', ');
    const values = [...this.#given.map(({ name }) => `given.${name}`), ...places.map((each) => placeSql(table, each))];
    const key = this.#key.map(({ name }) => name);
    this.insert = `INSERT INTO ${table.name} (${names}) SELECT ${values.join(', ')} FROM ${unnested(this.#given, 'given')}
      ON CONFLICT (${key.join(', ')})`;
    const changed = changingColumns(table).map(
      (column) => `${column} = ${merged.get(table)?.[column] ?? `excluded.${column}`}`,
    );
    this.#save = `${this.insert} DO UPDATE SET ${changed.join(', ')}`;
    this.#remove = `DELETE FROM ${table.name} AS t USING ${unnested(this.#key, 'gone')}
      WHERE ${key.map((column) => `t.${column} = gone.${column}`).join(' AND ')}`;
  }

  valuesOf(item: unknown): SqlValue[] {
    return this.#given.map((column) => column.of(item));
  }

  /** Writes rows and replaces those with the same keys. No key may come twice. */
  save(rows: readonly (readonly SqlValue[])[]): Statement {
    return { name: `save_${this.#table.name}`, text: this.#save, values: this.arraysOf(rows) };
  }

  remove(keys: readonly (readonly SqlValue[])[]): Statement {
    const values = this.#key.map((_, index) => arrayOf(keys.map((key) => key[index] ?? null)));
    return { name: `remove_${this.#table.name}`, text: this.#remove, values };
  }

  /** Rows in the form that `insert` takes: an array for each column. */
  arraysOf(rows: readonly (readonly SqlValue[])[]): string[] {
    return this.#given.map((_, index) => arrayOf(rows.map((row) => row[index] ?? null)));
  }
}

const known = new Map<Table, PostgresTable>();

export function postgresTable(table: Table): PostgresTable {
  let found = known.get(table);
  if (found === undefined) {
    found = new PostgresTable(table);
    known.set(table, found);
  }
  return found;
}

function givenOf({ name, type, of }: NamedColumn): Given {
  return { name, type: type === 'text' ? 'text' : 'bigint', of };
}

function unnested(columns: readonly Given[], name: string): string {
  const arrays = columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ');
  return `unnest(${arrays}) AS ${name} (${columns.map((column) => column.name).join(', ')})`;
}
