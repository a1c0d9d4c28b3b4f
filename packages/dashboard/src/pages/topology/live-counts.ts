import { agentPath, isOver } from '@reeve/contract/names';
import type { ReeveEvent } from '@reeve/contract/events';
import type { Overview, TopologyAgent } from './topology-model.ts';

type OpsChange = Extract<ReeveEvent, { readonly event_type: 'ops_change' }>;
type AgentEvent = Extract<ReeveEvent, { readonly event_type: 'agent' }>;

/** Tracks operations in flight between two answers of the gateway. The answers stay authoritative. */
export class LiveCounts {
  /** Operations seen to begin, and to end. */
  readonly #begun = new Set<string>();
  readonly #ended = new Set<string>();
  #deltas = new Map<string, number>();

  note({ payload: { op } }: OpsChange): void {
    const id = `${agentPath(op.agent)}/${op.op_id}`;
    const isNew = op.registered_at === op.updated_at;
    if (isOver(op.state)) {
      // An operation that was refused at once was never in flight.
      if (!this.#ended.has(id) && (this.#begun.has(id) || !isNew)) this.#add(agentPath(op.agent), -1);
      this.#ended.add(id);
    } else if (isNew && !this.#begun.has(id)) {
      this.#begun.add(id);
      this.#add(agentPath(op.agent), 1);
    }
  }

  /** The gateway has answered. The answer includes everything counted so far. */
  forget(): void {
    this.#begun.clear();
    this.#ended.clear();
    this.#deltas.clear();
  }

  /** The changes since the last call, by agent. */
  take(): ReadonlyMap<string, number> {
    const deltas = this.#deltas;
    this.#deltas = new Map();
    return deltas;
  }

  #add(path: string, change: 1 | -1): void {
    const sum = (this.#deltas.get(path) ?? 0) + change;
    if (sum === 0) this.#deltas.delete(path);
    else this.#deltas.set(path, sum);
  }
}

/** The overview with updated numbers in flight. Untouched agents stay the same objects. */
export function withCounts(overview: Overview, deltas: ReadonlyMap<string, number>): Overview {
  if (deltas.size === 0) return overview;
  return withAgents(overview, (agent) => {
    const delta = deltas.get(agentPath(agent));
    return delta === undefined ? agent : { ...agent, in_flight: Math.max(0, agent.in_flight + delta) };
  });
}

/**
 * The overview after an agent was suspended, resumed or removed. A new agent needs a request, and so
 * does one that was resumed: its org may be suspended, too.
 */
export function withAgentEvent(overview: Overview, event: AgentEvent): Overview {
  const { change } = event.payload;
  if (change === 'registered') return overview;
  const path = agentPath({ org_id: event.org_id ?? '', team_id: event.team_id ?? '', agent_id: event.agent_id ?? '' });
  return withAgents(overview, (agent) => {
    if (agentPath(agent) !== path) return agent;
    if (change === 'deregistered') return [];
    const isSuspended = change === 'suspended';
    return {
      ...agent,
      status: isSuspended ? 'suspended' : 'active',
      suspended_by: isSuspended ? 'agent' : null,
    };
  });
}

/** The overview with an agent that has just registered, or registered again. */
export function withAgent(overview: Overview, agent: TopologyAgent): Overview {
  const path = agentPath(agent);
  return { ...overview, agents: [...overview.agents.filter((each) => agentPath(each) !== path), agent] };
}

function withAgents(
  overview: Overview,
  change: (agent: TopologyAgent) => TopologyAgent | readonly TopologyAgent[],
): Overview {
  return { ...overview, agents: overview.agents.flatMap(change) };
}
