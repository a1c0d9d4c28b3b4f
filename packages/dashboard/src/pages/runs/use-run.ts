import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { callRoute } from '../../api/call.ts';
import { useRefreshOn } from '../../api/use-refresh.ts';
import type { RunPlace } from './run.ts';
import { keyOfRun, requestOfRun } from './run.ts';
import { runsKey } from './use-runs.ts';

const perPage = 200;
const key = 'run';

/** One run with its steps, page by page, read anew as agents act. */
export function useRun(place: RunPlace) {
  const client = useQueryClient();
  const { params, query: named } = requestOfRun(place);
  const query = useInfiniteQuery({
    queryKey: [key, keyOfRun(place)],
    queryFn: ({ pageParam: cursor, signal }) => {
      const asked = { ...named, per_page: perPage, ...(cursor === null ? {} : { cursor }) };
      return callRoute('getRun', { params, query: asked }, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ operations }) => operations.next_cursor,
  });
  useRefreshOn(['decision', 'ops_change', 'approval'], [key]);
  const pages = query.data?.pages;
  return {
    query,
    run: pages?.at(-1),
    steps: pages?.flatMap(({ operations }) => operations.items) ?? [],
    /** After a change, which the list shows as well. */
    refresh: () => Promise.all([key, runsKey].map((name) => client.invalidateQueries({ queryKey: [name] }))),
  };
}

export type ReadRun = ReturnType<typeof useRun>;
