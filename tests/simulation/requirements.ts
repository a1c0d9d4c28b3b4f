import { Broken } from './broken.ts';
import type { State } from './state-of.ts';
import { differenceOf } from './state-of.ts';

/** The state of a gateway. */
export interface Named {
  readonly name: string;
  readonly state: State;
  /** By its clock. Around midnight two clocks may show two days, and balances count by the day. */
  readonly day?: string;
}

/** How many things of each kind a failure shows. */
const shownOfKind = 8;

/** The first word names the kind of a thing. */
function kindOf(line: string): string {
  return line.split(' ')[1] ?? '';
}

export function requireAlike(one: Named, other: Named, place: number): void {
  if (one.day !== other.day) return;
  const difference = differenceOf(one.state, other.state);
  if (difference.length === 0) return;
  const kinds = new Map<string, number>();
  for (const line of difference) kinds.set(kindOf(line), (kinds.get(kindOf(line)) ?? 0) + 1);
  const summary = [...kinds].map(([kind, count]) => `${count} × ${kind}`).join(', ');
  const shown = [...kinds.keys()].flatMap((kind) =>
    difference.filter((line) => kindOf(line) === kind).slice(0, shownOfKind),
  );
  throw new Broken(
    `${one.name} (-) and ${other.name} (+) differ after commit ${place}: ${summary}\n${shown.join('\n')}`,
  );
}

/** Lets everything happen that waits for nothing but its turn. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
