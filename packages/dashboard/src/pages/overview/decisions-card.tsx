import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatCount } from '../../api/format.ts';
import { useRoute } from '../../api/use-route.ts';
import { Card } from '../../ui/card.tsx';
import { CardLink } from './card-link.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Stat } from '../../ui/stat.tsx';
import { DecisionChart } from './decision-chart.tsx';
import { sumOf, totalOf } from './decision-chart-model.ts';
import { Loaded } from '../../ui/loaded.tsx';

/** Decisions per minute by outcome. */
export function DecisionsCard() {
  const stats = useRoute('decisionStats', {}, { refetchInterval: 30_000, keepPrevious: true });
  return (
    <Card title="Decisions in the last hour" actions={<CardLink to="/audit">Audit log</CardLink>}>
      <Loaded query={stats} what="The decisions">
        {({ minutes, since }) => {
          const sum = sumOf(minutes);
          if (totalOf(sum) === 0) {
            return (
              <EmptyState title="No agent has asked yet" icon="ops" command="reeve demo">
                Each check of an agent shows here within seconds. To see it at work, start the demo:
              </EmptyState>
            );
          }
          return (
            <div className="space-y-4">
              <div className="grid grid-cols-3 gap-4">
                <Stat
                  label={<Outcome to="allow">Allowed</Outcome>}
                  value={formatCount(sum.allow)}
                  {...(sum.allow > 0 ? { tone: 'ok' as const } : {})}
                />
                <Stat
                  label={
                    <Outcome to="pending">
                      Held<span className="max-sm:hidden"> for approval</span>
                    </Outcome>
                  }
                  value={formatCount(sum.pending)}
                  {...(sum.pending > 0 ? { tone: 'warn' as const } : {})}
                />
                <Stat
                  label={<Outcome to="deny">Denied</Outcome>}
                  value={formatCount(sum.deny)}
                  {...(sum.deny > 0 ? { tone: 'danger' as const } : {})}
                />
              </div>
              <DecisionChart minutes={minutes} since={since} />
            </div>
          );
        }}
      </Loaded>
    </Card>
  );
}

function Outcome({ to, children }: { readonly to: 'allow' | 'deny' | 'pending'; readonly children: ReactNode }) {
  return (
    <Link to="/audit" search={{ decision: to }} className="underline-offset-2 hover:underline">
      {children}
    </Link>
  );
}
