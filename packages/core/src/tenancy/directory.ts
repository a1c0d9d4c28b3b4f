import { invalid } from '../kernel/errors.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { Agent, AgentRecord, Lineage } from './agent.ts';
import { isRegistered } from './agent.ts';
import type { AgentId, AgentKey } from './agent-id.ts';
import { agentKey } from './agent-id.ts';

const deepestLineage = 64;

/**
 * Every agent, by its triple, by org and by the hash of its token. The directory holds what is true in memory; the
 * use cases beside it write the same facts to the journal.
 */
export class AgentDirectory {
  readonly #byKey = new Map<AgentKey, Agent>();
  readonly #byTokenHash = new Map<string, Agent>();
  readonly #byOrg = new Map<string, Set<Agent>>();
  readonly #byParent = new Map<AgentKey, Set<Agent>>();

  get size(): number {
    return this.#byKey.size;
  }

  find(id: AgentId): Agent | undefined {
    return this.#byKey.get(agentKey(id));
  }

  ownerOf(tokenHash: string): Agent | undefined {
    return this.#byTokenHash.get(tokenHash);
  }

  all(): IterableIterator<Agent> {
    return this.#byKey.values();
  }

  inOrg(orgId: string): Iterable<Agent> {
    return this.#byOrg.get(orgId) ?? [];
  }

  /** The agents that name this one as their parent. */
  childrenOf(agent: Agent): Iterable<Agent> {
    return this.#byParent.get(agent.key) ?? [];
  }

  /** Puts a record in place of what was known of that identity, and returns the agent. */
  put(record: AgentRecord, seenAt: EpochMs): Agent {
    const known = this.#byKey.get(agentKey(record.id));
    if (known !== undefined) this.#unindex(known);
    const agent = known ?? this.#add(record, seenAt);
    agent.record = record;
    agent.lastSeenAt = seenAt;
    this.#index(agent);
    this.#refreshLineage(agent);
    return agent;
  }

  remove(agent: Agent): void {
    this.#unindex(agent);
    this.#byKey.delete(agent.key);
    dropFrom(this.#byOrg, agent.record.id.orgId, agent);
    for (const child of this.childrenOf(agent)) this.#refreshLineage(child);
  }

  /** Takes back a removal. */
  reinstate(agent: Agent): void {
    this.#byKey.set(agent.key, agent);
    addTo(this.#byOrg, agent.record.id.orgId, agent);
    this.#index(agent);
    this.#refreshLineage(agent);
  }

  /** Refuses a parent that is unknown, in another org, or that would close a circle. */
  checkParent(child: AgentId, parent: AgentId | null): void {
    if (parent === null) return;
    const found = parent.orgId === child.orgId ? this.find(parent) : undefined;
    if (found === undefined || !isRegistered(found)) {
      throw invalid('parent_agent_id', 'must be an agent registered in the same org');
    }
    if (found.lineage.depth + 1 > deepestLineage) {
      throw invalid('parent_agent_id', `would make the lineage deeper than ${deepestLineage}`);
    }
    const key = agentKey(child);
    for (let above: Agent | undefined = found; above !== undefined; above = this.#parentOf(above)) {
      if (above.key === key) throw invalid('parent_agent_id', 'must not be the agent itself or one below it');
    }
  }

  #parentOf(agent: Agent): Agent | undefined {
    return agent.record.parent === null ? undefined : this.find(agent.record.parent);
  }

  #add(record: AgentRecord, seenAt: EpochMs): Agent {
    const key = agentKey(record.id);
    const agent: Agent = {
      key,
      record,
      lineage: lineageUnder(record, undefined),
      lastSeenAt: seenAt,
      ops: new Map(),
    };
    this.#byKey.set(key, agent);
    addTo(this.#byOrg, record.id.orgId, agent);
    return agent;
  }

  #index(agent: Agent): void {
    const { tokenHash, parent } = agent.record;
    if (tokenHash !== null) this.#byTokenHash.set(tokenHash, agent);
    if (parent !== null) addTo(this.#byParent, agentKey(parent), agent);
  }

  #unindex(agent: Agent): void {
    const { tokenHash, parent } = agent.record;
    if (tokenHash !== null) this.#byTokenHash.delete(tokenHash);
    if (parent !== null) dropFrom(this.#byParent, agentKey(parent), agent);
  }

  #refreshLineage(agent: Agent): void {
    agent.lineage = lineageUnder(agent.record, this.#parentOf(agent));
    for (const child of this.childrenOf(agent)) this.#refreshLineage(child);
  }
}

function addTo<Key>(index: Map<Key, Set<Agent>>, key: Key, agent: Agent): void {
  const members = index.get(key);
  if (members === undefined) index.set(key, new Set([agent]));
  else members.add(agent);
}

function dropFrom<Key>(index: Map<Key, Set<Agent>>, key: Key, agent: Agent): void {
  const members = index.get(key);
  members?.delete(agent);
  if (members?.size === 0) index.delete(key);
}

/** A parent that has deregistered is still named; the lineage above it is no longer known. */
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
