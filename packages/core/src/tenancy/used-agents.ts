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
  next(): Agent | undefined {
    for (const waiting of this.#byOrg.values()) for (const agent of waiting) return agent;
    return undefined;
  }

  /** Removes an agent, and returns whether it waited. Then it is the turn of the next org. */
  delete(agent: Agent): boolean {
    const { orgId } = agent.record.id;
    const waiting = this.#byOrg.get(orgId);
    if (waiting?.delete(agent) !== true) return false;
    this.#byOrg.delete(orgId);
    if (waiting.size > 0) this.#byOrg.set(orgId, waiting);
    return true;
  }
}
