const growth = 1.6;
const jitter = 0.2;

/** The wait after a number of failed attempts in a row, as gRPC's protocol for connections has it. */
export function backoffMs(failures: number, firstMs: number, longestMs: number, random = Math.random): number {
  const base = Math.min(longestMs, firstMs * growth ** (failures - 1));
  return base * (1 + jitter * (2 * random() - 1));
}
