import type { Clearing } from './clear-labels-dialog.tsx';
import type { RunDetails } from './run.ts';

/** What can be cleared: the labels of the run, and those of each of its agents. An agent's own run goes with the agent. */
export function clearings({
  org_id,
  team_id,
  run_id,
  agent_id,
  labels,
  agent_labels: ofAgents,
}: RunDetails): readonly Clearing[] {
  const names = labels.map(({ name }) => name);
  const byAgent = new Map<string, Set<string>>();
  if (agent_id !== null && names.length > 0) byAgent.set(agent_id, new Set(names));
  for (const label of ofAgents) byAgent.set(label.agent_id, (byAgent.get(label.agent_id) ?? new Set()).add(label.name));
  const place = { org_id, team_id };
  const ofRun =
    agent_id !== null || names.length === 0
      ? []
      : [{ name: `run ${run_id}`, whose: { ...place, run_id }, labels: names }];
  const ofEach = [...byAgent].map(([agent, borne]) => ({
    name: `agent ${agent}`,
    whose: { ...place, agent_id: agent },
    labels: [...borne],
  }));
  return [...ofRun, ...ofEach];
}
