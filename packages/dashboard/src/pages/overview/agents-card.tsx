import { Link } from '@tanstack/react-router';
import { formatCount, plural } from '../../api/format.ts';
import { useRoute } from '../../api/use-route.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { CardLink } from './card-link.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Loaded } from '../../ui/loaded.tsx';

export function AgentsCard() {
  const stats = useRoute('topologyStats', {}, { refetchInterval: 30_000 });
  return (
    <Card
      title="Agents"
      actions={
        <>
          <CardLink to="/connect">Connect an agent</CardLink>
          <CardLink to="/topology">Topology</CardLink>
        </>
      }
    >
      <Loaded query={stats} what="The agents">
        {({ agents, orgs, teams, by_status: byStatus }) =>
          agents === 0 ? (
            <EmptyState
              title="No agent is registered"
              icon="topology"
              command="reeve keys create my-agents --scope write"
            >
              Agents register with an API key that has the scope write. Make one:
            </EmptyState>
          ) : (
            <div className="space-y-2">
              <ul className="space-y-1">
                {Object.entries(byStatus).map(([status, count]) => (
                  <li key={status}>
                    <Link
                      to="/topology"
                      search={{ status: status === 'suspended' ? 'suspended' : 'active' }}
                      className="-mx-2 flex min-h-8 items-center justify-between rounded-md px-2 hover:bg-hover"
                    >
                      <StateBadge state={status} />
                      <span className="font-semibold">{formatCount(count)}</span>
                    </Link>
                  </li>
                ))}
              </ul>
              <p className="text-sm text-muted">
                in {plural(teams, 'team')} of {plural(orgs, 'org')}
              </p>
            </div>
          )
        }
      </Loaded>
    </Card>
  );
}
