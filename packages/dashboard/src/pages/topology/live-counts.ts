import { agentPath, isOver } from '@reeve/contract/names';
import type { ReeveEvent } from '@reeve/contract/events';
import type { Overview, TopologyAgent } from './topology-model.ts';

type OpsChange = Extract<ReeveEvent, { readonly event_type: 'ops_change' }>;
type AgentEvent = Extract<ReeveEvent, { readonly event_type: 'agent' }>;

/** Follows what is in flight between two answers of the gateway, which stay what counts. */
export class LiveCounts {
  /** Operations that were seen to begin, and to end. */
  readonly #begun = new Set<string>();
  readonly #ended = new Set<string>();
  #deltas = new Map<string, number>();

  note({ payload: { op } }: OpsChange): void {
    const id = `${agentPath(op.agent)}/${op.op_id}`;
    const isNew = op.registered_at === op.updated_at;
    if (isOver(op.state)) {
      // One that was refused at once was never in flight.
      if (!this.#ended.has(id) && (this.#begun.has(id) || !isNew)) this.#add(agentPath(op.agent), -1);
      this.#ended.add(id);
    } else if (isNew && !this.#begun.has(id)) {
      this.#begun.add(id);
      this.#add(agentPath(op.agent), 1);
    }
  }

  /** The gateway has said what is so: whatever was counted up to now is in it. */
  forget(): void {
    this.#begun.clear();
    this.#ended.clear();
    this.#deltas.clear();
  }

  /** What has changed since it was last asked, by agent. */
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

/** The overview with other numbers in flight. Agents that are not touched stay the same objects. */
export function withCounts(overview: Overview, deltas: ReadonlyMap<string, number>): Overview {
  if (deltas.size === 0) return overview;
  return withAgents(overview, (agent) => {
    const delta = deltas.get(agentPath(agent));
    return delta === undefined ? agent : { ...agent, in_flight: Math.max(0, agent.in_flight + delta) };
  });
}

/** The overview after an agent was suspended, resumed or has left. Whoever is new has to be asked for. */
export function withAgentEvent(overview: Overview, event: AgentEvent): Overview {
  const { change } = event.payload;
  if (change === 'registered') return overview;
  const path = agentPath({ org_id: event.org_id ?? '', team_id: event.team_id ?? '', agent_id: event.agent_id ?? '' });
  return withAgents(overview, (agent) => {
    if (agentPath(agent) !== path) return agent;
    return change === 'deregistered' ? [] : { ...agent, status: change === 'suspended' ? 'suspended' : 'active' };
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
