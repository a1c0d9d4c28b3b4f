import type { Lineage } from '../audit/index.ts';
import type { AgentId, AgentKey, EpochMs } from '../kernel/index.ts';
import { agentKey, invalid } from '../kernel/index.ts';
import type { Agent, AgentRecord, MutableAgent } from './agent.ts';
import { isRegistered } from './agent.ts';
import type { AgentBounds } from './compact-agent.ts';
import { agentBytes, CompactAgents } from './compact-agent.ts';
import type { KnownDelegations } from './delegations.ts';
import { Delegations } from './delegations.ts';
import { OrgIndex } from './org-index.ts';
import { OutOfService } from './out-of-service.ts';
import type { KnownSuspensions } from './scope-suspensions.ts';
import { ScopeSuspensions } from './scope-suspensions.ts';
import { UsedAgents } from './used-agents.ts';

const deepestLineage = 64;

/** What rules see of the directory. Only facts change it. */
export type KnownAgents = Omit<AgentDirectory, 'put' | 'remove' | 'reinstate' | 'delegations' | 'suspensions'> & {
  readonly delegations: KnownDelegations;
  readonly suspensions: KnownSuspensions;
};

/** Every agent, by its triple, by org and team, by parent and by the hash of its token. */
export class AgentDirectory {
  readonly #byKey = new Map<AgentKey, Agent>();
  readonly #byTokenHash = new Map<string, Agent>();
  readonly #byParent = new Map<AgentKey, Set<Agent>>();
  readonly #orgs = new Map<string, OrgIndex>();
  readonly #uses = new Map<string, AgentBounds>();
  readonly #left = new Map<string, Set<Agent>>();
  readonly #compact = new CompactAgents();
  /** The agents whose use of the gateway is to be written. */
  readonly used = new UsedAgents();
  readonly outOfService = new OutOfService();
  /** What holds agents by their org or team. */
  readonly suspensions = new ScopeSuspensions();
  /** Who acts for whom, within which limits. */
  readonly delegations = new Delegations();
  #newest = 0;
  /** The agent that was found last. The facts of a decision name the same one several times. */
  #found: Agent | undefined;
  /** Other gateways hold the same agents, and list them in the same order: by their names. */
  readonly isShared: boolean;

  constructor(isShared = false) {
    this.isShared = isShared;
  }

  get size(): number {
    return this.#byKey.size;
  }

  find(id: AgentId): Agent | undefined {
    const last = this.#found;
    if (last !== undefined && last.record.id === id) return last;
    const found = this.#byKey.get(agentKey(id));
    if (found !== undefined) this.#found = found;
    return found;
  }

  withKey(key: AgentKey): Agent | undefined {
    return this.#byKey.get(key);
  }

  ownerOf(tokenHash: string): Agent | undefined {
    return this.#byTokenHash.get(tokenHash);
  }

  all(): IterableIterator<Agent> {
    return this.#byKey.values();
  }

  *registered(): Generator<Agent> {
    for (const agent of this.#byKey.values()) if (isRegistered(agent)) yield agent;
  }

  /** The agents that have left and are remembered, of an org or of all. */
  *left(orgId?: string): Generator<Agent> {
    const orgs = orgId === undefined ? this.#left.values() : [this.#left.get(orgId) ?? []];
    for (const agents of orgs) yield* agents;
  }

  /** The orgs that have registered agents. */
  orgs(): ReadonlyMap<string, OrgIndex> {
    return this.#orgs;
  }

  /** What the agents of an org take, those included that have left and are remembered. */
  useOf(orgId: string): AgentBounds {
    return this.#uses.get(orgId) ?? { agents: 0, bytes: 0 };
  }

  inOrg(orgId: string): Iterable<Agent> {
    return this.#orgs.get(orgId)?.agents() ?? [];
  }

  inTeam(orgId: string, teamId: string): Iterable<Agent> {
    return this.#orgs.get(orgId)?.teams.get(teamId) ?? [];
  }

  /** The agents that name this one as their parent. */
  childrenOf(agent: Agent): Iterable<Agent> {
    return this.#byParent.get(agent.key) ?? [];
  }

  parentOf(agent: Agent): Agent | undefined {
    return agent.record.parent === null ? undefined : this.find(agent.record.parent);
  }

  /** Puts a record in place of the one with the same identity, and returns the agent. */
  put(record: AgentRecord, seenAt: EpochMs): Agent {
    const known = this.#byKey.get(agentKey(record.id));
    if (known !== undefined) this.#unindex(known);
    const kept = this.#compact.of(record);
    const agent: MutableAgent = known ?? this.#newcomer(kept, seenAt);
    agent.record = kept;
    agent.bytes = agentBytes(record);
    agent.lastSeenAt = seenAt;
    this.#byKey.set(agent.key, agent);
    this.#index(agent);
    return agent;
  }

  remove(agent: Agent): void {
    this.#unindex(agent);
    this.#byKey.delete(agent.key);
    this.#found = undefined;
    for (const child of this.childrenOf(agent)) this.#refreshLineage(child);
  }

  /** Takes back a removal. */
  reinstate(agent: Agent): void {
    this.#byKey.set(agent.key, agent);
    this.#index(agent);
  }

  /** Refuses a parent that is unknown, in another org, or that would close a circle. */
  checkParent(child: AgentId, parent: AgentId | null, field = 'parent_agent_id'): void {
    if (parent === null) return;
    const found = parent.orgId === child.orgId ? this.find(parent) : undefined;
    if (found === undefined || !isRegistered(found)) {
      throw invalid(field, 'must be an agent registered in the same org');
    }
    const key = agentKey(child);
    for (let above: Agent | undefined = found; above !== undefined; above = this.parentOf(above)) {
      // An agent that has left is not found above, but the agents below still name it.
      const { parent: named } = above.record;
      if (above.key === key || (named !== null && agentKey(named) === key)) {
        throw invalid(field, 'must not be the agent itself or one below it');
      }
    }
    if (found.lineage.depth + 1 + this.#heightUnder(key) > deepestLineage) {
      throw invalid(field, `would make the lineage deeper than ${deepestLineage}`);
    }
  }

  /** How many generations there are below. */
  #heightUnder(key: AgentKey): number {
    let height = 0;
    for (const child of this.#byParent.get(key) ?? []) height = Math.max(height, 1 + this.#heightUnder(child.key));
    return height;
  }

  #newcomer(record: AgentRecord, seenAt: EpochMs): Agent {
    const lineage = lineageUnder(record, undefined);
    const { orgId, teamId, agentId } = record.id;
    return {
      // As a template, it would keep the parts in memory, too.
      key: [orgId, teamId, agentId].join('/') as AgentKey,
      ordinal: ++this.#newest,
      record,
      bytes: 0,
      lineage,
      lastSeenAt: seenAt,
      blocked: false,
      aliveAt: 0,
      silent: false,
      isHere: false,
      coverage: null,
    };
  }

