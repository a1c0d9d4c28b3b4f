import type { StoredEntry } from '@reeve/core';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvHeader, csvLine } from './csv.ts';

function stored(members: object): StoredEntry {
  const entry = {
    seq: 7,
    at: '2026-01-01T00:00:00.000Z',
    event_type: 'ActionDenied',
    lineage: { org_id: null, team_id: '', agent_id: 'a' },
    actor: { kind: 'agent', id: 'acme//a', label: '' },
    op_id: null,
    decision: 'deny',
    reason: 'no',
    policy_rule: null,
    policy_version: null,
    payload: {},
    prev_hash: '0',
    ...members,
  };
  return { seq: 7, hash: 'abc', canonical: JSON.stringify(entry) };
}

/** The cells of one record, by RFC 4180. */
function cells(line: string): string[] {
  const found = line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",\r\n]*))/g);
  return [...found].map(([, quoted, bare = '']) => quoted?.replaceAll('""', '"') ?? bare);
}

const columns = csvHeader.trim().split(',');
const cellOf = (line: string, column: string) => cells(line)[columns.indexOf(column)];

describe('a line of CSV', () => {
  test('has a cell for every column, empty where there is nothing', () => {
    const line = csvLine(stored({}));
    expect(cells(line)).toHaveLength(columns.length);
    expect(line).toBe('7,2026-01-01T00:00:00.000Z,ActionDenied,,,a,agent,acme//a,,deny,no,,,{},0,abc');
  });

  test('brings every text back as it was, but for the mark that keeps it from being a formula', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (reason) => {
        const cell = cellOf(csvLine(stored({ reason })), 'reason') ?? '';
        expect(cell).toBe(/^[=+\-@\t\r]/.test(reason) ? `'${reason}` : reason);
      }),
    );
  });

  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '=HYPERLINK("http://x","y")', '=cmd|"/c calc"!A1'])(
    'makes %j harmless to a spreadsheet',
    (reason) => {
      const cell = cellOf(csvLine(stored({ reason })), 'reason');
      expect(cell).toBe(`'${reason}`);
    },
  );

  test('quotes commas, quotes and line breaks, and nothing else', () => {
    expect(csvLine(stored({ reason: 'a,b' }))).toContain(',"a,b",');
    expect(csvLine(stored({ reason: 'a"b' }))).toContain(',"a""b",');
    expect(csvLine(stored({ reason: 'a\nb' }))).toContain(',"a\nb",');
    expect(csvLine(stored({ reason: 'a b;c' }))).toContain(',a b;c,');
  });

  test('holds the payload as JSON', () => {
    const payload = { a: [1, { b: 'x,"y"' }], c: null };
    expect(JSON.parse(cellOf(csvLine(stored({ payload })), 'payload') ?? '')).toEqual(payload);
  });
});
