import { Link } from '@tanstack/react-router';
import { useRoute } from '../../api/use-route.ts';
import { AgentName } from '../../ui/agent-name.tsx';
import { Card } from '../../ui/card.tsx';
import { CardLink } from './card-link.tsx';
import { Money } from '../../ui/money.tsx';
import { Countdown } from '../../ui/time.tsx';
import { Loaded } from '../../ui/loaded.tsx';

const shown = 5;

/** Approvals that wait for a person, the next to expire at the top. */
export function ApprovalsCard() {
  const approvals = useRoute('listApprovals', { query: { per_page: shown } }, { refetchInterval: 30_000 });
  return (
    <Card title="Approvals waiting" actions={<CardLink to="/approvals">All approvals</CardLink>} isFlush>
      <Loaded query={approvals} what="The approvals">
        {({ items, total }) =>
          items.length === 0 ? (
            <p className="p-4 text-muted">Nobody waits for an approval.</p>
          ) : (
            <>
              <ul>
                {items.map((approval) => (
                  <li key={approval.id} className="border-t first:border-t-0">
                    <Link
                      to="/approvals"
                      search={{ id: approval.id }}
                      className="flex items-start justify-between gap-3 px-4 py-2 -outline-offset-2 hover:bg-hover"
                    >
                      <span className="min-w-0">
                        <span className="block font-medium break-all">{approval.title}</span>
                        {approval.summary === '' ? null : (
                          <span className="block text-sm wrap-anywhere text-muted">{approval.summary}</span>
                        )}
                        <span className="block text-sm text-muted">
                          <AgentName agent={approval.agent} />
                        </span>
                      </span>
                      <span className="shrink-0 text-right text-sm">
                        <span className="block text-warn">
                          <Countdown to={approval.expires_at} over="expired" />
                        </span>
                        <span className="block text-muted">
                          <Money usd={approval.cost_usd} />
                        </span>
                      </span>
                    </Link>
                  </li>
                ))}
              </ul>
              {total > items.length ? (
                <p className="border-t px-4 py-2 text-sm text-muted">and {total - items.length} more</p>
              ) : null}
            </>
          )
        }
      </Loaded>
    </Card>
  );
}
