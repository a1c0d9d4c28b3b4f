import type { AgentId, Micros, Total } from '../kernel/index.ts';
import { agentKey, plus, RecentMap } from '../kernel/index.ts';

export interface RunCount {
  readonly checks: number;
  readonly spentMicros: Total;
}

const nothing: RunCount = { checks: 0, spentMicros: 0 };
/** How many runs of an org are remembered at least: those that were active last. */
const mostRuns = 25_000;

/**
 * What has happened in each run of an agent since this gateway started, for conditions to read. If an org has very many
 * runs, its own that were quiet for longest are forgotten, and nobody else's.
 */
export class RunTally {
  readonly #byOrg = new Map<string, RecentMap<RunCount>>();

  of(agent: AgentId, runId: string): RunCount {
    return this.#byOrg.get(agent.orgId)?.get(nameOf(agent, runId)) ?? nothing;
  }

  /** Counts one more check, and returns how to undo that. */
  count(agent: AgentId, runId: string, spentMicros: Micros): () => void {
    const name = nameOf(agent, runId);
    const runs = this.#runsOf(agent.orgId);
    const before = runs.get(name);
    const { checks, spentMicros: spent } = before ?? nothing;
    runs.set(name, { checks: checks + 1, spentMicros: plus(spent, spentMicros) });
    return () => {
      if (before === undefined) runs.delete(name);
      else runs.set(name, before);
    };
  }

  #runsOf(orgId: string): RecentMap<RunCount> {
    let runs = this.#byOrg.get(orgId);
    if (runs === undefined) {
      runs = new RecentMap(mostRuns);
      this.#byOrg.set(orgId, runs);
    }
    return runs;
  }
}

function nameOf(agent: AgentId, runId: string): string {
  return `${agentKey(agent)}/${runId}`;
}
