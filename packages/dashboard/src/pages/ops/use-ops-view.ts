import { useCallback, useEffect, useMemo } from 'react';
import type { OpsFilter, OpsSearch } from './ops-search.ts';
import { filterOf } from './ops-search.ts';
import type { Counts, View } from './ops-view.ts';
import { countStates, viewOf } from './ops-view.ts';
import type { Freeze } from './use-freeze.ts';
import { useFreeze } from './use-freeze.ts';
import type { OpsList } from './use-ops-board.ts';

export interface OpsView {
  readonly view: View;
  readonly counts: Counts;
  readonly freeze: Freeze;
  /** Changes with the filters and the order. */
  readonly filterKey: string;
}

/** The rows for the URL, frozen or live. */
export function useOpsView({ board, all }: OpsList, search: OpsSearch, openKey: string | undefined): OpsView {
  const filterKey = JSON.stringify(filterOf(search));
  const filter = useMemo(() => JSON.parse(filterKey) as OpsFilter, [filterKey]);
  const listNow = useCallback(() => viewOf(board.rows, filter, undefined).rows.map(({ key }) => key), [board, filter]);
  const freeze = useFreeze(filterKey, listNow);
  const { keys } = freeze;
  const view = useMemo(() => viewOf(all, filter, keys), [all, filter, keys]);
  const counts = useMemo(() => countStates(all.values(), filter), [all, filter]);
  useEffect(() => {
    board.keep([...(keys ?? []), ...(openKey === undefined ? [] : [openKey])]);
    board.prune(Date.now());
  }, [board, keys, openKey]);
  return { view, counts, freeze, filterKey };
}
