import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { callRoute } from '../../api/call.ts';
import { formatCount } from '../../api/format.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { CardLink } from './card-link.tsx';
import { Loaded } from '../../ui/loaded.tsx';

export const opCountsKey = 'op-counts';

const states = ['running', 'pending', 'paused', 'completing', 'terminated'] as const;

/** How many operations are in each state. */
export function OpsCard() {
  const counts = useQuery({
    queryKey: [opCountsKey],
    queryFn: ({ signal }) =>
      Promise.all(
        states.map(async (state) => {
          const { total } = await callRoute('listOps', { query: { state, per_page: 1 } }, { signal });
          return { state, total };
        }),
      ),
    refetchInterval: 30_000,
  });
  return (
    <Card title="Operations" actions={<CardLink to="/ops">Live operations</CardLink>}>
      <Loaded query={counts} what="The operations">
        {(rows) => (
          <ul className="space-y-1">
            {rows.map(({ state, total }) => (
              <li key={state}>
                <Link
                  to="/ops"
                  search={{ state }}
                  className="-mx-2 flex min-h-8 items-center justify-between rounded-md px-2 hover:bg-hover"
                >
                  <StateBadge state={state} />
                  <span className="font-semibold">{formatCount(total)}</span>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}
