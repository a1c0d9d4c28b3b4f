import type { PersonJson } from '@reeve/contract/people';
import { addPeople } from '@reeve/contract/people';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { callRoute } from '../../api/call.ts';
import type { Answer } from '../../api/send.ts';
import type { PeopleFilter } from './people-search.ts';
import { queryOf } from './people-search.ts';

export interface People {
  readonly query: UseInfiniteQueryResult<InfiniteData<Answer<'listPeople'>>>;
  readonly people: readonly PersonJson[];
  /** How far back entries were counted. Null: to the beginning. */
  readonly since: string | null;
  readonly refresh: () => void;
}

const perPage = 100;
const key = 'people';

/** For whom agents acted, who was seen last first. The list stands still until it is read anew. */
export function usePeople(filter: PeopleFilter): People {
  const client = useQueryClient();
  const query = useInfiniteQuery({
    queryKey: [key, filter],
    queryFn: ({ pageParam: cursor, signal }) => {
      const asked = { ...queryOf(filter, Date.now()), per_page: perPage, ...(cursor === null ? {} : { cursor }) };
      return callRoute('listPeople', { query: asked }, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const pages = query.data?.pages;
  const people = useMemo(
    () => (pages ?? []).reduce<readonly PersonJson[]>((known, { items }) => addPeople(known, items), []),
    [pages],
  );
  return {
    query,
    people,
    since: pages?.at(-1)?.since ?? null,
    refresh: () => void client.resetQueries({ queryKey: [key, filter] }),
  };
}
