import { describe, expect, test } from 'vitest';
import type { Row } from '../journal/rows.ts';
import { policyVersionsTable } from './policy-rows.ts';
import type { PolicyVersion } from './store/policy-version.ts';

const savedBy = { id: 'abcdefghijkl', kind: 'api_key' as const, label: 'ci' };
const version = { name: 'acme/x', version: 3, scope: 'org:acme', source: 'rules: []', savedAt: 7, savedBy, note: '' };

const { key, columns, itemOf } = policyVersionsTable;

function rowOf(saved: PolicyVersion): Row {
  return Object.fromEntries(Object.entries({ ...key, ...columns }).map(([name, column]) => [name, column.of(saved)]));
}

describe('the row of a version', () => {
  test('brings back how wide the widest writer was', () => {
    for (const width of ['team', 'org', 'unbound'] as const) {
      expect(itemOf(rowOf({ ...version, width }))).toEqual({ ...version, width });
    }
  });

  test('from before widths were stored leaves open how wide its writers were', () => {
    const record = JSON.stringify({ savedAt: 7, savedBy, note: '' });
    const row = { ...rowOf({ ...version, width: 'org' }), record };
    expect(itemOf(row)).toEqual({ ...version, width: null });
  });
});
