import type { SqlValue } from '../sql/sql-database.ts';
import type { Statement } from './statement.ts';
import { arrayOf } from './statement.ts';

type ColumnType = 'text' | 'bigint';

/** A table that changes are written to, many rows with one statement. */
export interface Table {
  readonly name: string;
  /** In the order in which the values of a row are given. */
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** The first of the columns are the key: this many. */
  readonly keys: number;
  /** What becomes of a column whose new value does not stand in place of the old one. */
  readonly merged?: Readonly<Record<string, string>>;
}

const agentKey = { org_id: 'text', team_id: 'text', agent_id: 'text' } as const;

export const agentsTable: Table = {
  name: 'agents',
  columns: {
    ...agentKey,
    token_hash: 'text',
    name: 'text',
    framework: 'text',
    version: 'text',
    parent: 'text',
    metadata: 'text',
    tool_names: 'text',
    registered_at: 'bigint',
    suspended_at: 'bigint',
    suspension_reason: 'text',
    controlled: 'bigint',
    registered_with: 'text',
    suspension_width: 'text',
  },
  keys: 3,
  merged: {
    suspended_at: 'agents.suspended_at',
    suspension_reason: 'agents.suspension_reason',
    suspension_width: 'agents.suspension_width',
    // Those of both, each once, in the order in which they came.
    registered_with: `(SELECT string_agg(id, ' ' ORDER BY place) FROM (
      SELECT id, min(place) AS place
      FROM unnest(string_to_array(concat_ws(' ', agents.registered_with, excluded.registered_with), ' '))
        WITH ORDINALITY AS named (id, place)
      GROUP BY id) AS once)`,
  },
};

export const apiKeysTable: Table = {
  name: 'api_keys',
  columns: {
    id: 'text',
    hash: 'text',
    label: 'text',
    scopes: 'text',
    org_id: 'text',
    team_id: 'text',
    created_at: 'bigint',
    expires_at: 'bigint',
    last_used_at: 'bigint',
    revoked_at: 'bigint',
    made_by_kind: 'text',
    made_by_id: 'text',
    rotated_from: 'text',
  },
  keys: 1,
};

export const signingKeysTable: Table = {
  name: 'signing_keys',
  columns: { kid: 'text', private_jwk: 'text', public_jwk: 'text', created_at: 'bigint' },
  keys: 1,
};

/** Each gateway has operations of its own, so its seat is part of the key. */
export const opsTable: Table = {
  name: 'ops',
  columns: { seat: 'bigint', ...agentKey, op_id: 'text', seq: 'bigint', record: 'text' },
  keys: 5,
};

export const receiptsTable: Table = {
  name: 'control_receipts',
  columns: {
    id: 'text',
    bulk_id: 'text',
    ...agentKey,
    sequence: 'bigint',
    op_id: 'text',
    requested_at: 'bigint',
    status: 'text',
    is_open: 'bigint',
    record: 'text',
    seat: 'bigint',
  },
  keys: 1,
};

export const bulksTable: Table = {
  name: 'control_bulks',
  columns: { id: 'text', requested_at: 'bigint', is_remembered: 'bigint', record: 'text' },
  keys: 1,
};

export const sequencesTable: Table = {
  name: 'control_sequences',
  columns: { seat: 'bigint', ...agentKey, sequence: 'bigint' },
  keys: 4,
};

export const balancesTable: Table = {
  name: 'books',
  columns: { seat: 'bigint', name: 'text', record: 'text' },
  keys: 2,
};

export const closedPeriodsTable: Table = {
  name: 'closed_books',
  columns: { seat: 'bigint', name: 'text', period: 'text', id: 'text', record: 'text' },
  keys: 4,
};

export const policyVersionsTable: Table = {
  name: 'policy_versions',
  columns: { name: 'text', version: 'bigint', scope: 'text', source: 'text', record: 'text' },
  keys: 2,
};

export const approvalsTable: Table = {
  name: 'approvals',
  columns: {
    id: 'text',
    state: 'text',
    ...agentKey,
    run_id: 'text',
    requested_at: 'bigint',
    expires_at: 'bigint',
    decided_at: 'bigint',
    is_live: 'bigint',
    record: 'text',
    seat: 'bigint',
  },
  keys: 1,
};

export const grantsTable: Table = {
  name: 'standing_grants',
  columns: {
    id: 'text',
    ...agentKey,
    granted_at: 'bigint',
    ends_at: 'bigint',
    is_revoked: 'bigint',
    record: 'text',
    seat: 'bigint',
  },
  keys: 1,
};

export const owedEntriesTable: Table = { name: 'owed_entries', columns: { id: 'text' }, keys: 1 };

/** Writes rows, each in place of what its key had. No key may come twice. */
export function saveRows(table: Table, rows: readonly (readonly SqlValue[])[]): Statement {
  const columns = Object.keys(table.columns).slice(table.keys);
  const changed = columns.map((column) => `${column} = ${table.merged?.[column] ?? `excluded.${column}`}`);
  const { text, values } = insertRows(table, rows);
  return { name: `save_${table.name}`, text: `${text} DO UPDATE SET ${changed.join(', ')}`, values };
}

/** Inserts rows. What is to be done where there is one follows. */
export function insertRows(table: Table, rows: readonly (readonly SqlValue[])[]): Omit<Statement, 'name'> {
  const columns = Object.keys(table.columns);
  return {
    text: `INSERT INTO ${table.name} (${columns.join(', ')}) SELECT * FROM ${unnested(Object.values(table.columns))}
      ON CONFLICT (${columns.slice(0, table.keys).join(', ')})`,
    values: columns.map((_, index) => arrayOf(rows.map((row) => row[index] ?? null))),
  };
}

export function removeRows(table: Table, keys: readonly (readonly SqlValue[])[]): Statement {
  const columns = Object.keys(table.columns).slice(0, table.keys);
  const types = Object.values(table.columns).slice(0, table.keys);
  return {
    name: `remove_${table.name}`,
    text: `DELETE FROM ${table.name} AS t USING ${unnested(types)} AS gone (${columns.join(', ')})
      WHERE ${columns.map((column) => `t.${column} = gone.${column}`).join(' AND ')}`,
    values: columns.map((_, index) => arrayOf(keys.map((key) => key[index] ?? null))),
  };
}

function unnested(types: readonly ColumnType[]): string {
  return `unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})`;
}
