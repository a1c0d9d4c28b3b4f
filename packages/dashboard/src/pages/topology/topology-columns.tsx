import { agentPath, pathPart } from '@reeve/contract/names';
import { entranceName, entranceTitle } from '../../api/entrance-name.ts';
import { formatCount, formatUtc } from '../../api/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column, ColumnOrder } from '../../ui/column.ts';
import { Money } from '../../ui/money.tsx';
import { Time } from '../../ui/time.tsx';
import { ConditionBadge } from './condition-badge.tsx';
import { coverageWords } from './coverage-words.ts';
import type { SortColumn, TopologyAgent } from './topology-model.ts';
import { conditionOf, teamPath } from './topology-model.ts';
import type { Sort } from './topology-search.ts';

interface ColumnOptions {
  readonly isWide: boolean;
  readonly now: number;
  readonly by: SortColumn;
  readonly isDescending: boolean;
  readonly onSort: (sort: Sort) => void;
  /** Undefined if the person may not. */
  readonly onSuspension: ((agent: TopologyAgent) => void) | undefined;
}

/** A column that the table can be sorted by. */
type Sortable = (
  id: SortColumn,
  header: string,
  align?: 'left' | 'right',
) => Pick<Column<TopologyAgent>, 'id' | 'header' | 'order' | 'align'>;

/** The columns of the agent table. On a phone the two remaining ones show the rest in a second line. */
export function topologyColumns(options: ColumnOptions): Column<TopologyAgent>[] {
  const { by, isDescending, onSort, onSuspension } = options;
  const sortable: Sortable = (id, header, align = 'left') => {
    const now = by !== id ? undefined : isDescending ? 'descending' : 'ascending';
    const onOrder: ColumnOrder['onOrder'] = (picked = now === 'ascending' ? 'descending' : 'ascending') =>
      onSort(picked === 'descending' ? `-${id}` : id);
    return { id, header, order: { now, onOrder }, align };
  };
  const columns = [...whoColumns(sortable, options), ...figureColumns(sortable)];
  return onSuspension === undefined ? columns : [...columns, controlColumn(onSuspension)];
}

/** Who an agent is, and how it is. */
function whoColumns(sortable: Sortable, { isWide, now }: ColumnOptions): Column<TopologyAgent>[] {
  return [
    {
      ...sortable('agent', 'Agent'),
      width: 'minmax(8rem, 2fr)',
      cell: (agent) => (
        <TwoLines
          first={agent.agent_id}
          second={isWide ? [agent.name, agent.framework].filter(Boolean).join(', ') : teamPath(agent)}
          title={agentPath(agent)}
        />
      ),
    },
    {
      ...sortable('team', 'Team'),
      width: 'minmax(7rem, 1.3fr)',
      isWideOnly: true,
      cell: (agent) => (
        <TwoLines first={pathPart(agent.team_id)} second={pathPart(agent.org_id)} title={teamPath(agent)} />
      ),
    },
    {
      ...sortable('status', 'Status'),
      width: isWide ? '6.5rem' : '8.5rem',
      cell: (agent) => (
        <>
          <ConditionBadge condition={conditionOf(agent, now)} />
          {isWide ? null : (
            <div className="mt-0.5 truncate text-xs text-muted">
              {agent.uncovered.length === 0 ? (
                `${formatCount(agent.in_flight)} in flight`
              ) : (
                <CoverageChips uncovered={agent.uncovered} />
              )}
            </div>
          )}
        </>
      ),
    },
    {
      id: 'doors',
      header: 'Doors',
      width: '8.25rem',
      isWideOnly: true,
      cell: (agent) => <Doors agent={agent} />,
    },
    {
      id: 'parent',
      header: 'Parent',
      width: 'minmax(4rem, 1fr)',
      isWideOnly: true,
      cell: ({ parent }) =>
        parent === null ? (
          <span className="text-muted">none</span>
        ) : (
          <span title={agentPath(parent)}>{parent.agent_id}</span>
        ),
    },
  ];
}

/** What an agent does and spends. */
function figureColumns(sortable: Sortable): Column<TopologyAgent>[] {
  return [
    {
      ...sortable('in_flight', 'In flight', 'right'),
      width: '5.5rem',
      isWideOnly: true,
      cell: (agent) => formatCount(agent.in_flight),
    },
    {
      ...sortable('spent', 'Spent today', 'right'),
      width: '7.5rem',
      isWideOnly: true,
      cell: (agent) => <Money usd={agent.spent_today_usd} />,
    },
    {
      ...sortable('last_seen', 'Last seen', 'right'),
      width: '6.25rem',
      isWideOnly: true,
      cell: (agent) => <Time at={agent.last_seen_at} />,
    },
  ];
}

function controlColumn(onSuspension: (agent: TopologyAgent) => void): Column<TopologyAgent> {
  return {
    id: 'control',
    header: <span className="sr-only">Control</span>,
    width: '6rem',
    align: 'right',
    isWideOnly: true,
    cell: (agent) => <SuspensionButton agent={agent} onClick={() => onSuspension(agent)} />,
  };
}

function Doors({ agent: { doors, uncovered } }: { readonly agent: TopologyAgent }) {
  return (
    <div className="leading-snug">
      <div className="truncate">
        {doors.length === 0 ? <span className="text-muted">none yet</span> : null}
        {doors.map(({ door, last_used_at: at }) => (
          <span key={door} title={`${entranceTitle(door)}; last used ${formatUtc(new Date(at))}`} className="mr-1">
            {entranceName(door)}
          </span>
        ))}
      </div>
      <CoverageChips uncovered={uncovered} />
    </div>
  );
}

interface TwoLinesProps {
  readonly first: string;
  readonly second: string;
  readonly title: string;
}

function TwoLines({ first, second, title }: TwoLinesProps) {
  return (
    <div className="leading-snug" title={title}>
      <div className="truncate font-medium">{first}</div>
      {second === '' ? null : <div className="truncate text-xs text-muted">{second}</div>}
    </div>
  );
}

interface SuspensionButtonProps {
  readonly agent: TopologyAgent;
  readonly onClick: () => void;
}

function SuspensionButton({ agent, onClick }: SuspensionButtonProps) {
  const verb = agent.status === 'suspended' ? 'Resume' : 'Suspend';
  return (
    <Button
      size="small"
      aria-label={`${verb} ${agentPath(agent)}`}
      onClick={(event) => {
        // The surrounding row opens the drawer.
        event.stopPropagation();
        onClick();
      }}
    >
      {verb}
    </Button>
  );
}

/** Says what an agent never asked about. */
function CoverageChips({ uncovered }: Pick<TopologyAgent, 'uncovered'>) {
  return uncovered.map((family) => {
    const { label, explanation, tone } = coverageWords(family);
    return (
      <Badge key={family} tone={tone} title={explanation}>
        {label}
      </Badge>
    );
  });
}
