import { describe, expect, it } from 'vitest';
import { isAtLeastAsWide, mayChangeDocument, widest, widthOf, widths } from './authority.ts';

describe('width', () => {
  it('follows from the binding', () => {
    expect(widthOf({ orgId: null, teamId: null })).toBe('unbound');
    expect(widthOf({ orgId: 'acme', teamId: null })).toBe('org');
    expect(widthOf({ orgId: 'acme', teamId: 'web' })).toBe('team');
  });

  it('is one order', () => {
    const table = widths.map((width) => widths.map((other) => isAtLeastAsWide(width, other)));
    expect(table).toEqual([
      [true, false, false],
      [true, true, false],
      [true, true, true],
    ]);
    for (const a of widths) for (const b of widths) expect(widest(a, b)).toBe(isAtLeastAsWide(a, b) ? a : b);
  });

  it('says who changes a document: whoever is as wide as the widest that has written it', () => {
    const by = {
      team: { orgId: 'acme', teamId: 'web' },
      org: { orgId: 'acme', teamId: null },
      unbound: { orgId: null, teamId: null },
    };
    const table = widths.map((width) => widths.map((writer) => mayChangeDocument(by[width], writer)));
    expect(table).toEqual([
      [true, false, false],
      [true, true, false],
      [true, true, true],
    ]);
  });
});
