import { agentPath } from '@reeve/contract/names';
import { useIsWide } from '../../ui/use-is-wide.ts';
import { VirtualTable } from '../../ui/virtual-table.tsx';
import { topologyColumns } from './topology-columns.tsx';
import type { SortColumn, TopologyAgent } from './topology-model.ts';
import { sortAgents } from './topology-model.ts';
import type { Sort } from './topology-search.ts';

interface TopologyTableProps {
  readonly agents: readonly TopologyAgent[];
  readonly now: number;
  readonly sort: Sort | undefined;
  readonly onSort: (sort: Sort) => void;
  readonly activePath: string | undefined;
  readonly onOpen: (path: string) => void;
  /** Undefined if the person may not. */
  readonly onSuspension: ((agent: TopologyAgent) => void) | undefined;
}

/** The agents of the graph, line by line. */
export function TopologyTable({
  agents,
  now,
  sort = 'team',
  onSort,
  activePath,
  onOpen,
  onSuspension,
}: TopologyTableProps) {
  const isWide = useIsWide();
  const by = sort.replace(/^-/, '') as SortColumn;
  const isDescending = sort.startsWith('-');
  return (
    <VirtualTable
      label="Agents"
      columns={topologyColumns({ isWide, now, by, isDescending, onSort, onSuspension })}
      rows={sortAgents(agents, by, isDescending, now)}
      rowKey={agentPath}
      rowHeight={isWide ? 46 : 58}
      onOpen={(agent) => onOpen(agentPath(agent))}
      activeKey={activePath}
      className="max-h-[max(20rem,calc(100dvh-16rem))]"
    />
  );
}
