import type { AgentId } from '../kernel/index.ts';

/** A value as every store holds it. */
export type Value = string | number | null;

/** A row as a database returns it. */
export type Row = Readonly<Record<string, unknown>>;

/** What stands in a column of a row. */
export interface Column<Item> {
  readonly type: 'text' | 'integer';
  of(item: Item): Value;
  /** It never changes once the row is there, so a store need not write it again. */
  readonly isFixed?: true;
  /** The store counts it: the newest place of this table, and of a row that is pushed onto the table itself, the next. */
  readonly placeIn?: string;
}

/**
 * The rows of one kind, as every store keeps them: memory holds the items, databases the columns. `Stored` is what a row
 * says, where that is not all of the item.
 */
export interface Table<Item = unknown, Key extends string = string, Stored = Item> {
  readonly name: string;
  readonly key: Readonly<Record<Key, Column<Item>>>;
  /** The columns beside the key. */
  readonly columns: Readonly<Record<string, Column<Item>>>;
  /** All that the columns say of an item, in their order: for a table that every decision writes to. */
  valuesOf?(item: Item): Value[];
  itemOf(row: Row): Stored;
}

/** What one change does to rows. */
export type Write =
  /** A row is written in place of the one with its key, where there is one. */
  | { readonly way: 'put'; readonly table: Table; readonly item: unknown }
  | { readonly way: 'remove'; readonly table: Table; readonly key: readonly Value[] }
  /** What is stored decides what is stored next; undefined stands for no row. */
  | {
      readonly way: 'update';
      readonly table: Table;
      readonly key: readonly Value[];
      readonly after: (before: unknown) => unknown;
    }
  /** Retention: rows that fit are given up, whichever gateway has written them. */
  | ({ readonly way: 'prune'; readonly table: Table; readonly where: readonly RowCondition[] } & Cut)
  /** All rows of this gateway are given up. */
  | { readonly way: 'clear'; readonly table: Table }
  /** A row comes after all others of its table, with its parts. The newest `kept` stay, and the parts that they have. */
  | {
      readonly way: 'push';
      readonly table: Table;
      readonly item: unknown;
      readonly partsTable: Table;
      readonly parts: readonly unknown[];
      readonly kept: number;
    };

export type Push = Extract<Write, { readonly way: 'push' }>;
export type Prune = Extract<Write, { readonly way: 'prune' }>;

export type RowCondition =
  | { readonly column: string; readonly is: '=' | '<' | '<='; readonly value: string | number }
  /** Of a flag. It is no value, as databases have indexes over it. */
  | { readonly column: string; readonly is: 'on' | 'off' };

/** Which of the rows that fit are given up at once. */
export interface Cut {
  /** Up to so many, */
  readonly most?: number;
  /** the first by these columns, */
  readonly order?: readonly string[];
  /** or the last by them, without the very last ones: so many stay. */
  readonly beyond?: number;
  /** Rows whose values this table has a row for stay. */
  readonly unlessIn?: Table;
}

/** The rows that a start reads. */
export interface Reading<Item> {
  readonly table: Table<never, string, Item>;
  readonly where: readonly RowCondition[];
  /** Only so many, the last by these columns. */
  readonly newest?: { readonly by: readonly string[]; readonly most: number };
  /** Of the rows that differ in this column of the key alone, the one where it is greatest. */
  readonly latest?: string;
}

/** Each kind of change, and what it does to rows: a kind that is left out does not compile. */
export type RowsOf<Change extends { readonly kind: string }> = {
  readonly [Kind in Change['kind']]: (change: Extract<Change, { readonly kind: Kind }>) => readonly Write[];
};

export function put<Item>(table: Table<Item, string, unknown>, item: NoInfer<Item>): Write {
  return { way: 'put', table, item };
}

export function remove<Key extends string>(
  table: Table<never, Key, unknown>,
  key: NoInfer<Readonly<Record<Key, Value>>>,
): Write {
  return { way: 'remove', table, key: keyValues(table, key) };
}

export function update<Item, Key extends string>(
  table: Table<Item, Key>,
  key: NoInfer<Readonly<Record<Key, Value>>>,
  after: (before: NoInfer<Item> | undefined) => NoInfer<Item> | undefined,
): Write {
  return { way: 'update', table, key: keyValues(table, key), after: after as (before: unknown) => unknown };
}

export function prune(table: Table<never, string, unknown>, where: readonly RowCondition[], cut: Cut = {}): Write {
  return { way: 'prune', table, where, ...cut };
}

export function push<Item, Part>(
  table: Table<Item, string, unknown>,
  item: NoInfer<Item>,
  partsTable: Table<Part, string, unknown>,
  parts: readonly NoInfer<Part>[],
  kept: number,
): Write {
  return { way: 'push', table, item, partsTable, parts, kept };
}

export function clear(table: Table<never, string, unknown>): Write {
  return { way: 'clear', table };
}

export function every<Item>(
  table: Table<never, string, Item>,
  where: readonly RowCondition[] = [],
  which: Pick<Reading<Item>, 'newest' | 'latest'> = {},
): Reading<Item> {
  return { table, where, ...which };
}

function keyValues<Key extends string>(
  table: Table<never, Key, unknown>,
  key: Readonly<Record<Key, Value>>,
): readonly Value[] {
  return (Object.keys(table.key) as Key[]).map((column) => key[column]);
}

export function text<Item>(of: (item: Item) => string | null): Column<Item> {
  return { type: 'text', of };
}

export function integer<Item>(of: (item: Item) => number | null): Column<Item> {
  return { type: 'integer', of };
}

/** Truth as a number, which every database has. */
export function flag<Item>(of: (item: Item) => boolean): Column<Item> {
  return { type: 'integer', of: (item) => (of(item) ? 1 : 0) };
}

export function fixed<Item>(column: Column<Item>): Column<Item> {
  return { ...column, isFixed: true };
}

/** The name of a column that names the owner of a row. */
export type AgentColumn = 'org_id' | 'team_id' | 'agent_id';

export function agentColumns<Item>(of: (item: Item) => AgentId): Readonly<Record<AgentColumn, Column<Item>>> {
  return {
    org_id: fixed(text((item) => of(item).orgId)),
    team_id: fixed(text((item) => of(item).teamId)),
    agent_id: fixed(text((item) => of(item).agentId)),
  };
}

export function agentValues({ orgId, teamId, agentId }: AgentId): Readonly<Record<AgentColumn, Value>> {
  return { org_id: orgId, team_id: teamId, agent_id: agentId };
}

export function agentIdOf(row: Row): AgentId {
  return { orgId: textIn(row, 'org_id'), teamId: textIn(row, 'team_id'), agentId: textIn(row, 'agent_id') };
}

export function textIn(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`the column ${column} holds no text`);
  return value;
}

export function numberIn(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw new TypeError(`the column ${column} holds no number`);
  return value;
}

export function optionalTextIn(row: Row, column: string): string | null {
  return row[column] === null ? null : textIn(row, column);
}

export function optionalNumberIn(row: Row, column: string): number | null {
  return row[column] === null ? null : numberIn(row, column);
}

/** A number that a gateway remembers by its name. */
export interface Mark {
  readonly name: string;
  readonly value: number | null;
}

export const marksTable: Table<Mark, 'name'> = {
  name: 'meta',
  key: { name: text(({ name }) => name) },
  columns: { value: text(({ value }) => (value === null ? null : String(value))) },
  itemOf: (row) => {
    const value = optionalTextIn(row, 'value');
    return { name: textIn(row, 'name'), value: value === null ? null : Number(value) };
  },
};
