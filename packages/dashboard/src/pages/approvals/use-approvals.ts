import { useQuery, useQueryClient } from '@tanstack/react-query';
import { callRoute } from '../../api/call.ts';
import { useEvents } from '../../api/use-events.ts';
import type { Approval } from './approval-queue.ts';
import { isOpenWho, withApproval } from './approval-queue.ts';

const perPage = 500;

/** All open approvals, kept up to date by events. */
export function useOpenApprovals(orgId: string | undefined) {
  const client = useQueryClient();
  const filter = orgId === undefined ? {} : { org_id: orgId };
  const key = ['open-approvals', filter];
  const query = useQuery({
    queryKey: key,
    queryFn: async ({ signal }): Promise<readonly Approval[]> => {
      const found: Approval[] = [];
      for (let cursor: string | undefined; ; ) {
        const paging = { per_page: perPage, ...(cursor === undefined ? {} : { cursor }) };
        const page = await callRoute('listApprovals', { query: { ...filter, ...paging } }, { signal });
        found.push(...page.items);
        if (page.next_cursor === null) return found;
        cursor = page.next_cursor;
      }
    },
  });
  useEvents(['approval'], (events) => {
    client.setQueryData<readonly Approval[]>(key, (before) =>
      before === undefined
        ? undefined
        : events
            .map(({ payload }) => payload.approval)
            .filter(({ agent }) => orgId === undefined || agent.org_id === orgId)
            .reduce(withApproval, before),
    );
    const known = client.getQueryData<readonly Approval[]>(key) ?? [];
    if (known.some(isOpenWho)) void client.invalidateQueries({ queryKey: key });
    void client.invalidateQueries({ queryKey: ['decided-approvals'] });
    void client.invalidateQueries({ queryKey: ['listGrants'] });
  });
  return query;
}
