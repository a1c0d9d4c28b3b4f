import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { callRoute } from '../../api/call.ts';
import { keyOfRun } from './run.ts';
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
  const pages = query.data?.pages;
  // A run of a user may come again on a page that looks at older entries of the log.
  const runs = [...new Map(pages?.flatMap(({ items }) => items.map((run) => [keyOfRun(run), run]))).values()];
  const total = pages && Math.max(pages.at(-1)?.total ?? 0, runs.length);
  return {
    query,
    runs,
    total,
    /** Whether all runs that were found are read, and older entries of the log may tell of more. */
    goesFurtherBack: query.hasNextPage && runs.length === total,
    // Starts at the top, with one page.
    refresh: () => void client.resetQueries({ queryKey: [runsKey, filter] }),
  };
}

export type Runs = ReturnType<typeof useRuns>;
