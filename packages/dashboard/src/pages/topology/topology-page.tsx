import { agentPath, idOfPart } from '@reeve/contract/names';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useMemo, useState } from 'react';
import { formatCount } from '../../api/format.ts';
import { useCan } from '../../api/use-session.ts';
import { usePageSearch } from '../../shell/search.ts';
import { Button, buttonClasses } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { useNow } from '../../ui/now.ts';
import { Page } from '../../ui/page.tsx';
import { Segments } from '../../ui/segments.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useIsWide } from '../../ui/use-is-wide.ts';
import { sayScope } from '../ops/control-scope.ts';
import { HoldDialog } from '../ops/hold-dialog.tsx';
import { AgentDrawer } from './agent-drawer.tsx';
import type { HeldScope } from './graph-context.ts';
import { SuspensionDialog } from './suspension-dialog.tsx';
import { topologyFilters } from './topology-filters.ts';
import { groupAgents } from './topology-groups.ts';
import type { Overview, TopologyAgent } from './topology-model.ts';
import { filterAgents } from './topology-model.ts';
import { nothingOpen, parseTopologySearch } from './topology-search.ts';
import { TopologyStats } from './topology-stats.tsx';
import { TopologyTable } from './topology-table.tsx';
import { useOpenKeys } from './use-open-keys.ts';
import { useTopology } from './use-topology.ts';

const TopologyGraph = lazy(async () => ({ default: (await import('./topology-graph.tsx')).TopologyGraph }));

const views = [
  { value: 'graph', label: 'Graph' },
  { value: 'table', label: 'Table' },
] as const;

export function TopologyPage() {
  const overview = useTopology();
  const isWide = useIsWide();
  const [search, change] = usePageSearch(parseTopologySearch);
  const view = search.view ?? (isWide ? 'graph' : 'table');
  return (
    <Page
      title="Topology"
      actions={
        <>
          <Segments label="View" value={view} choices={views} onChange={(next) => change({ view: next })} />
          <Link to="/connect" className={buttonClasses()}>
            Connect an agent
          </Link>
        </>
      }
    >
      <Loaded query={overview} what="The topology" lines={8}>
        {(data) => <Topology overview={data} view={view} />}
      </Loaded>
    </Page>
  );
}

interface TopologyProps {
  readonly overview: Overview;
  readonly view: 'graph' | 'table';
}

function Topology({ overview, view }: TopologyProps) {
  const [search, change] = usePageSearch(parseTopologySearch);
  const now = useNow(10_000);
  const mayWrite = useCan('write');
  const isAdmin = useCan('admin');
  const [holding, setHolding] = useState<HeldScope>();
  const [suspending, setSuspending] = useState<TopologyAgent>();
  const { org_id: org, team_id: team, status, uncovered, q } = search;
  const agents = useMemo(
    () => filterAgents(overview.agents, { org, team, status, uncovered, q }, now),
    [overview.agents, org, team, status, uncovered, q, now],
  );
  const orgs = useMemo(() => groupAgents(agents, now), [agents, now]);
  const isNarrowed = [org, team, status, uncovered, q].some((each) => each !== undefined);
  const viewKey = JSON.stringify([org, team, status, uncovered, q]);
  const open = useOpenKeys(orgs, search.open, isNarrowed, viewKey);
  const find = (path: string | undefined) => overview.agents.find((agent) => agentPath(agent) === path);
  const openAgent = (path: string) => change({ agent: path }, { isStep: true });
  const actions = {
    now,
    activePath: search.agent,
    onOpen: openAgent,
    onSuspension: mayWrite ? setSuspending : undefined,
  };
  // A whole org takes an admin, a team who may write.
  const holdOf = useCallback(
    (scope: HeldScope) => ((scope.team_id === undefined ? isAdmin : mayWrite) ? () => setHolding(scope) : undefined),
    [isAdmin, mayWrite],
  );
  return (
    <>
      <TopologyStats agents={agents} now={now} />
      {/* A filter shows its results, so the former open groups are dropped. */}
      <FilterBar
        filters={topologyFilters(overview.agents, org)}
        values={{ ...search }}
        onChange={(changed) => change({ ...changed, open: undefined })}
      >
        <span role="status" className="text-sm text-muted">
          {isNarrowed ? `${formatCount(agents.length)} of ${formatCount(overview.agents.length)} agents` : ''}
        </span>
        <HoldChosen org={org} team={team} holdOf={holdOf} />
      </FilterBar>
      <Card isFlush>
        {agents.length === 0 ? (
          <NoAgents isNarrowed={isNarrowed} onClear={() => change({ ...noFilters, open: undefined })} />
        ) : view === 'table' ? (
          <TopologyTable {...actions} agents={agents} sort={search.sort} onSort={(sort) => change({ sort })} />
        ) : (
          <div className="flex h-[max(24rem,calc(100dvh-16rem))] flex-col">
            <Suspense fallback={<Skeleton lines={8} label="Loading the graph" />}>
              <TopologyGraph
                {...actions}
                holdOf={holdOf}
                orgs={orgs}
                open={open}
                onOpenKeys={(keys) => change({ open: keys.size === 0 ? [nothingOpen] : [...keys] })}
                viewKey={viewKey}
              />
            </Suspense>
          </div>
        )}
      </Card>
      <AgentDrawer
        path={search.agent}
        live={find(search.agent)}
        onClose={() => change({ agent: undefined })}
        onOpen={openAgent}
        onSuspension={setSuspending}
      />
      {/* The agent as of the question, so that a second operator cannot reverse its meaning. */}
      <SuspensionDialog agent={suspending} onClose={() => setSuspending(undefined)} />
      {holding === undefined ? null : (
        <HoldDialog scope={holding} action="pause" onClose={() => setHolding(undefined)} />
      )}
    </>
  );
}

const noFilters = {
  org_id: undefined,
  team_id: undefined,
  status: undefined,
  uncovered: undefined,
  q: undefined,
} as const;

interface HoldChosenProps {
  readonly org: string | undefined;
  readonly team: string | undefined;
  readonly holdOf: (scope: HeldScope) => (() => void) | undefined;
}

/** Holds the org or team that the filters name. */
function HoldChosen({ org, team, holdOf }: HoldChosenProps) {
  if (org === undefined) return null;
  const chosen = { org_id: idOfPart(org), ...(team === undefined ? {} : { team_id: idOfPart(team) }) };
  const hold = holdOf(chosen);
  return hold === undefined ? null : (
    <Button size="small" icon="pause" onClick={hold}>
      Hold {sayScope(chosen, null)}
    </Button>
  );
}

function NoAgents({ isNarrowed, onClear }: { readonly isNarrowed: boolean; readonly onClear: () => void }) {
  return isNarrowed ? (
    <EmptyState
      icon="search"
      title="No agent fits these filters"
      actions={<Button onClick={onClear}>Clear filters</Button>}
    />
  ) : (
    <EmptyState
      icon="topology"
      title="No agents yet"
      command="reeve keys create my-agents --scope write"
      actions={
        <Link to="/connect" className={buttonClasses('primary')}>
          Connect an agent
        </Link>
      }
    >
      Agents appear here when they register. Those that register by themselves need a key with the scope “write”:
    </EmptyState>
  );
}
