import { describe, expect, test } from 'vitest';
import type { LayoutAgent, LayoutOrg, Rectangle } from './topology-layout.ts';
import { layoutTopology } from './topology-layout.ts';

function place(places: ReadonlyMap<string, Rectangle>, id: string): Rectangle {
  const found = places.get(id);
  if (found === undefined) throw new Error(`${id} has no place`);
  return found;
}

function overlap(a: Rectangle, b: Rectangle): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

function isInside(inner: Rectangle, outer: Rectangle): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height
  );
}

function expectApart(places: ReadonlyMap<string, Rectangle>, ids: readonly string[]): void {
  for (const [index, id] of ids.entries()) {
    for (const other of ids.slice(index + 1)) {
      expect(overlap(place(places, id), place(places, other)), `${id} and ${other}`).toBe(false);
    }
  }
}

/** Agents of a tree in which each has three children. */
function tree(team: string, size: number): LayoutAgent[] {
  return Array.from({ length: size }, (_, index) => ({
    id: `${team}/${index}`,
    parent: index === 0 ? null : `${team}/${Math.floor((index - 1) / 3)}`,
  }));
}

const orgs: LayoutOrg[] = [
  { id: 'closed' },
  {
    id: 'open',
    teams: [
      { id: 'open/closed' },
      { id: 'open/tree', agents: tree('open/tree', 22) },
      {
        id: 'open/flat',
        agents: Array.from({ length: 25 }, (_, index) => ({ id: `open/flat/${index}`, parent: null })),
      },
    ],
  },
  { id: 'other', teams: [{ id: 'other/one', agents: [{ id: 'other/one/solo', parent: null }] }] },
];

describe('the layout', () => {
  const places = layoutTopology(orgs);

  test('has a place for everything that is to be seen, and for nothing else', () => {
    expect(places.size).toBe(3 + 4 + 22 + 25 + 1);
    for (const { x, y, width, height } of places.values()) {
      expect([x, y, width, height].every(Number.isFinite)).toBe(true);
    }
  });

  test('puts teams into their orgs and agents into their teams', () => {
    for (const { id, teams = [] } of orgs) {
      for (const team of teams) {
        expect(isInside(place(places, team.id), place(places, id)), team.id).toBe(true);
        for (const agent of team.agents ?? []) {
          expect(isInside(place(places, agent.id), place(places, team.id)), agent.id).toBe(true);
        }
      }
    }
  });

  test('lets nothing lie on another of its kind', () => {
    expectApart(places, ['closed', 'open', 'other']);
    expectApart(places, ['open/closed', 'open/tree', 'open/flat']);
    const agents = orgs.flatMap((org) => org.teams ?? []).flatMap((team) => team.agents ?? []);
    expectApart(
      places,
      agents.map(({ id }) => id),
    );
  });

  test('puts children to the right of their parent', () => {
    for (const { id, parent } of tree('open/tree', 22)) {
      if (parent === null) continue;
      const { x, width } = place(places, parent);
      expect(place(places, id).x, id).toBeGreaterThan(x + width);
    }
  });

  test('is the same each time', () => {
    expect(layoutTopology(orgs)).toEqual(places);
  });
});

test('two thousand agents below one parent make no tower', () => {
  const agents = [
    { id: 'root', parent: null },
    ...Array.from({ length: 1999 }, (_, index) => ({ id: `leaf-${index}`, parent: 'root' })),
  ];
  const places = layoutTopology([{ id: 'o', teams: [{ id: 'o/t', agents }] }]);
  const { width, height } = place(places, 'o');
  expect(places.size).toBe(2002);
  expect(Math.max(width / height, height / width)).toBeLessThan(3);
});

test('a parent that is in another team, or not there, does not keep an agent from its place', () => {
  const agents = [{ id: 'orphan', parent: 'gone' }];
  expect(layoutTopology([{ id: 'o', teams: [{ id: 'o/t', agents }] }]).has('orphan')).toBe(true);
});
