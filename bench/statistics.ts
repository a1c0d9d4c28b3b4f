/** A figure that was measured several times: its median and its range. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const median =
    sorted.length % 2 === 1
      ? (sorted[Math.floor(middle)] ?? Number.NaN)
      : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
  return { median, least: sorted[0] ?? Number.NaN, most: sorted.at(-1) ?? Number.NaN };
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** How much `y` grows per `x`: the slope of the least-squares line. */
export function slopeOf(points: readonly { readonly x: number; readonly y: number }[]): number {
  const meanX = sum(points.map(({ x }) => x)) / points.length;
  const meanY = sum(points.map(({ y }) => y)) / points.length;
  const over = sum(points.map(({ x, y }) => (x - meanX) * (y - meanY)));
  const under = sum(points.map(({ x }) => (x - meanX) ** 2));
  return under === 0 ? 0 : over / under;
}
