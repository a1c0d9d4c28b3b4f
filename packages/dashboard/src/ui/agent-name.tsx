interface AgentNameProps {
  readonly agent: { readonly org_id: string; readonly team_id: string; readonly agent_id: string };
  /** Only the last part, if org and team have columns of their own. */
  readonly isShort?: boolean;
}

/** An agent by its three tiers. People go by the last one. */
export function AgentName({ agent, isShort = false }: AgentNameProps) {
  const full = [agent.org_id, agent.team_id, agent.agent_id].map((part) => (part === '' ? '-' : part)).join('/');
  return (
    <span title={full} className="break-all">
      {isShort ? null : <span className="text-muted">{full.slice(0, -agent.agent_id.length)}</span>}
      {agent.agent_id}
    </span>
  );
}
