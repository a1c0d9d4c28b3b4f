import { agentPath } from '@reeve/contract/names';
import { Link } from '@tanstack/react-router';
import type { Run } from './run.ts';

/** The agents of a run, each of which leads to its place in the topology. */
export function RunAgents({ run }: { readonly run: Pick<Run, 'agents' | 'org_id' | 'team_id'> }) {
  return (
    <ul>
      {run.agents.map((agent_id) => {
        const path = agentPath({ ...run, agent_id });
        return (
          <li key={agent_id}>
            <Link
              to="/topology"
              search={{ agent: path }}
              className="break-all text-accent underline underline-offset-2"
            >
              {path}
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
