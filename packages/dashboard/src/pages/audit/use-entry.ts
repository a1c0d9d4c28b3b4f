import { useQuery } from '@tanstack/react-query';
import { callRoute } from '../../api/call.ts';
import type { AuditEntry } from './use-audit-entries.ts';

/** The entry that a link names: from the list, or looked up if the list does not have it yet. */
export function useEntry(seq: string | undefined, listed: readonly AuditEntry[]): AuditEntry | undefined {
  const found = listed.find((entry) => String(entry.seq) === seq);
  const { data } = useQuery({
    queryKey: ['audit-entry', seq],
    queryFn: async ({ signal }) => {
      const { items } = await callRoute('listLogs', { query: { seq: Number(seq) } }, { signal });
      return items[0] ?? null;
    },
    enabled: seq !== undefined && found === undefined && /^\d+$/.test(seq),
  });
  return found ?? data ?? undefined;
}
