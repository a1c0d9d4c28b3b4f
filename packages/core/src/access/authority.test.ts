import { describe, expect, it } from 'vitest';
import type { Refusal, Standing, Subject, Width } from './authority.ts';
import { isAtLeastAsWide, mayChangeDocument, refusalOf, subjects, widest, widthOf, widths } from './authority.ts';

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

const standings: readonly Standing[] = widths.flatMap((width) =>
  [true, false].flatMap((isAdmin) =>
    [true, false].flatMap((isOwner) => [true, false].map((isOwn) => ({ width, isAdmin, isOwner, isOwn }))),
  ),
);

/** The rules in plain code, one line each. The tests compare the table with them. */
const lifting = (caller: Standing, imposed: Width) => {
  if (caller.isOwn && (caller.width !== 'unbound' || !caller.isAdmin)) return 'own_agent';
  return widths.indexOf(caller.width) < widths.indexOf(imposed) ? 'imposed_by_wider' : null;
};
const expected: Record<Subject, (caller: Standing, imposed: Width) => Refusal | null> = {
  suspension: lifting,
  pause: lifting,
  unconfirmed_stop: lifting,
  labels: ({ isOwn, isAdmin, width }) => (isOwn && !(isAdmin && width === 'unbound') ? 'own_agent' : null),
  policy_document: ({ width }, imposed) =>
    widths.indexOf(width) < widths.indexOf(imposed) ? 'imposed_by_wider' : null,
  approval: ({ isOwn, isAdmin, width }) => (isOwn && !(isAdmin && width === 'unbound') ? 'own_approval' : null),
  approval_by_others: ({ isOwn }) => (isOwn ? 'own_approval' : null),
  cap: ({ width }, imposed) => (widths.indexOf(width) < widths.indexOf(imposed) ? 'imposed_by_wider' : null),
  invite: ({ width }, imposed) => (widths.indexOf(width) < widths.indexOf(imposed) ? 'imposed_by_wider' : null),
  owner_account: ({ isOwner }) => (isOwner ? null : 'owner_required'),
};

describe('authority', () => {
  it.each(subjects)(
    'over a thing of the kind %s is what the rules say, for every caller and whoever imposed it',
    (subject) => {
      for (const caller of standings) {
        for (const imposed of widths) {
          expect([caller, imposed, refusalOf(subject, caller, imposed)]).toEqual([
            caller,
            imposed,
            expected[subject](caller, imposed),
          ]);
        }
      }
    },
  );

  it('never grows by being narrower, nor by having registered the agent', () => {
    for (const subject of subjects) {
      for (const caller of standings) {
        for (const imposed of widths) {
          if (refusalOf(subject, caller, imposed) !== null) continue;
          const wider = widths.filter((width) => isAtLeastAsWide(width, caller.width));
          for (const width of wider) expect(refusalOf(subject, { ...caller, width }, imposed)).toBeNull();
          expect(refusalOf(subject, { ...caller, isOwn: false }, imposed)).toBeNull();
        }
      }
    }
  });
});
