import { agentPath } from '@reeve/contract/names';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatCount } from '../../api/format.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import type { Column } from '../../ui/column.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { Time } from '../../ui/time.tsx';
import type { Backtest, BacktestChange, BacktestResult } from './read-backtest.ts';

interface Turn {
  readonly was: string;
  readonly would_be: string;
}

function turned({ was, would_be: next }: Turn): ReactNode {
  return (
    <span className="flex items-center gap-1.5 whitespace-nowrap">
      <StateBadge state={was} />
      <span aria-hidden="true">→</span>
      <span className="sr-only">would be</span>
      <StateBadge state={next} />
    </span>
  );
}

type ByRule = BacktestResult['by_rule'][number];
type ByAgent = BacktestResult['by_agent'][number];

const count = { id: 'count', header: 'Decisions', align: 'right' as const };

const ruleColumns: readonly Column<ByRule>[] = [
  { id: 'rule', header: 'By rule', cell: ({ rule }) => <code className="break-all">{rule}</code> },
  { id: 'turn', header: 'Change', cell: turned },
  { ...count, cell: (row) => formatCount(row.count), sortBy: (row) => row.count },
];

const agentColumns: readonly Column<ByAgent>[] = [
  {
    id: 'agent',
    header: 'By agent',
    cell: ({ org_id: org, team_id: team, agent_id: agent }) => (
      <span className="break-all">{agentPath({ org_id: org, team_id: team, agent_id: agent })}</span>
    ),
  },
  { id: 'turn', header: 'Change', cell: turned },
  { ...count, cell: (row) => formatCount(row.count), sortBy: (row) => row.count },
];

const changeColumns: readonly Column<BacktestChange>[] = [
  { id: 'at', header: 'When', cell: ({ at }) => <Time at={at} form="clock" /> },
  {
    id: 'what',
    header: 'What',
    cell: ({ action_type: type, resource, seq }) => (
      <Link to="/audit" search={{ seq: String(seq) }} className="break-all text-accent underline underline-offset-2">
        {resource === '' ? type : `${type}: ${resource}`}
      </Link>
    ),
  },
  { id: 'agent', header: 'Agent', isWideOnly: true, cell: ({ agent_id: agent }) => agent },
  { id: 'turn', header: 'Change', cell: turned },
  {
    id: 'rule',
    header: 'By rule',
    isWideOnly: true,
    cell: ({ would_be_rule: rule }) => <code className="break-all">{rule}</code>,
  },
];

/** The changes: by rule, by agent, and one by one. */
export function BacktestTables({ backtest: { result, changes } }: { readonly backtest: Backtest }) {
  const key = ({ was, would_be: next }: Turn) => `${was} ${next}`;
  return (
    <>
      <div className="grid grid-cols-1 gap-4 xl:grid-cols-2">
        <Card isFlush>
          <DataTable
            caption="Changes by rule"
            columns={ruleColumns}
            rows={result.by_rule}
            rowKey={(row) => `${row.rule} ${key(row)}`}
          />
        </Card>
        <Card isFlush>
          <DataTable
            caption="Changes by agent"
            columns={agentColumns}
            rows={result.by_agent}
            rowKey={(row) => `${row.org_id}/${row.team_id}/${row.agent_id} ${key(row)}`}
          />
        </Card>
      </div>
      <Card
        title={`The ${changes.length === result.changed ? '' : 'first '}${formatCount(changes.length)}, one by one`}
        isFlush
      >
        <DataTable
          caption="Changed decisions"
          columns={changeColumns}
          rows={changes}
          rowKey={({ seq }) => String(seq)}
        />
      </Card>
    </>
  );
}
