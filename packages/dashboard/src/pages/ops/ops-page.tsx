import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { formatCount } from '../../api/format.ts';
import { useCan } from '../../api/use-session.ts';
import { useCommand } from '../../shell/commands.ts';
import { usePageSearch } from '../../shell/search.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Page } from '../../ui/page.tsx';
import { ActDialog } from './act-dialog.tsx';
import { BulkProgress } from './bulk-progress.tsx';
import type { ControlAction } from './op.ts';
import { OpDrawer } from './op-drawer.tsx';
import { OpsEmpty } from './ops-empty.tsx';
import { OpsFilters } from './ops-filters.tsx';
import { OpsNotice } from './ops-notice.tsx';
import type { OpsSearch } from './ops-search.ts';
import { parseOpsSearch } from './ops-search.ts';
import { OpsTable } from './ops-table.tsx';
import type { Row } from './row-model.ts';
import { runControls } from './run-controls.ts';
import { clearedFilter, isAnythingSet } from './saved-views.ts';
import { ScopeDialog } from './scope-dialog.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { StateTabs } from './state-tabs.tsx';
import { StillNotice } from './still-notice.tsx';
import { useOpenOp } from './use-open-op.ts';
import { useOpsBoard } from './use-ops-board.ts';
import { useOpsKeys } from './use-ops-keys.ts';
import { useOpsView } from './use-ops-view.ts';
import { useReceipts } from './use-receipts.ts';
import { useSelection } from './use-selection.ts';
import { ViewsDialog } from './views-dialog.tsx';

interface Asking {
  readonly action: ControlAction;
  readonly rows: readonly Row[];
}

/** Live operations: everything in flight, and its controls. */
export function OpsPage() {
  const canControl = useCan('write');
  const [search, change] = usePageSearch(parseOpsSearch);
  const list = useOpsBoard();
  const { board, all, loading, retry } = list;
  const open = useOpenOp(list, search.op);
  const openKey = open.row?.key;
  const { view, counts, freeze, filterKey } = useOpsView(list, search, openKey);
  const chosen = useSelection(all, view.rows);
  const [at, setAt] = useState<string>();
  const [asking, setAsking] = useState<Asking>();
  const [dialog, setDialog] = useState<'views' | 'scope'>();
  const box = useRef<HTMLDivElement>(null);
  const filters = useRef<HTMLDivElement>(null);
  const sight = useRef<readonly Row[]>([]);
  const toTop = () => {
    // In braces, because some browsers return a promise, which an effect must not return.
    box.current?.scrollTo({ top: 0 });
  };
  useEffect(toTop, [filterKey]);
  useReceipts(board, () => [...sight.current.map(({ key }) => key), ...(openKey === undefined ? [] : [openKey])]);

  const run = useCallback(
    ({ action, rows }: Asking, reason: string) =>
      void runControls(
        board,
        rows.map(({ key }) => key),
        action,
        reason,
      ),
    [board],
  );
  /** A pause or resume of one row happens at once, since it loses nothing. Anything else needs a confirmation. */
  const act = useCallback(
    (action: ControlAction, rows: readonly Row[]) => {
      if (action === 'terminate' || rows.length > 1) setAsking({ action, rows });
      else run({ action, rows }, '');
    },
    [run],
  );
  const openRow = useCallback((row: Row) => change({ op: row.key }, { isStep: true }), [change]);
  const sortBy = useCallback((sort: OpsSearch['sort']) => change({ sort }), [change]);
  const see = useCallback((rows: readonly Row[]) => {
    sight.current = rows;
  }, []);
  useOpsKeys({
    rows: view.rows,
    at,
    onAt: setAt,
    box,
    onOpen: openRow,
    onToggle: (row) => chosen.toggle(row, false),
    onAct: act,
    onSearch: () => {
      filters.current?.querySelector('details')?.setAttribute('open', '');
      filters.current?.querySelector('input')?.focus();
    },
    onFreeze: freeze.toggle,
    canControl,
  });
  useCommand('Views of the operations', () => setDialog('views'), { icon: 'filter' });
  useCommand('Freeze the list, or let it move on', freeze.toggle, { icon: 'pause' });

  const { keys: selected, toggle: onToggle, toggleAll: onToggleAll } = chosen;
  const { point: onPoint } = freeze;
  const control = useMemo(
    () => ({ selected, onToggle, onToggleAll, onAct: act, onPoint }),
    [selected, onToggle, onToggleAll, act, onPoint],
  );
  return (
    <Page
      title="Operations"
      note={loading.status === 'loaded' ? `${formatCount(counts.in_flight)} in flight` : undefined}
      actions={
        <>
          <Button
            icon="pause"
            look={freeze.isFrozen ? 'primary' : 'plain'}
            aria-pressed={freeze.isFrozen}
            title="The list stands still while you read; what its rows say stays true (f)"
            onClick={freeze.toggle}
          >
            Freeze
          </Button>
          <Button icon="filter" onClick={() => setDialog('views')}>
            Views
          </Button>
          {canControl ? (
            <Button icon="stop" onClick={() => setDialog('scope')}>
              Control a scope
            </Button>
          ) : null}
        </>
      }
    >
      <OpsFilters search={search} rows={all} onChange={change} boxRef={filters} />
      {search.control === undefined ? null : (
        <BulkProgress controlId={search.control} onClose={() => change({ control: undefined })} />
      )}
      <Card isFlush>
        <div className="flex min-h-11 flex-wrap items-center gap-2 border-b px-2 py-1">
          {chosen.keys.size > 0 && canControl ? (
            <SelectionBar rows={chosen.rows} hidden={chosen.hidden} onAct={act} onClear={chosen.clear} />
          ) : (
            <StateTabs state={search.state} counts={counts} onChange={(state) => change({ state })} />
          )}
          <StillNotice freeze={freeze} fresh={view.fresh} onMove={toTop} />
        </div>
        <OpsNotice loading={loading} onRetry={retry} />
        {view.rows.length === 0 ? (
          <OpsEmpty
            loading={loading}
            isFiltered={isAnythingSet(search) && all.size > 0}
            runId={goneRun(search.run_id, all)}
            onClear={() => change(clearedFilter)}
          />
        ) : (
          <OpsTable
            rows={view.rows}
            sort={search.sort}
            onSort={sortBy}
            onOpen={openRow}
            openKey={openKey}
            at={at}
            onAt={setAt}
            boxRef={box}
            onSight={see}
            control={canControl ? control : undefined}
          />
        )}
      </Card>
      {search.op === undefined ? null : (
        <OpDrawer
          key={search.op}
          asked={search.op}
          open={open}
          onClose={() => change({ op: undefined })}
          onAct={canControl ? (action, rows) => setAsking({ action, rows }) : undefined}
        />
      )}
      {asking === undefined ? null : (
        <ActDialog {...asking} onClose={() => setAsking(undefined)} onConfirm={(reason) => run(asking, reason)} />
      )}
      {dialog !== 'scope' ? null : (
        <ScopeDialog
          rows={all}
          filter={search}
          onClose={() => setDialog(undefined)}
          onDone={(id) => change({ control: id })}
        />
      )}
      <ViewsDialog search={search} isOpen={dialog === 'views'} onClose={() => setDialog(undefined)} />
    </Page>
  );
}

/** The run that is looked for, if nothing of it is there. */
function goneRun(runId: string | undefined, rows: ReadonlyMap<string, Row>): string | undefined {
  return [...rows.values()].some(({ op }) => op.run_id === runId) ? undefined : runId;
}
