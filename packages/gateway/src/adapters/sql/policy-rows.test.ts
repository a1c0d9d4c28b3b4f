import { describe, expect, test } from 'vitest';
import { versionOf, versionValues } from './policy-rows.ts';

const savedBy = { id: 'abcdefghijkl', kind: 'api_key' as const, label: 'ci' };
const version = { name: 'acme/x', version: 3, scope: 'org:acme', source: 'rules: []', savedAt: 7, savedBy, note: '' };

function rowOf([name, number, scope, source, record]: readonly unknown[]) {
  return { name, version: number, scope, source, record } as Parameters<typeof versionOf>[0];
}

describe('the row of a version', () => {
  test('brings back how wide the widest writer was', () => {
    for (const width of ['team', 'org', 'unbound'] as const) {
      expect(versionOf(rowOf(versionValues({ ...version, width })))).toEqual({ ...version, width });
    }
  });

  test('from before widths were stored leaves open how wide its writers were', () => {
    const record = JSON.stringify({ savedAt: 7, savedBy, note: '' });
    const row = rowOf([version.name, 3, version.scope, version.source, record]);
    expect(versionOf(row)).toEqual({ ...version, width: null });
  });
});
