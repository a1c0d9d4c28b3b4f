import type { AgentId, Micros, Total } from '../kernel/index.ts';
import { agentKey, plus } from '../kernel/index.ts';

export interface RunCount {
  readonly checks: number;
  readonly spentMicros: Total;
}

const nothing: RunCount = { checks: 0, spentMicros: 0 };
const mostRuns = 100_000;

/**
 * What has happened in each run of an agent since this gateway started, for conditions to read. If there are very many
 * runs, the ones that were quiet for longest are forgotten.
 */
export class RunTally {
  readonly #runs = new Map<string, RunCount>();

  of(agent: AgentId, runId: string): RunCount {
    return this.#runs.get(nameOf(agent, runId)) ?? nothing;
  }

  /** Counts one more check, and returns how to undo that. */
  count(agent: AgentId, runId: string, spentMicros: Micros): () => void {
    const name = nameOf(agent, runId);
    const before = this.#runs.get(name);
    const { checks, spentMicros: spent } = before ?? nothing;
    this.#runs.delete(name);
    this.#runs.set(name, { checks: checks + 1, spentMicros: plus(spent, spentMicros) });
    if (this.#runs.size > mostRuns) {
      const [oldest] = this.#runs.keys();
      if (oldest !== undefined) this.#runs.delete(oldest);
    }
    return () => {
      if (before === undefined) this.#runs.delete(name);
      else this.#runs.set(name, before);
    };
  }
}

function nameOf(agent: AgentId, runId: string): string {
  return `${agentKey(agent)}/${runId}`;
}
