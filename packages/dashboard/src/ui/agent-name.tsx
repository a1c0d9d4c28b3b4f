interface AgentNameProps {
  readonly agent: { readonly org_id: string; readonly team_id: string; readonly agent_id: string };
  /** Only the last part, if org and team have columns of their own. */
  readonly isShort?: boolean;
}

/** An agent by its three tiers. People go by the last one. */
export function AgentName({ agent, isShort = false }: AgentNameProps) {
  const parts = [agent.org_id, agent.team_id].map((part) => (part === '' ? '-' : part));
  return (
    <span title={[...parts, agent.agent_id].join('/')} className="wrap-anywhere">
      {isShort ? null : (
        <span className="text-muted">
          {parts[0]}/<wbr />
          {parts[1]}/<wbr />
        </span>
      )}
      {agent.agent_id}
    </span>
  );
}
