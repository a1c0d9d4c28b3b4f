import { describe, expect, test } from 'vitest';
import { emptyChain } from './audit/chain.ts';
import type { Table, Write } from './journal/rows.ts';
import { entriesTable } from './logs/logs.ts';
import { writesOf } from './facts.ts';
import { readings } from './store.ts';
import { everyKindOfChange, everyTable } from './testkit/every-table.ts';
import { sampleDraft, sealAll } from './testkit/store-samples.ts';

const columnsOf = ({ key, columns }: Table) => [...Object.keys(key), ...Object.keys(columns)];
const tablesOf = (write: Write) => (write.way === 'push' ? [write.table, write.partsTable] : [write.table]);

describe('the description of rows', () => {
  test.each(everyKindOfChange.map((change) => [change.kind, change] as const))(
    'says what %s does, in tables and columns that there are',
    (_, change) => {
      const writes = writesOf(change);
      // Other gateways are told of these. The log, or the store of accounts, has them already.
      if (!['op_asked', 'op_result_judged', 'rates_counted', 'rights_changed'].includes(change.kind))
        expect(writes).not.toHaveLength(0);
      for (const write of writes) {
        for (const table of tablesOf(write)) expect(everyTable).toContain(table);
        if (write.way !== 'prune') continue;
        const named = [...write.where.map(({ column }) => column), ...(write.order ?? [])];
        expect(columnsOf(write.table)).toEqual(expect.arrayContaining(named));
        expect(columnsOf(write.table)).toEqual(expect.arrayContaining(Object.keys(write.unlessIn?.key ?? {})));
        // A limited cut has an order, so that every store removes the same rows.
        expect(write.order === undefined).toBe(write.most === undefined);
      }
    },
  );

  test('has each table, and each column of it, once, and no table that nothing is written to', () => {
    expect(new Set(everyTable.map(({ name }) => name)).size).toBe(everyTable.length);
    for (const table of everyTable) expect(new Set(columnsOf(table)).size).toBe(columnsOf(table).length);
    const written = new Set(everyKindOfChange.flatMap((change) => writesOf(change).flatMap(tablesOf)));
    expect(everyTable.filter((table) => !written.has(table))).toEqual([]);
  });

  test('gives the values of an entry at once as its columns do one by one', () => {
    const draft = sampleDraft({
      opId: 't:s',
      decision: 'deny',
      claimedOrgId: 'acme',
      user: { issuer: 'https://id.example.com', sub: 'u', email: 'A@b.c' },
    });
    for (const entry of sealAll([draft, sampleDraft()], emptyChain)) {
      const columns = Object.values({ ...entriesTable.key, ...entriesTable.columns });
      expect(entriesTable.valuesOf?.(entry)).toEqual(columns.map((column) => column.of(entry)));
    }
    expect(everyTable.filter((table) => table.valuesOf !== undefined)).toEqual([entriesTable]);
  });

  test('reads a start by columns that there are', () => {
    for (const { table, where, newest, latest } of Object.values(readings)) {
      const named = [...where.map(({ column }) => column), ...(newest?.by ?? [])];
      expect(columnsOf(table)).toEqual(expect.arrayContaining(named));
      if (latest !== undefined) expect(Object.keys(table.key)).toContain(latest);
    }
  });
});
