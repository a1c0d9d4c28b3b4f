import type { Agent } from './agent.ts';
import { isRegistered } from './agent.ts';

/** Counts of agents, kept up to date as agents come, change and go. */
export interface Tally {
  agents: number;
  roots: number;
  suspended: number;
  readonly byDepth: Map<number, number>;
}

export function emptyTally(): Tally {
  return { agents: 0, roots: 0, suspended: 0, byDepth: new Map() };
}

export function count(tally: Tally, agent: Agent, by: 1 | -1): void {
  const { depth } = agent.lineage;
  tally.agents += by;
  if (depth === 0) tally.roots += by;
  if (agent.record.suspension !== null) tally.suspended += by;
  const atDepth = (tally.byDepth.get(depth) ?? 0) + by;
  if (atDepth === 0) tally.byDepth.delete(depth);
  else tally.byDepth.set(depth, atDepth);
}

/** The agents of one org, by team, with their counts. Deregistered agents do not count. */
export class OrgIndex {
  readonly tally = emptyTally();
  readonly teams = new Map<string, Set<Agent>>();

  get isEmpty(): boolean {
    return this.tally.agents === 0;
  }

  *agents(): Generator<Agent> {
    for (const team of this.teams.values()) yield* team;
  }

  join(agent: Agent): void {
    if (!isRegistered(agent)) return;
    count(this.tally, agent, 1);
    const { teamId } = agent.record.id;
    const team = this.teams.get(teamId);
    if (team === undefined) this.teams.set(teamId, new Set([agent]));
    else team.add(agent);
  }

  /** Call this before the agent changes: it subtracts what the agent counted for. */
  leave(agent: Agent): void {
    if (!isRegistered(agent)) return;
    count(this.tally, agent, -1);
    const { teamId } = agent.record.id;
    const team = this.teams.get(teamId);
    team?.delete(agent);
    if (team?.size === 0) this.teams.delete(teamId);
  }
}
