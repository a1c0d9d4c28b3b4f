import type { ReactNode } from 'react';
import { formatCount } from '../../api/format.ts';
import { classes } from '../../ui/classes.ts';
import { Money } from '../../ui/money.tsx';
import { inkTone } from '../../ui/tone.ts';
import { summaryOf } from './topology-groups.ts';
import type { TopologyAgent } from './topology-model.ts';

interface TopologyStatsProps {
  readonly agents: readonly TopologyAgent[];
  readonly now: number;
}

/** The totals of the agents on the page, in a line. */
export function TopologyStats({ agents, now }: TopologyStatsProps) {
  const { conditions, inFlight, spentUsd } = summaryOf(agents, now);
  const { active, idle, silent, suspended } = conditions;
  const facts: readonly (readonly [string, ReactNode, tone?: 'warn' | 'danger' | false])[] = [
    ['Agents', formatCount(agents.length)],
    ['Active', formatCount(active)],
    ['Idle', formatCount(idle)],
    ['Silent', formatCount(silent), silent > 0 && 'warn'],
    ['Suspended', formatCount(suspended), suspended > 0 && 'danger'],
    ['In flight', formatCount(inFlight)],
    ['Spent today', <Money key="spent" usd={spentUsd} />],
  ];
  return (
    <dl aria-label="Sums" className="flex flex-wrap gap-x-7 gap-y-1">
      {facts.map(([term, value, tone = false]) => (
        <div key={term} className="flex items-baseline gap-1.5">
          <dt className="text-muted">{term}</dt>
          <dd className={classes('font-semibold', tone !== false && inkTone[tone])}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
