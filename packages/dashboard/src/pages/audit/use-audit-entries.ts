import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callRoute } from '../../api/call.ts';
import type { Answer } from '../../api/send.ts';
import { useEvents } from '../../api/use-events.ts';
import type { LogFilter } from './audit-search.ts';

export type AuditEntry = Answer<'listLogs'>['items'][number];

export interface AuditEntries {
  readonly query: UseInfiniteQueryResult<InfiniteData<Answer<'listLogs'>>>;
  readonly entries: readonly AuditEntry[];
  /** Something has happened since the list was read. */
  readonly hasNews: boolean;
  readonly showNews: () => void;
}

const perPage = 100;
const key = 'audit-entries';

/** The log, newest first, page by page. The list does not move while somebody reads. News waits until requested. */
export function useAuditEntries(filter: LogFilter): AuditEntries {
  const client = useQueryClient();
  const [newsSince, setNewsSince] = useState<number>();
  const query = useInfiniteQuery({
    queryKey: [key, filter],
    queryFn: ({ pageParam: cursor, signal }) =>
      callRoute('listLogs', { query: { ...filter, per_page: perPage, ...cursorOf(cursor) } }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    // Refetching pages one by one would shift their boundaries.
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEvents(['ops_change', 'decision', 'approval', 'budget', 'agent', 'audit_alert', 'policy'], (events) => {
    if (filter.to !== undefined) return;
    const newest = Math.max(...events.map(({ timestamp }) => Date.parse(timestamp)));
    setNewsSince((since) => Math.max(since ?? 0, newest));
  });
  const entries = query.data?.pages.flatMap(({ items }) => items) ?? [];
  return {
    query,
    entries,
    hasNews: newsSince !== undefined && newsSince > query.dataUpdatedAt,
    showNews: () => {
      setNewsSince(undefined);
      // Starts at the top, with one page.
      void client.resetQueries({ queryKey: [key, filter] });
    },
  };
}

function cursorOf(cursor: string | null): { readonly cursor?: string } {
  return cursor === null ? {} : { cursor };
}
