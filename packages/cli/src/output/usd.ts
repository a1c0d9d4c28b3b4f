/** Converts a decimal text in dollars to micro-dollars. */
export function microsOf(usd: string): number {
  return Math.round(Number(usd) * 1_000_000);
}

/** Micro-dollars as dollars, with cents and without further trailing zeros. */
export function usdText(micros: number): string {
  return (micros / 1_000_000).toFixed(6).replace(/0{1,4}$/, '');
}
