import { useNavigate } from '@tanstack/react-router';
import { plural } from '../../api/format.ts';
import { usePageSearch } from '../../shell/search.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { VirtualTable } from '../../ui/virtual-table.tsx';
import { NoRuns } from './no-runs.tsx';
import type { Run } from './run.ts';
import { keyOfRun } from './run.ts';
import { searchOf } from './run-search.ts';
import { runsCard, runsColumns } from './runs-columns.tsx';
import type { RunsSearch } from './runs-search.ts';
import { filterOf, parseRunsSearch } from './runs-search.ts';
import type { Runs } from './use-runs.ts';
import { useRuns } from './use-runs.ts';

const filters = [
  { name: 'label', label: 'Label' },
  { name: 'org_id', label: 'Org' },
  { name: 'team_id', label: 'Team' },
  { name: 'agent_id', label: 'Agent' },
  { name: 'user', label: 'User', placeholder: 'email or sub' },
  {
    name: 'state',
    label: 'State',
    choices: [
      { value: 'active', label: 'Active' },
      { value: 'held', label: 'Held' },
      { value: 'ended', label: 'Ended' },
    ],
  },
  { name: 'min_cost_usd', label: 'Cost from (USD)' },
  { name: 'max_cost_usd', label: 'Cost to (USD)' },
];

const cleared: RunsSearch = Object.fromEntries(filters.map(({ name }) => [name, undefined]));

/** What agents did, run by run, and the labels that the runs bear. */
export function RunsPage() {
  const [search, change] = usePageSearch(parseRunsSearch);
  const navigate = useNavigate();
  const filter = filterOf(search);
  const list = useRuns(filter);
  return (
    <Page
      title="Runs"
      note="What agents did, and what their runs bear"
      actions={
        <Button icon="refresh" isPending={list.query.isPending} onClick={list.refresh}>
          Refresh
        </Button>
      }
    >
      <FilterBar filters={filters} values={{ ...search }} onChange={change} />
      <Card isFlush>
        <p className="border-b px-4 py-2.5 text-sm text-muted" role="status">
          {list.total === undefined
            ? 'Reading…'
            : `${plural(list.total, 'run')}${list.goesFurtherBack ? ' so far' : ''}, those that began last first`}
        </p>
        <Rows
          list={list}
          isNarrowed={Object.keys(filter).length > 0}
          onOpen={(run) => void navigate({ to: '/runs/run', search: searchOf(run) })}
          onClear={() => change(cleared)}
        />
      </Card>
    </Page>
  );
}

interface RowsProps {
  readonly list: Runs;
  readonly isNarrowed: boolean;
  readonly onOpen: (run: Run) => void;
  readonly onClear: () => void;
}

function Rows({ list: { query, runs, total, goesFurtherBack, refresh }, isNarrowed, onOpen, onClear }: RowsProps) {
  if (query.error !== null && runs.length === 0) {
    return (
      <div className="p-4">
        <ErrorNotice error={query.error} title="The runs could not be read" onRetry={refresh} />
      </div>
    );
  }
  if (query.isPending) return <Skeleton lines={8} label="The runs are being read" />;
  if (runs.length === 0 && !goesFurtherBack) return <NoRuns isNarrowed={isNarrowed} onClear={onClear} />;
  const readOn = () => {
    if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
  };
  return (
    <>
      {runs.length === 0 ? null : (
        <VirtualTable
          label="Runs"
          columns={runsColumns}
          card={runsCard}
          rows={runs}
          rowKey={keyOfRun}
          total={total}
          onOpen={onOpen}
          onEnd={goesFurtherBack ? () => undefined : readOn}
          className="max-h-[max(20rem,calc(100dvh-16rem))]"
        />
      )}
      {goesFurtherBack ? (
        <div className="flex flex-wrap items-center gap-3 border-t px-4 py-2">
          <Button size="small" isPending={query.isFetchingNextPage} onClick={readOn}>
            Look further back
          </Button>
        </div>
      ) : null}
    </>
  );
}
