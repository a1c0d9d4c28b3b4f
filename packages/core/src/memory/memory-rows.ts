import type { RowCondition, Prune, Reading, Table, Value, Write } from '../journal/index.ts';

/** The rows of the store in memory: the items of each table, by key. */
export class MemoryRows {
  readonly #tables = new Map<Table, Items>();

  apply(write: Write): void {
    const items = this.#of(write.table);
    switch (write.way) {
      case 'put':
        items.set(keyOf(write.table, write.item), write.item);
        break;
      case 'remove':
        items.delete(keyText(write.key));
        break;
      case 'update': {
        const key = keyText(write.key);
        const after = write.after(items.get(key));
        if (after === undefined) items.delete(key);
        else items.set(key, after);
        break;
      }
      case 'prune':
        for (const item of this.#outlived(write)) items.delete(keyOf(write.table, item));
        break;
      case 'clear':
        for (const key of [...items.keys()]) items.delete(key);
        break;
      case 'push': {
        // Items stay in the order of their insertion. Each item contains its parts.
        const key = keyOf(write.table, write.item);
        items.delete(key);
        items.set(key, write.item);
        for (const oldest of [...items.keys()].slice(0, -write.kept)) items.delete(oldest);
        break;
      }
    }
  }

  all<Item>(table: Table<Item, string, unknown>): Item[] {
    return [...this.#of(table).values()] as Item[];
  }

  count(table: Table): number {
    return this.#of(table).size;
  }

  get<Item>(table: Table<Item, string, unknown>, ...key: readonly Value[]): Item | undefined {
    return this.#of(table).get(keyText(key)) as Item | undefined;
  }

  /** Indexes the items of a table by another name than their keys. Call it while the table is empty. */
  index<Item>(table: Table<Item, string, unknown>, nameOf: (item: Item) => string): (name: string) => Item[] {
    const groups = new Map<string, Map<string, Item>>();
    this.#of(table).indexes.push({ nameOf, groups } as unknown as Index);
    return (name) => [...(groups.get(name)?.values() ?? [])];
  }

  read<Item>({ table, where, newest, latest }: Reading<Item>): readonly Item[] {
    const found = this.all(table as Table<Item>).filter((item) => fitsAll(table, item, where));
    if (newest !== undefined) return found.sort(by(table, newest.by)).slice(-newest.most).reverse();
    return latest === undefined ? found : latestOf(table, latest, found);
  }

  #outlived({ table, where, order = [], most, beyond, unlessIn }: Prune): readonly unknown[] {
    const old = this.all(table).filter((item) => fitsAll(table, item, where) && !this.#hasRow(unlessIn, table, item));
    if (most === undefined) return old;
    old.sort(by(table, order));
    return beyond === undefined ? old.slice(0, most) : old.reverse().slice(beyond, beyond + most);
  }

  #hasRow(other: Table | undefined, table: Table, item: unknown): boolean {
    if (other === undefined) return false;
    const key = Object.keys(other.key).map((column) => valueOf(table, column, item));
    return this.#of(other).has(keyText(key));
  }

  #of(table: Table): Items {
    let items = this.#tables.get(table);
    if (items === undefined) {
      items = new Items();
      this.#tables.set(table, items);
    }
    return items;
  }
}

/** The items of a table by another name, then by key. */
interface Index {
  readonly nameOf: (item: unknown) => string;
  readonly groups: Map<string, Map<string, unknown>>;
}

class Items extends Map<string, unknown> {
  readonly indexes: Index[] = [];

  override set(key: string, item: unknown): this {
    this.#forget(key);
    for (const { nameOf, groups } of this.indexes) {
      const name = nameOf(item);
      const group = groups.get(name) ?? new Map<string, unknown>();
      groups.set(name, group.set(key, item));
    }
    return super.set(key, item);
  }

  override delete(key: string): boolean {
    this.#forget(key);
    return super.delete(key);
  }

  #forget(key: string): void {
    const item = this.get(key);
    if (item === undefined) return;
    for (const { nameOf, groups } of this.indexes) {
      const name = nameOf(item);
      const group = groups.get(name);
      group?.delete(key);
      if (group?.size === 0) groups.delete(name);
    }
  }
}

function keyOf(table: Table, item: unknown): string {
  return keyText(Object.values(table.key).map((column) => column.of(item)));
}

function keyText(values: readonly Value[]): string {
  return values.length === 1 ? String(values[0]) : JSON.stringify(values);
}

function valueOf(table: Table, column: string, item: unknown): Value {
  return (table.key[column] ?? table.columns[column])?.of(item) ?? null;
}

/** Whether an item meets all conditions. */
export function fitsAll(table: Table, item: unknown, where: readonly RowCondition[]): boolean {
  return where.every((condition) => {
    const value = valueOf(table, condition.column, item);
    switch (condition.is) {
      case 'on':
        return value === 1;
      case 'off':
        return value === 0;
      case '=':
        return value === condition.value;
      case '<':
        return value !== null && value < condition.value;
      case '<=':
        return value !== null && value <= condition.value;
    }
  });
}

function by(table: Table, columns: readonly string[]): (a: unknown, b: unknown) => number {
  return (a, b) => {
    for (const column of columns) {
      const [one, other] = [valueOf(table, column, a) ?? 0, valueOf(table, column, b) ?? 0];
      if (one !== other) return one < other ? -1 : 1;
    }
    return 0;
  };
}

/** Among items whose keys differ in one column only, the one with the greatest value there. */
function latestOf<Item>(table: Table, column: string, items: readonly Item[]): Item[] {
  const others = Object.keys(table.key).filter((name) => name !== column);
  const latest = new Map<string, Item>();
  const compare = by(table, [column]);
  for (const item of items) {
    const name = keyText(others.map((other) => valueOf(table, other, item)));
    const known = latest.get(name);
    if (known === undefined || compare(known, item) < 0) latest.set(name, item);
  }
  return [...latest.values()];
}
