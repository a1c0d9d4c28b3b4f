import { hash } from 'node:crypto';

/** The cell of each org. Sizes are agents of each org, the largest first. */
export type Place = (sizes: readonly number[], cells: number) => number[];

/** Sizes of orgs by Zipf's law: the org of rank k has 1/k^exponent of what the largest has. Largest first. */
export function zipfSizes(orgs: number, agents: number, exponent: number): number[] {
  const weights = Array.from({ length: orgs }, (_, rank) => (rank + 1) ** -exponent);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => Math.max(1, Math.round((weight / total) * agents)));
}

/** Each org goes to the cell with the fewest agents, the largest org first. */
export const largestFirst: Place = (sizes, cells) => {
  const loads = new Float64Array(cells);
  return sizes.map((size) => {
    const cell = leastLoaded(loads);
    loads[cell] = (loads[cell] ?? 0) + size;
    return cell;
  });
};

const pointsPerCell = 200;

/** Each org goes to the next point on a ring, of which every cell has many. */
export const consistentHashing: Place = (sizes, cells) => {
  const ring = ringOf(cells);
  return sizes.map((_, org) => ring.cells[nextPoint(ring, hashOf(`org ${org}`))] ?? 0);
};

/** The same, but a cell with more than 1.25 times the average takes no more, and the org goes on to the next point. */
export const boundedHashing: Place = (sizes, cells) => {
  const ring = ringOf(cells);
  const most = (1.25 * sizes.reduce((sum, size) => sum + size, 0)) / cells;
  const loads = new Float64Array(cells);
  return sizes.map((size, org) => {
    const first = nextPoint(ring, hashOf(`org ${org}`));
    for (let step = 0; step < ring.points.length; step++) {
      const cell = ring.cells[(first + step) % ring.points.length] ?? 0;
      const load = loads[cell] ?? 0;
      if (load > 0 && load + size > most) continue;
      loads[cell] = load + size;
      return cell;
    }
    const cell = leastLoaded(loads);
    loads[cell] = (loads[cell] ?? 0) + size;
    return cell;
  });
};

/** Fills one more cell from the fullest ones, and moves nothing else. Returns the new places. */
export function fillNewCell(sizes: readonly number[], places: readonly number[], cells: number): number[] {
  const loads = loadsOf(sizes, places, cells + 1);
  const average = sizes.reduce((sum, size) => sum + size, 0) / (cells + 1);
  const moved = [...places];
  // Small orgs move, because they are quick to move.
  for (let org = sizes.length - 1; org >= 0; org--) {
    const size = sizes[org] ?? 0;
    const cell = moved[org] ?? 0;
    const here = loads[cell] ?? 0;
    const there = loads[cells] ?? 0;
    if (there + size > average || here - size < average) continue;
    loads[cell] = here - size;
    loads[cells] = there + size;
    moved[org] = cells;
  }
  return moved;
}

export function loadsOf(sizes: readonly number[], places: readonly number[], cells: number): Float64Array {
  const loads = new Float64Array(cells);
  for (const [org, cell] of places.entries()) loads[cell] = (loads[cell] ?? 0) + (sizes[org] ?? 0);
  return loads;
}

/** How many orgs, and agents in them, have another place. */
export function movedBetween(sizes: readonly number[], before: readonly number[], after: readonly number[]) {
  let [orgs, agents] = [0, 0];
  for (const [org, size] of sizes.entries()) {
    if (before[org] === after[org]) continue;
    orgs++;
    agents += size;
  }
  return { orgs, agents };
}

interface Ring {
  readonly points: readonly number[];
  readonly cells: readonly number[];
}

function ringOf(cells: number): Ring {
  const all = Array.from({ length: cells * pointsPerCell }, (_, index) => {
    const cell = Math.floor(index / pointsPerCell);
    return { point: hashOf(`cell ${cell} ${index % pointsPerCell}`), cell };
  }).sort((a, b) => a.point - b.point);
  return { points: all.map(({ point }) => point), cells: all.map(({ cell }) => cell) };
}

/** The index of the first point that is not before the value. */
function nextPoint({ points }: Ring, value: number): number {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low % points.length;
}

function hashOf(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16);
}

function leastLoaded(loads: Float64Array): number {
  let least = 0;
  for (const [cell, load] of loads.entries()) if (load < (loads[least] ?? 0)) least = cell;
  return least;
}
