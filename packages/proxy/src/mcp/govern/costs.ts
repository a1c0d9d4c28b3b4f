import { usd } from '@reeve/sdk';
import type { Glob } from '../../glob.ts';
import { compileGlob } from '../../glob.ts';

/** What calls of a tool cost at most, in micro-dollars. Undefined for a tool without a price. */
export type Costs = (tool: string) => number | undefined;

/** The first glob that matches a tool has its price. */
export function costsOf(prices: Readonly<Record<string, string | number>>): Costs {
  const rows = Object.entries(prices).map(([glob, price]) => ({ pattern: patternOf(glob), micros: usd(price) }));
  return (tool) => rows.find(({ pattern }) => pattern.test(tool))?.micros;
}

export const freeOfCharge: Costs = () => undefined;

function patternOf(glob: string): Glob {
  const pattern = compileGlob(glob);
  if (pattern === undefined) throw new Error(`"${glob}" is not a glob`);
  return pattern;
}
