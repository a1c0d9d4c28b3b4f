import type { Agent } from './agent.ts';

/**
 * The agents whose use of the gateway is to be written. Orgs take turns, so that one with many agents delays the others
 * by at most as many as there are orgs.
 */
export class UsedAgents {
  readonly #byOrg = new Map<string, Set<Agent>>();

  get isEmpty(): boolean {
    return this.#byOrg.size === 0;
  }

  add(agent: Agent): void {
    const { orgId } = agent.record.id;
    const waiting = this.#byOrg.get(orgId);
    if (waiting === undefined) this.#byOrg.set(orgId, new Set([agent]));
    else waiting.add(agent);
  }

  /** The agent that has waited longest, of the org whose turn it is. */
  take(): Agent | undefined {
    for (const [orgId, waiting] of this.#byOrg) {
      this.#byOrg.delete(orgId);
      for (const agent of waiting) {
        waiting.delete(agent);
        if (waiting.size > 0) this.#byOrg.set(orgId, waiting);
        return agent;
      }
    }
    return undefined;
  }
}
