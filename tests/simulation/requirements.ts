import { Broken } from './broken.ts';
import { differenceOf } from './state-of.ts';

/** The state of a gateway. */
export interface Named {
  readonly name: string;
  readonly state: readonly string[];
  /** By its clock. Around midnight two clocks may show two days, and balances count by the day. */
  readonly day?: string;
}

export function requireAlike(one: Named, other: Named, place: number): void {
  if (one.day !== other.day) return;
  const difference = differenceOf(one.state, other.state);
  if (difference.length === 0) return;
  const shown = difference.slice(0, 6).join('\n');
  throw new Broken(`${one.name} (-) and ${other.name} (+) differ after commit ${place}:\n${shown}`);
}

/** Lets everything happen that waits for nothing but its turn. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
