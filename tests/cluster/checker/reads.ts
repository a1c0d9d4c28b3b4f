import { historiesOf } from './lifecycle.ts';
import type { Entry } from './log.ts';

/** What a client read of an operation, at whichever gateway. */
export interface Read {
  /** Agent and operation. */
  readonly op: string;
  /** The states that the client had been told or had read before it asked, in order. */
  readonly known: readonly string[];
  /** What it was told now. Undefined if there is no such operation. */
  readonly state: string | undefined;
  readonly by: string;
}

/** Nobody reads what is over: each read is of a state at or after the last one that its client knew. */
export function readFaults(reads: readonly Read[], entries: readonly Entry[]): string[] {
  const histories = historiesOf(entries);
  return reads.flatMap(({ op, known, state, by }) => {
    const history = histories.get(op) ?? [];
    let at = 0;
    for (const each of known) at = Math.max(at, history.indexOf(each, at));
    if (state !== undefined && history.includes(state, at)) return [];
    return [
      `${by} called ${op} ${state ?? 'unknown'}, after [${known.join(', ')}] was known, and the log says [${history.join(', ')}]`,
    ];
  });
}
