import { formatCount, plural } from '../../api/format.ts';
import { AgentPath } from '../../ui/agent-path.tsx';
import { StateBadge } from '../../ui/badge.tsx';
import { classes } from '../../ui/classes.ts';
import type { Column } from '../../ui/column.ts';
import { Money } from '../../ui/money.tsx';
import { Time } from '../../ui/time.tsx';
import { agentPath } from '@reeve/contract/names';
import { LabelChips } from './label-chips.tsx';
import type { Run } from './run.ts';
import { nameOfRun } from './run.ts';

export const runsColumns: readonly Column<Run>[] = [
  {
    id: 'run',
    header: 'Run',
    width: 'minmax(9rem, 1.3fr)',
    cell: (run) => (
      <span className="font-medium" title={nameOfRun(run)}>
        {nameOfRun(run)}
      </span>
    ),
  },
  { id: 'state', header: 'State', width: '5.5rem', cell: ({ state }) => <StateBadge state={state} /> },
  {
    id: 'labels',
    header: 'Labels',
    width: 'minmax(8rem, 1.2fr)',
    cell: (run) => <LabelChips names={namesOf(run)} most={2} />,
  },
  { id: 'agents', header: 'Agents', width: 'minmax(10rem, 1fr)', cell: (run) => <Agents run={run} /> },
  { id: 'checks', header: 'Checks', align: 'right', width: '5rem', cell: ({ checks }) => formatCount(checks) },
  { id: 'denied', header: 'Denied', align: 'right', width: '5rem', cell: (run) => <Denied run={run} /> },
  { id: 'cost', header: 'Cost', align: 'right', width: '6rem', cell: ({ cost_usd: cost }) => <Money usd={cost} /> },
  { id: 'last', header: 'Last activity', width: '8rem', cell: ({ last_at: at }) => <Time at={at} /> },
];

function Denied({ run: { denied } }: { readonly run: Run }) {
  return <span className={classes(denied > 0 && 'font-medium text-danger')}>{formatCount(denied)}</span>;
}

/** One of them, and how many others there are. */
function Agents({ run }: { readonly run: Run }) {
  const [first] = run.agents;
  if (first === undefined) return null;
  const others = run.agents.length - 1;
  return (
    <span className="flex min-w-0 items-baseline gap-1.5">
      <span className="min-w-0">
        <AgentPath path={agentPath({ ...run, agent_id: first })} />
      </span>
      {others > 0 ? <span className="shrink-0 text-muted">{`and ${plural(others, 'other')}`}</span> : null}
    </span>
  );
}

/** A run on a phone. */
export const runsCard = {
  height: 92,
  cell: (run: Run) => (
    <div className="min-w-0 space-y-1">
      <div className="flex min-w-0 items-center justify-between gap-2">
        <span className="min-w-0 truncate font-medium">{nameOfRun(run)}</span>
        <StateBadge state={run.state} />
      </div>
      <div className="truncate text-muted">
        {`${plural(run.checks, 'check')}, `}
        <span
          className={classes(run.denied > 0 && 'font-medium text-danger')}
        >{`${formatCount(run.denied)} denied`}</span>
        {', '}
        <Money usd={run.cost_usd} />
        {', '}
        <Time at={run.last_at} />
      </div>
      <LabelChips names={namesOf(run)} most={2} />
    </div>
  ),
};

function namesOf({ labels }: Run): readonly string[] {
  return labels.map(({ name }) => name);
}
