import { agentPath } from '@reeve/contract/names';
import { useRoute } from '../../api/use-route.ts';
import { Icon } from '../../ui/icon.tsx';
import { Loaded } from '../../ui/loaded.tsx';

interface AgentLineageProps {
  readonly params: { readonly org: string; readonly team: string; readonly agent: string };
  readonly path: string;
  readonly onOpen: (path: string) => void;
}

/** The ancestors of the agent, the root first. */
export function AgentLineage({ params, path, onOpen }: AgentLineageProps) {
  const lineage = useRoute('topologyLineage', { params });
  return (
    <Loaded query={lineage} what="The lineage" lines={2}>
      {({ items }) => {
        const [first] = items;
        const gone = first?.parent ?? null;
        return (
          <ol className="space-y-0.5">
            {gone === null ? null : (
              <li className="text-muted">{agentPath(gone)} (has left, or belongs to another tenant)</li>
            )}
            {items.map((agent, index) => (
              <li key={agentPath(agent)} className="flex items-center gap-1" style={{ paddingLeft: `${index}rem` }}>
                {index === 0 ? null : <Icon name="right" className="text-muted" />}
                {agentPath(agent) === path ? (
                  <span aria-current="true" className="font-medium">
                    {agent.agent_id}
                  </span>
                ) : (
                  <button
                    type="button"
                    title={agentPath(agent)}
                    className="min-h-6 break-all text-accent hover:underline"
                    onClick={() => onOpen(agentPath(agent))}
                  >
                    {agent.agent_id}
                  </button>
                )}
                {agent.status === 'suspended' ? <span className="text-sm text-danger">suspended</span> : null}
              </li>
            ))}
          </ol>
        );
      }}
    </Loaded>
  );
}
