import { isOver, pathPart } from '@reeve/contract/names';
import { Link } from '@tanstack/react-router';
import { formatCount } from '../../api/format.ts';
import { useRefreshOn } from '../../api/use-refresh.ts';
import { useRoute } from '../../api/use-route.ts';
import { OpBadge } from '../../ui/badge.tsx';
import { buttonClasses } from '../../ui/button.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Age } from '../../ui/time.tsx';
import type { AgentIds } from './topology-model.ts';

interface AgentOpsProps {
  readonly ids: AgentIds;
  readonly inFlight: number;
}

const shownAtMost = 5;
const listed = 50;

/** The newest operations of an agent, and a link to all of them. */
export function AgentOps({ ids, inFlight }: AgentOpsProps) {
  const { org_id, team_id, agent_id } = ids;
  const ops = useRoute('listOps', { query: { org_id, team_id, agent_id, per_page: listed } });
  useRefreshOn(['ops_change'], ['listOps'], 2000);
  return (
    <Loaded query={ops} what="The operations" lines={2}>
      {({ items }) => {
        const own = items.filter((op) => !isOver(op.state));
        // The list is newer than the count. If the list is incomplete, the count knows more.
        const count = items.length < listed ? own.length : inFlight;
        return (
          <div className="space-y-2">
            {own.length === 0 ? <p className="text-muted">Nothing at the moment.</p> : null}
            <ul className="space-y-1">
              {own.slice(0, shownAtMost).map((op) => (
                <li key={op.op_id} className="flex items-center gap-2">
                  <OpBadge op={op} />
                  <Link
                    to="/ops"
                    search={{ op: op.op_id }}
                    className="min-w-0 flex-1 truncate text-accent hover:underline"
                  >
                    {op.summary === '' ? (op.resource === '' ? op.op_id : op.resource) : op.summary}
                  </Link>
                  <span className="text-sm text-muted">
                    <Age since={op.registered_at} />
                  </span>
                </li>
              ))}
            </ul>
            {count === 0 ? null : (
              <Link
                to="/ops"
                search={{ org_id: pathPart(org_id), team_id: pathPart(team_id), agent_id }}
                className={buttonClasses('plain', 'small')}
              >
                All {formatCount(count)} in Operations
              </Link>
            )}
          </div>
        );
      }}
    </Loaded>
  );
}
