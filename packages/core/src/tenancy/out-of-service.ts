import type { Touched } from '../journal/index.ts';
import type { AgentId, AgentKey } from '../kernel/index.ts';
import { agentKey, ReeveError } from '../kernel/index.ts';

export const outOfService = 'agent is out of service';

/**
 * The agents of which this gateway could not read all that is stored, or all that another gateway has done. Nothing is
 * decided for them by half of what is known: their checks are denied, and their other calls are refused, until a start
 * reads everything. Everybody else goes on.
 */
export class OutOfService {
  readonly #agents = new Set<AgentKey>();
  readonly #orgs = new Set<string>();
  #isEverybody = false;
  #isBehind = false;

  /** A commit of another gateway could not be followed in full. */
  missed(touched: Touched): void {
    this.add(touched);
    this.#isBehind = true;
  }

  /**
   * Whether others know more of somebody than this gateway, which says so by no row of its own. A start makes up for that, or
   * finds what it cannot read by itself.
   */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  add({ agents, orgs, everything }: Touched): void {
    for (const agent of agents) this.#agents.add(agent as AgentKey);
    for (const org of orgs) this.#orgs.add(org);
    this.#isEverybody ||= everything;
  }

  has(id: AgentId): boolean {
    if (this.isEmpty) return false;
    return this.#isEverybody || this.#orgs.has(id.orgId) || this.#agents.has(agentKey(id));
  }

  /** Refuses a call about such an agent. Another gateway, or this one after its next start, may answer it. */
  refuse(id: AgentId): void {
    if (this.has(id)) throw refusal();
  }

  /** Refuses a call about what holds such an agent. */
  refuseWithin({ orgId, teamId }: { readonly orgId: string | null; readonly teamId: string | null }): void {
    const isThere = [...this.#agents].some((key) => {
      const [org, team] = key.split('/');
      return (orgId === null || org === orgId) && (teamId === null || team === teamId);
    });
    if (isThere || this.#isEverybody || (orgId === null ? this.#orgs.size > 0 : this.#orgs.has(orgId))) throw refusal();
  }

  /** Refuses a call about what belongs to an org as a whole, or to everybody. */
  refuseOrg(orgId: string | null): void {
    if (this.#isEverybody || (orgId !== null && this.#orgs.has(orgId))) throw refusal();
  }

  get isEmpty(): boolean {
    return !this.#isEverybody && this.#agents.size + this.#orgs.size === 0;
  }
}

function refusal(): ReeveError {
  return new ReeveError('store_unavailable', `${outOfService}: this gateway could not read all that is stored of it`);
}
