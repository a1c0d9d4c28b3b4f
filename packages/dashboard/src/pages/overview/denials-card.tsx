import { Link } from '@tanstack/react-router';
import { formatCount } from '../../api/format.ts';
import { useRoute } from '../../api/use-route.ts';
import { Card } from '../../ui/card.tsx';
import { CardLink } from './card-link.tsx';
import { Time } from '../../ui/time.tsx';
import { Loaded } from '../../ui/loaded.tsx';

/** The rules that denied most in the last hour, each with the last reason given to an agent. */
export function DenialsCard() {
  const stats = useRoute('decisionStats', {}, { refetchInterval: 30_000, keepPrevious: true });
  return (
    <Card
      title="Top denials in the last hour"
      actions={
        <CardLink to="/audit" search={{ decision: 'deny' }}>
          All denials
        </CardLink>
      }
      isFlush
    >
      <Loaded query={stats} what="The denials">
        {({ top_denials: denials }) =>
          denials.length === 0 ? (
            <p className="p-4 text-muted">Nothing was denied in the last hour.</p>
          ) : (
            <ol>
              {denials.map(({ policy_rule: rule, reason, count, last_at: at }) => (
                <li
                  key={rule}
                  className="grid grid-cols-[minmax(1.5rem,auto)_minmax(0,1fr)_auto] gap-x-3 border-t px-4 py-2 first:border-t-0"
                >
                  <span className="text-right font-semibold">{formatCount(count)}</span>
                  <span className="min-w-0">
                    <Link
                      to="/audit"
                      search={{ decision: 'deny', q: rule }}
                      className="font-medium break-all text-accent hover:underline"
                    >
                      {rule}
                    </Link>
                    <span className="line-clamp-2 text-sm break-words text-muted" title={reason}>
                      {reason}
                    </span>
                  </span>
                  <span className="text-sm text-muted">
                    <Time at={at} />
                  </span>
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
    </Card>
  );
}
