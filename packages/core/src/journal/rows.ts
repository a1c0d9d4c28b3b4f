import type { AgentId } from '../kernel/index.ts';

/** A value as every store holds it. */
export type Value = string | number | null;

/** A row as a database returns it. */
export type Row = Readonly<Record<string, unknown>>;

/** How a column gets its value from an item. */
export interface Column<Item> {
  readonly type: 'text' | 'integer';
  of(item: Item): Value;
  /** The value never changes once the row is there, so a store need not write it again. */
  readonly isFixed?: true;
  /** The store assigns it: the newest place of this table, or the next one for a row pushed onto this table itself. */
  readonly placeIn?: string;
}

/**
 * The rows of one kind. The memory store keeps the items, databases keep the columns. `Stored` is what a row says, if
 * that is less than the whole item.
 */
export interface Table<Item = unknown, Key extends string = string, Stored = Item> {
  readonly name: string;
  readonly key: Readonly<Record<Key, Column<Item>>>;
  /** The columns beside the key. */
  readonly columns: Readonly<Record<string, Column<Item>>>;
  /** All column values of an item, in order. For a table that every decision writes to. */
  valuesOf?(item: Item): Value[];
  itemOf(row: Row): Stored;
}

/** What one change does to rows. */
export type Write =
  /** Writes a row in place of the one with the same key, if any. */
  | { readonly way: 'put'; readonly table: Table; readonly item: unknown }
  | { readonly way: 'remove'; readonly table: Table; readonly key: readonly Value[] }
  /** Computes the next row from the stored one. Undefined stands for no row. */
  | {
      readonly way: 'update';
      readonly table: Table;
      readonly key: readonly Value[];
      readonly after: (before: unknown) => unknown;
    }
  /** Retention: removes the matching rows, whichever gateway wrote them. */
  | ({ readonly way: 'prune'; readonly table: Table; readonly where: readonly RowCondition[] } & Cut)
  /** Removes all rows of this gateway. */
  | { readonly way: 'clear'; readonly table: Table }
  /** Adds a row after all others of its table, with its parts. The newest `kept` rows stay, and so do their parts. */
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
  /** For a flag. It takes no value, because databases have indexes over it. */
  | { readonly column: string; readonly is: 'on' | 'off' };

/** Which of the matching rows to remove: all, without `most`. */
export interface Cut {
  /** How many at most. */
  readonly most?: number;
  /** The first by these columns go. */
  readonly order?: readonly string[];
  /** Or the last by these columns go, but this many of the very last stay. */
  readonly beyond?: number;
  /** Rows whose values have a row in this table stay. */
  readonly unlessIn?: Table;
}

/** The rows that a start reads. */
export interface Reading<Item> {
  readonly table: Table<never, string, Item>;
  readonly where: readonly RowCondition[];
  /** Only this many rows: the last by these columns. */
  readonly newest?: { readonly by: readonly string[]; readonly most: number };
  /** Among rows that differ only in this key column, the one with the greatest value. */
  readonly latest?: string;
}

/** What each kind of change does to rows. A missing kind does not compile. */
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

/** A boolean as a number, which every database has. */
export function flag<Item>(of: (item: Item) => boolean): Column<Item> {
  return { type: 'integer', of: (item) => (of(item) ? 1 : 0) };
}

export function fixed<Item>(column: Column<Item>): Column<Item> {
  return { ...column, isFixed: true };
}

/** A column that names the owner of a row. */
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

/** A number that a gateway stores under a name. */
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

/** How a field of an item is kept in a column, and read from it. */
export interface Field<Kept> {
  readonly type: 'text' | 'integer';
  readonly kept: (value: Kept) => Value;
  readonly read: (row: Row, column: string) => Kept;
}

export const aText: Field<string> = { type: 'text', kept: (value) => value, read: textIn };
export const aNumber: Field<number> = { type: 'integer', kept: (value) => value, read: numberIn };
export const aFlag: Field<boolean> = {
  type: 'integer',
  kept: (value) => (value ? 1 : 0),
  read: (row, column) => numberIn(row, column) === 1,
};

export function optional<Kept>({ type, kept, read }: Field<Kept>): Field<Kept | null> {
  return {
    type,
    kept: (value) => (value === null ? null : kept(value)),
    read: (row, column) => (row[column] === null ? null : read(row, column)),
  };
}

export function oneOf<Kept extends string>(values: readonly Kept[]): Field<Kept> {
  const read = (row: Row, column: string) => {
    const found = values.find((value) => value === row[column]);
    if (found === undefined) throw new TypeError(`the column ${column} holds none of ${values.join(', ')}`);
    return found;
  };
  return { type: 'text', kept: (value) => value, read };
}

/** A table with one column for each field, named after it: `created_at` for `createdAt`. */
export function tableOf<Item extends object, Key extends string>(
  name: string,
  key: Key,
  fields: { readonly [Name in keyof Item]: Field<Item[Name]> },
): Table<Item, Key> {
  const columns: Record<string, Column<Item>> = {};
  const readers: ((row: Row) => readonly [string, unknown])[] = [];
  for (const field in fields) {
    const { type, kept, read } = fields[field];
    const column = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    columns[column] = { type, of: (item) => kept(item[field]) };
    readers.push((row) => [field, read(row, column)]);
  }
  const { [key]: ofKey, ...others } = columns;
  return {
    name,
    key: { [key]: ofKey } as Record<Key, Column<Item>>,
    columns: others,
    itemOf: (row) => Object.fromEntries(readers.map((read) => read(row))) as Item,
  };
}
