import { expect, test } from 'vitest';
import { filterOf, isFiltered, localOf, moment, parseAuditSearch } from './audit-search.ts';

test('takes from a link what it understands, and leaves the rest', () => {
  const search = parseAuditSearch({
    q: 'pay',
    decision: 'maybe',
    seq: '12',
    user: 'ann@acme.com',
    from: 'yesterday',
    to: '2026-01-02T03:04Z',
  });
  expect(filterOf(search)).toEqual({ q: 'pay', user: 'ann@acme.com', to: '2026-01-02T03:04:00.000Z' });
  expect(search.seq).toBe('12');
});

test('an open entry is no filter', () => {
  expect(isFiltered(parseAuditSearch({ seq: '12' }))).toBe(false);
  expect(isFiltered(parseAuditSearch({ org_id: 'acme' }))).toBe(true);
});

test('a moment goes through the field of the viewer’s zone and comes back', () => {
  const at = '2026-03-29T11:30:00.000Z';
  expect(moment(localOf(at))).toBe(at);
  expect(localOf(undefined)).toBeUndefined();
  expect(moment('')).toBeUndefined();
});