  #index(agent: MutableAgent): void {
    this.#use(agent, 1);
    const { id, tokenHash, tokenLife, parent } = agent.record;
    // Whoever has a token now comes before whoever had it.
    for (const { hash } of tokenLife?.former ?? []) {
      if (!this.#byTokenHash.has(hash)) this.#byTokenHash.set(hash, agent);
    }
    if (tokenHash !== null) this.#byTokenHash.set(tokenHash, agent);
    if (parent !== null) this.#siblingsUnder(parent).add(agent);
    agent.lineage = lineageUnder(agent.record, this.parentOf(agent));
    if (isRegistered(agent)) this.#orgOf(agent).join(agent);
    else this.#left.set(id.orgId, (this.#left.get(id.orgId) ?? new Set<Agent>()).add(agent));
    for (const child of this.childrenOf(agent)) this.#refreshLineage(child);
  }

  #unindex(agent: Agent): void {
    this.#use(agent, -1);
    const { id, tokenHash, tokenLife, parent } = agent.record;
    const left = this.#left.get(id.orgId);
    if (left?.delete(agent) === true && left.size === 0) this.#left.delete(id.orgId);
    // At another gateway, somebody else may have been given the same token first. Then it is theirs.
    const forget = (hash: string) => this.#byTokenHash.get(hash) === agent && this.#byTokenHash.delete(hash);
    for (const { hash } of tokenLife?.former ?? []) forget(hash);
    if (tokenHash !== null) forget(tokenHash);
    if (parent !== null) {
      const siblings = this.#siblingsUnder(parent);
      siblings.delete(agent);
      if (siblings.size === 0) this.#byParent.delete(agentKey(parent));
    }
    const org = this.#orgOf(agent);
    org.leave(agent);
    if (org.isEmpty) this.#orgs.delete(id.orgId);
  }

  #use({ record, bytes }: Agent, sign: 1 | -1): void {
    const { orgId } = record.id;
    const use = this.useOf(orgId);
    const agents = use.agents + sign;
    if (agents === 0) this.#uses.delete(orgId);
    else this.#uses.set(orgId, { agents, bytes: use.bytes + sign * bytes });
  }

  #refreshLineage(agent: MutableAgent): void {
    const org = isRegistered(agent) ? this.#orgOf(agent) : undefined;
    org?.leave(agent);
    agent.lineage = lineageUnder(agent.record, this.parentOf(agent));
    org?.join(agent);
    for (const child of this.childrenOf(agent)) this.#refreshLineage(child);
  }

  #orgOf(agent: Agent): OrgIndex {
    const { orgId } = agent.record.id;
    const known = this.#orgs.get(orgId);
    if (known !== undefined) return known;
    const org = new OrgIndex();
    this.#orgs.set(orgId, org);
    return org;
  }

  #siblingsUnder(parent: AgentId): Set<Agent> {
    const key = agentKey(parent);
    const known = this.#byParent.get(key);
    if (known !== undefined) return known;
    const siblings = new Set<Agent>();
    this.#byParent.set(key, siblings);
    return siblings;
  }
}

/** A deregistered parent is still named, but the lineage above it is no longer known. */
function lineageUnder(record: AgentRecord, parent: Agent | undefined): Lineage {
  const { id } = record;
  return {
    agent_id: id.agentId,
    depth: record.parent === null ? 0 : (parent?.lineage.depth ?? 0) + 1,
    org_id: id.orgId === '' ? null : id.orgId,
    parent_agent_id: record.parent?.agentId ?? null,
    root_agent_id: parent?.lineage.root_agent_id ?? record.parent?.agentId ?? id.agentId,
    team_id: id.teamId,
  };
}
