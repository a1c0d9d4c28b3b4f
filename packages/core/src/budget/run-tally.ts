import type { AgentId, Micros, Total } from '../kernel/index.ts';
import { agentKey, plus, RecentMap } from '../kernel/index.ts';

export interface RunCount {
  readonly checks: number;
  readonly spentMicros: Total;
}

const nothing: RunCount = { checks: 0, spentMicros: 0 };
/** How many runs are remembered in all. Orgs have equal shares of them, which may grow old once over. */
const mostRuns = 100_000;
/** However many orgs there are, each has this much. */
const leastShare = 500;
/** Orgs that were quiet for longer than so many others are forgotten. */
const mostOrgs = 1000;

/** What rules see of runs. Only facts count. */
export type KnownRuns = Pick<RunTally, 'of'>;

/**
 * What has happened in each run of an agent since this gateway started, for conditions to read. If an org has very many
 * runs, its own that were quiet for longest are forgotten, and nobody else's.
 */
export class RunTally {
  readonly #byOrg = new RecentMap<RecentMap<RunCount>>(mostOrgs);
  #share = mostRuns;

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
    const known = this.#byOrg.get(orgId);
    const runs = known ?? new RecentMap<RunCount>(this.#share);
    this.#byOrg.set(orgId, runs);
    if (known === undefined) this.#share = Math.max(leastShare, Math.floor(mostRuns / this.#byOrg.size));
    runs.most = this.#share;
    return runs;
  }
}

function nameOf(agent: AgentId, runId: string): string {
  return `${agentKey(agent)}/${runId}`;
}
