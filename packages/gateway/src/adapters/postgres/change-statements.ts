import type { AgentChange, Change, Push, Table, Value, Write } from '@reeve/core';
import { apiKeysTable, isAgentChange, writesOf } from '@reeve/core';
import type { SqlValue } from '../sql/sql-database.ts';
import { dropPlacesSql, pruneSql, pruneValues } from '../sql/table-sql.ts';
import { AgentChanges } from './agent-changes.ts';
import { placeholders } from './placeholders.ts';
import { blockBits } from './postgres-schema.ts';
import type { Statement } from './statement.ts';
import { arrayOf } from './statement.ts';
import { postgresTable } from './tables.ts';

/** The statements that write the changes of one batch. */
export function changeStatements(changes: readonly Change[]): Statement[] {
  const folded = new FoldedChanges();
  for (const change of changes) folded.add(change);
  return folded.finish();
}

/**
 * A batch takes effect at once, so only the last change of each row counts. One statement per table writes all its
 * rows.
 */
class FoldedChanges {
  readonly #statements: Statement[] = [];
  /** By table and key: the values to save, or undefined if the row is removed. */
  readonly #rows = new Map<Table, Map<string, Folded>>();
  readonly #agents = new AgentChanges();
  readonly #uses = new Map<string, number>();

  /**
   * Where the next value depends on the stored one, the database merges. All other changes write their rows as they
   * are.
   */
  add(change: Change): void {
    if (isAgentChange(change)) this.#changeAgent(change);
    else if (change.kind === 'api_key_used') this.#noteUse(change.id, change.at);
    else for (const write of writesOf(change)) this.#write(write);
    if (change.kind === 'entries_removed') {
      const block = Math.floor((change.through + 1) / 2 ** blockBits);
      this.#run('remove_times', 'DELETE FROM audit_times WHERE block < ?', block);
    }
  }

  finish(): Statement[] {
    this.#flush();
    return this.#statements;
  }

  #write(write: Write): void {
    const { table } = write;
    switch (write.way) {
      case 'put':
        this.#save(table, write.item);
        break;
      case 'remove':
        this.#fold(table, write.key, undefined);
        break;
      case 'update':
        throw new Error(`no statement merges rows of ${table.name}`);
      case 'prune': {
        const columns = write.where.map(({ column }) => column).join('_');
        this.#run(`prune_${table.name}_by_${columns}`, pruneSql(write), ...pruneValues(write));
        break;
      }
      case 'clear':
        this.#run(`clear_${table.name}`, `DELETE FROM ${table.name}`);
        break;
      case 'push':
        this.#push(write);
        break;
    }
  }

  /** Two changes of an agent do not replace each other, so the second one follows the first. */
  #changeAgent(change: AgentChange): void {
    if (this.#agents.has(change)) this.#statements.push(...this.#agents.take());
    this.#agents.add(change);
  }

  #noteUse(id: string, at: number): void {
    this.#uses.set(id, Math.max(at, this.#uses.get(id) ?? 0));
  }

  #save(table: Table, item: unknown): void {
    const key = Object.values(table.key).map((column) => column.of(item));
    this.#fold(table, key, postgresTable(table).valuesOf(item));
    // A saved key already holds the time of its last use.
    if (table === apiKeysTable) this.#uses.delete(String(key[0]));
  }

  #fold(table: Table, key: readonly Value[], values: readonly SqlValue[] | undefined): void {
    const rows = this.#rows.get(table) ?? new Map<string, Folded>();
    rows.set(JSON.stringify(key), { key, values });
    this.#rows.set(table, rows);
  }

  /** The database counts the place, so the push is a separate statement, and its parts follow. */
  #push(write: Push): void {
    this.#flush();
    for (const [table, items] of [
      [write.table, [write.item]],
      [write.partsTable, write.parts],
    ] as const) {
      const to = postgresTable(table);
      this.#statements.push(to.save(items.map((item) => to.valuesOf(item))));
    }
    for (const each of [write.partsTable, write.table]) this.#run(`drop_${each.name}`, dropPlacesSql(each, write));
  }

  /** A statement about many rows follows all earlier changes of single rows. */
  #run(name: string, sql: string, ...values: SqlValue[]): void {
    this.#flush();
    this.#statements.push({ name, text: placeholders(sql), values });
  }

  #flush(): void {
    for (const [table, rows] of this.#rows) {
      const to = postgresTable(table);
      const folded = [...rows.values()];
      const removed = folded.filter(({ values }) => values === undefined).map(({ key }) => key);
      const saved = folded.map(({ values }) => values).filter((values) => values !== undefined);
      if (removed.length > 0) this.#statements.push(to.remove(removed));
      if (saved.length > 0) this.#statements.push(to.save(saved));
    }
    this.#statements.push(...this.#agents.take());
    if (this.#uses.size > 0) this.#statements.push(noteUses(this.#uses));
    this.#rows.clear();
    this.#uses.clear();
  }
}

/** The last change of a row. */
interface Folded {
  readonly key: readonly Value[];
  readonly values: readonly SqlValue[] | undefined;
}

function noteUses(uses: ReadonlyMap<string, number>): Statement {
  return {
    name: 'note_uses',
    text: `UPDATE api_keys AS k SET last_used_at = GREATEST(k.last_used_at, used.at)
      FROM unnest($1::text[], $2::bigint[]) AS used (id, at) WHERE k.id = used.id`,
    values: [arrayOf([...uses.keys()]), arrayOf([...uses.values()])],
  };
}
