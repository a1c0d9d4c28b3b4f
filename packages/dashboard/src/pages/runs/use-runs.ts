import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { callRoute } from '../../api/call.ts';
import type { RunsFilter } from './runs-search.ts';

const perPage = 100;
export const runsKey = 'runs';

/** The runs that are remembered, those that began last first. The list stands still until it is read anew. */
export function useRuns(filter: RunsFilter) {
  const client = useQueryClient();
  const query = useInfiniteQuery({
    queryKey: [runsKey, filter],
    queryFn: ({ pageParam: cursor, signal }) =>
      callRoute(
        'listRuns',
        { query: { ...filter, per_page: perPage, ...(cursor === null ? {} : { cursor }) } },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  return {
    query,
    runs: query.data?.pages.flatMap(({ items }) => items) ?? [],
    total: query.data?.pages.at(-1)?.total,
    // Starts at the top, with one page.
    refresh: () => void client.resetQueries({ queryKey: [runsKey, filter] }),
  };
}

export type Runs = ReturnType<typeof useRuns>;
