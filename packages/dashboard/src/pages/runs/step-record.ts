import type { Entry } from '../ops/history-words.ts';
import { isOfAgent } from '../ops/history-words.ts';
import type { Step } from './run.ts';

/** What the log has of one step. */
interface StepRecord {
  /** The entry of its decision. Undefined if it is further back than was read. */
  readonly decided: Entry | undefined;
  /** The verdicts on what it brought back, newest first. */
  readonly results: readonly Entry[];
}

const resultEvents = new Set(['ResultAllowed', 'ResultMasked', 'ResultDenied']);

/** From the entries of all operations of that id, newest first. */
export function recordOf({ agent, at }: Pick<Step, 'agent' | 'at'>, entries: readonly Entry[]): StepRecord {
  const own = entries.filter((entry) => isOfAgent(entry, agent));
  return {
    decided: own.find((entry) => entry.at === at && entry.decision !== null && 'action' in entry.payload),
    results: own.filter(({ event_type: type }) => resultEvents.has(type)),
  };
}

/** What was found in a result, by detector: `2 email, 1 card`. Empty if nothing was. */
export function countsText({ counts }: Entry['payload']): string {
  if (typeof counts !== 'object' || counts === null) return '';
  return Object.entries(counts)
    .map(([name, count]) => `${String(count)} ${name}`)
    .join(', ');
}
