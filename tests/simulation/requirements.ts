import type { Store } from '@reeve/core';
import { Broken } from './broken.ts';
import { agentName, opName } from './judge.ts';
import type { State } from './state-of.ts';
import { differenceOf } from './state-of.ts';
import type { VirtualGateway } from './virtual-gateway.ts';

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

/** Whoever forgets an operation last removes its row. A start would bring it back. */
export async function requireRowsKnown(store: Store, gateways: readonly VirtualGateway[]): Promise<void> {
  if (gateways.some(({ gov }) => gov.ops.owesRemovals)) return;
  const { ops } = await store.load();
  for (const { agent: id, opId } of ops) {
    const isKnownTo = ({ gov }: VirtualGateway) => {
      const agent = gov.directory.find(id);
      return agent !== undefined && gov.ops.find(agent, opId) !== undefined;
    };
    if (gateways.some(isKnownTo)) continue;
    throw new Broken(`the store has a row of ${opName(agentName(id), opId)}, which no gateway remembers`);
  }
}

/** Lets everything happen that waits for nothing but its turn. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
