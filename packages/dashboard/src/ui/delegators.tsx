import { agentPath } from '@reeve/contract/names';
import { Link } from '@tanstack/react-router';

interface DelegatorsProps {
  /** The delegate. Its delegators are of the same org and team. */
  readonly agent: { readonly org_id: string; readonly team_id: string };
  /** Their ids, nearest first. */
  readonly delegators: readonly string[];
}

/** On whose behalf an agent acts, agent by agent. */
export function Delegators({ agent: { org_id, team_id }, delegators }: DelegatorsProps) {
  return delegators.map((agent_id, place) => (
    <span key={agent_id}>
      {place === 0 ? null : ', for '}
      <Link
        to="/topology"
        search={{ agent: agentPath({ org_id, team_id, agent_id }) }}
        className="break-all text-accent underline underline-offset-2"
      >
        {agent_id}
      </Link>
    </span>
  ));
}
