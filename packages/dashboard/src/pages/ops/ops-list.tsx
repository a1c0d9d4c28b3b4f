import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Card } from '../../ui/card.tsx';
import { OpsEmpty } from './ops-empty.tsx';
import { OpsNotice } from './ops-notice.tsx';
import type { OpsSearch } from './ops-search.ts';
import { OpsTable } from './ops-table.tsx';
import type { Act } from './row-actions.tsx';
import type { Row } from './row-model.ts';
import { clearedFilter, isAnythingSet } from './saved-views.ts';
import { SelectionBar } from './selection-bar.tsx';
import { StateTabs } from './state-tabs.tsx';
import { StillNotice } from './still-notice.tsx';
import type { OpsList as Ops } from './use-ops-board.ts';
import { useOpsKeys } from './use-ops-keys.ts';
import type { OpsView } from './use-ops-view.ts';
import { useReceipts } from './use-receipts.ts';
import { useSelection } from './use-selection.ts';

interface OpsListProps {
  readonly ops: Ops;
  readonly shown: OpsView;
  readonly search: OpsSearch;
  readonly onChange: (change: Partial<OpsSearch>, how?: { readonly isStep?: boolean }) => void;
  /** The row whose details are open. */
  readonly openKey: string | undefined;
  readonly onAct: Act;
  readonly onSearch: () => void;
  readonly canControl: boolean;
}

/** The list of operations, with its selection and its keys. */
export function OpsList({ ops, shown, search, onChange, openKey, onAct, onSearch, canControl }: OpsListProps) {
  const { board, all, loading, retry } = ops;
  const { view, counts, freeze, filterKey } = shown;
  const chosen = useSelection(all, view.rows);
  const [at, setAt] = useState<string>();
  const box = useRef<HTMLDivElement>(null);
  const sight = useRef<readonly Row[]>([]);
  const toTop = () => {
    // In braces, because some browsers return a promise, which an effect must not return.
    box.current?.scrollTo({ top: 0 });
  };
  useEffect(toTop, [filterKey]);
  useReceipts(board, () => [...sight.current.map(({ key }) => key), ...(openKey === undefined ? [] : [openKey])]);

  const openRow = useCallback((row: Row) => onChange({ op: row.key }, { isStep: true }), [onChange]);
  const sortBy = useCallback((sort: OpsSearch['sort']) => onChange({ sort }), [onChange]);
  const see = useCallback((rows: readonly Row[]) => {
    sight.current = rows;
  }, []);
  const { keys: selected, toggle: onToggle, toggleAll: onToggleAll } = chosen;
  const position = { rows: view.rows, at, onAt: setAt, onOpen: openRow };
  const toggleRow = (row: Row) => onToggle(row, false);
  useOpsKeys({ ...position, box, onToggle: toggleRow, onAct, onSearch, onFreeze: freeze.toggle, canControl });
  const { point: onPoint } = freeze;
  const control = useMemo(
    () => ({ selected, onToggle, onToggleAll, onAct, onPoint }),
    [selected, onToggle, onToggleAll, onAct, onPoint],
  );
  return (
    <Card isFlush>
      <div className="flex min-h-11 flex-wrap items-center gap-2 border-b px-2 py-1">
        {selected.size > 0 && canControl ? (
          <SelectionBar rows={chosen.rows} hidden={chosen.hidden} onAct={onAct} onClear={chosen.clear} />
        ) : (
          <StateTabs state={search.state} counts={counts} onChange={(state) => onChange({ state })} />
        )}
        <StillNotice freeze={freeze} fresh={view.fresh} onMove={toTop} />
      </div>
      <OpsNotice loading={loading} onRetry={retry} />
      {view.rows.length === 0 ? (
        <OpsEmpty
          loading={loading}
          isFiltered={isAnythingSet(search) && all.size > 0}
          runId={goneRun(search.run_id, all)}
          onClear={() => onChange(clearedFilter)}
        />
      ) : (
        <OpsTable
          {...position}
          sort={search.sort}
          onSort={sortBy}
          openKey={openKey}
          boxRef={box}
          onSight={see}
          control={canControl ? control : undefined}
        />
      )}
    </Card>
  );
}

/** The run that is looked for, if nothing of it is there. */
function goneRun(runId: string | undefined, rows: ReadonlyMap<string, Row>): string | undefined {
  return [...rows.values()].some(({ op }) => op.run_id === runId) ? undefined : runId;
}
